"""The training loop: updates, validations, checkpoints, and stopping well."""

import math
import os
import sys
import time
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import TypeVar, cast

import torch
from accelerate.utils import gather_object, set_seed
from filelock import FileLock, Timeout
from tqdm import tqdm

from course_lib.allocator import keep_freed_memory
from course_lib.corpora.corpus import Corpus
from course_lib.errors import CourseError
from course_lib.files import remove_unfinished
from course_lib.models import ModelConfig, RNNsearch, build_model
from course_lib.training.averaging import moving_average
from course_lib.training.checkpoint import generators_state, load_state, save_state
from course_lib.training.estimate import estimate
from course_lib.training.interrupt import deferred_interrupt
from course_lib.training.minibatches import encode_pairs, left_out, make_minibatches
from course_lib.training.processes import all_answer, anywhere, make_accelerator
from course_lib.training.progress import Progress
from course_lib.training.recipe import make_optimiser
from course_lib.training.run_config import RunConfig
from course_lib.training.run_directory import (
    CONFIG,
    LAST,
    LOCK,
    PREVIOUS,
    RESULT,
    known_at_start,
    read_metrics,
    read_words,
    resumable,
    start_run,
    started_with,
    write_metrics,
)
from course_lib.training.same_run import check_same_run
from course_lib.training.update import Updater
from course_lib.training.validation import validate
from course_lib.training.vocabularies import make_vocabularies
from course_lib.training.warm_start import load_initial

T = TypeVar("T")

Build = Callable[[ModelConfig, int], RNNsearch]


def train(
    config: RunConfig,
    corpus: Corpus,
    out: Path | str,
    resume: bool = False,
    quiet: bool = False,
    watch: Callable[[RNNsearch], None] | None = None,
    build: Build = build_model,
) -> Progress:
    """Train one run into the directory `out` and return how it went.

    The best weights by validation loss end in model.safetensors; where the recipe averages, it is
    the averaged ones that are validated. With `resume` a stopped or killed run goes on from its
    last checkpoint to the numbers it would have reached undisturbed; a finished one is left as it
    is. Ctrl-C writes a checkpoint, then raises KeyboardInterrupt. `watch` is called with the
    validated model after each validation. Before it starts it says how long it will take, which
    takes a few seconds to measure; a `quiet` one says and measures nothing. `build` makes the
    model of the configuration and a seed.

    Raises:
        CourseError: `out` holds another run, or the loss is no longer a number.
    """
    out = Path(out)
    if out.exists() and not out.is_dir():
        raise CourseError(f"{out} is a file. Choose another --out.")
    keep_freed_memory()
    training = Training(config, corpus, out, resume, build)
    if not training.progress.finished:
        try:
            with all_answer(training.accelerator):
                training.open_directory(None if quiet else training.announce())
                training.run(quiet, watch)
        finally:
            training.lock.release()
    return training.progress


class Training:
    """One run while it is trained: the model, what moves its weights, and where it stands."""

    def __init__(
        self, config: RunConfig, corpus: Corpus, out: Path, resume: bool, build: Build
    ) -> None:
        """Everything as at the beginning or, where the run was stopped, as it was then.

        Raises:
            CourseError: `out` holds another run, or one that is not to be resumed.
        """
        self.corpus, self.out = corpus, out
        self.lock = FileLock(out / LOCK)
        self.accelerator = make_accelerator()
        self.is_main = self.accelerator.is_main_process
        self.started_before = self._from_everybody((out / CONFIG).exists())[0]
        start = load_initial(config, corpus) if config.init_from else None
        if self.started_before and resume:
            self.words = read_words(out)
        else:
            self.words = start.words if start else make_vocabularies(config, corpus)
        self.model_config = config.model_config(*map(len, self.words))
        if self.started_before:
            if not resume:
                raise CourseError(
                    f"{out} already holds a run. Continue it with --resume, or choose another "
                    "--out."
                )
            check_same_run(out, config, self.model_config, corpus)
            config = replace(config, precision=started_with(out)["precision"])
            if (threads := known_at_start(out)["threads"]) and "OMP_NUM_THREADS" not in os.environ:
                torch.set_num_threads(threads)  # others round otherwise

        self.config, self.recipe = config, config.recipe
        set_seed(config.seed, device_specific=True)  # each process drops units of its own
        self.model = build(self.model_config, config.seed).to(self.accelerator.device)
        if start:
            self.model.load_state_dict(start.model.state_dict())
        self.optimiser = make_optimiser(self.model.parameters(), self.recipe)
        averaging = self.recipe.averaging
        self.average = moving_average(self.model, averaging) if averaging else None
        self.minibatches = make_minibatches(config, corpus, self.words)
        self.total_steps = self.recipe.epochs * self.minibatches.per_epoch
        self.progress = self._restore()
        self.started = time.monotonic() - self.progress.seconds

    def _from_everybody(self, value: T) -> list[T]:
        """One value from each process, in the order of their numbers."""
        return gather_object([value]) if self.accelerator.num_processes > 1 else [value]

    def _restore(self) -> Progress:
        """Put everything back as the latest state that is whole says; a new Progress without one.

        Raises:
            CourseError: there are states, and none of them can be used.
        """
        rank = self.accelerator.process_index
        states = [path for path in (self.out / LAST, self.out / PREVIOUS) if path.exists()]
        for path in states:
            try:
                state = load_state(path, self.model, self.optimiser, rank, self.average)
                known = {f.name for f in fields(Progress)}  # earlier ones had more
                progress = Progress(**{name: state[name] for name in known & state.keys()})
            except (CourseError, KeyError, TypeError, ValueError):
                continue
            if self.is_main and path != states[0]:
                print(
                    f"{states[0]} cannot be used: it is damaged, or another model's. Going on from "
                    f"the state before it, at update {progress.step}; nothing but time is lost.",
                    file=sys.stderr,
                )
            return progress
        if states:
            names = " and ".join(path.name for path in states)
            raise CourseError(
                f"{self.out}: {names} cannot be used: damaged, or another model's. Restore a copy, "
                "or delete what is there of them and --resume trains from the beginning."
            )
        if (self.out / RESULT).exists():  # finished, and handed on without its states
            return Progress(finished=True, metrics=read_metrics(self.out))
        return Progress()

    def announce(self) -> float:
        """Measure how long the training will take, say so, and return the seconds."""
        pairs = encode_pairs(self.corpus.splits["val"], self.words)
        forecast = estimate(
            self.accelerator, self.model, self.minibatches, self.recipe, self.progress, pairs
        )
        if self.is_main:
            name = f"{self.config.model} on {self.corpus.name} {self.corpus.pair}"
            for line in left_out(self.config, self.corpus, self.words):
                print(f"{self.corpus.name}: {line}.", file=sys.stderr)
            print(f"{name}: {forecast}.", file=sys.stderr, flush=True)
            # The presets have six times their warm-up on the texts that they are meant for.
            if self.total_steps < 3 * self.recipe.warmup:
                epochs = math.ceil(6 * self.recipe.warmup / self.minibatches.per_epoch)
                print(
                    f"Only {self.total_steps} updates, with a warm-up of {self.recipe.warmup}. "
                    f"Read the text more often: --set epochs={epochs}.",
                    file=sys.stderr,
                )
        return forecast.seconds

    def open_directory(self, seconds: float | None) -> None:
        """Make the run directory ready; `seconds` is what the training was said to take."""
        if not self.is_main:
            return
        with resumable(self.out):
            self.out.mkdir(parents=True, exist_ok=True)
            try:
                self.lock.acquire(blocking=False)
            except Timeout:
                raise CourseError(
                    f"{self.out} is in use by another training. Wait for it, or choose another "
                    "--out."
                ) from None
            if (self.out / CONFIG).exists() and not self.started_before:
                raise CourseError(f"{self.out} already holds a run. Choose another --out.")
            if self.started_before:
                write_metrics(self.out, self.progress.metrics)
            else:
                start_run(
                    self.out,
                    self.config,
                    self.model_config,
                    self.corpus,
                    list(self.words),
                    seconds,
                    self.accelerator.num_processes,
                )
            remove_unfinished(self.out)

    def run(self, quiet: bool, watch: Callable[[RNNsearch], None] | None) -> None:
        """Train from where the run stands to its end.

        Raises:
            KeyboardInterrupt: Ctrl-C was heard, and a checkpoint is written.
            CourseError: the loss is no longer a number, or a file cannot be written.
        """
        progress, recipe = self.progress, self.recipe
        trainer, optimiser = self.accelerator.prepare(self.model, self.optimiser)
        update = Updater(self.accelerator, trainer, optimiser, recipe, self.total_steps)
        self.started = time.monotonic() - progress.seconds
        silent = quiet or not self.is_main
        with (
            resumable(self.out),
            tqdm(
                total=self.total_steps, initial=progress.step, unit="batch", disable=silent
            ) as bar,
            deferred_interrupt() as stop_asked,
        ):
            while progress.epoch < recipe.epochs and progress.since_best < recipe.patience:
                self._train_epoch(update, bar, stop_asked)
                self._validate(watch)
                bar.set_postfix(val_loss=f"{progress.metrics[-1]['val_loss']:.3f}")
                progress.next_epoch()
                self._checkpoint()
                if self.is_main:
                    write_metrics(self.out, progress.metrics)
                if anywhere(self.accelerator, stop_asked()):
                    raise KeyboardInterrupt
            progress.finished = True
            self._checkpoint()
            if self.is_main:
                (self.out / PREVIOUS).unlink(missing_ok=True)

    def _train_epoch(self, update: Updater, bar: tqdm, stop_asked: Callable[[], bool]) -> None:
        """The updates that this epoch still has."""
        progress = self.progress
        for minibatch in self.minibatches.epoch(progress.epoch, progress.batch):
            update(minibatch, progress)
            if self.average is not None:
                self.average.update_parameters(self.model)
            bar.update()
            stop = anywhere(self.accelerator, stop_asked())
            if progress.step % self.recipe.checkpoint_steps == 0 or stop:
                self._checkpoint()
            if stop:
                raise KeyboardInterrupt

    def _validate(self, watch: Callable[[RNNsearch], None] | None) -> None:
        """Score the weights, or where the recipe averages the averaged ones."""
        self.progress.seconds = time.monotonic() - self.started
        model = self.model
        if self.average is not None:
            model = cast(RNNsearch, self.average.module)
        split = self.corpus.splits["val"]
        validate(self.accelerator, model, split, self.words, self.out, self.progress)
        if self.is_main and watch is not None:
            watch(model)

    def _checkpoint(self) -> None:
        """Write the state; the one before it stays until this one is whole."""
        self.progress.seconds = time.monotonic() - self.started
        generators = self._from_everybody(generators_state())
        if self.is_main:
            state = vars(self.progress), generators, self.average
            save_state(self.out / LAST, self.model, self.optimiser, *state, self.out / PREVIOUS)
