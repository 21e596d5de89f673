"""The training loop: updates, validations, checkpoints, and stopping well."""

import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from accelerate.utils import set_seed
from tqdm import tqdm

from course_lib.corpora.corpus import Corpus
from course_lib.errors import CourseError
from course_lib.files import remove_leftovers
from course_lib.models import EncoderDecoder, build_model
from course_lib.training.averaging import Average
from course_lib.training.checkpoint import load_state, save_state
from course_lib.training.estimate import estimate
from course_lib.training.group import anywhere, gather, make_accelerator
from course_lib.training.interrupt import deferred_interrupt
from course_lib.training.memory import keep_freed_memory
from course_lib.training.minibatches import encode_pairs, make_minibatches
from course_lib.training.progress import Progress
from course_lib.training.randomness import generators_state
from course_lib.training.recipe import make_optimiser
from course_lib.training.resume import restore, resumable
from course_lib.training.run_config import RunConfig
from course_lib.training.run_directory import (
    CONFIG,
    LAST,
    PREVIOUS,
    check_same_run,
    make_vocabularies,
    start_run,
    write_metrics,
)
from course_lib.training.update import Updater
from course_lib.training.validation import validate


def train(
    config: RunConfig,
    corpus: Corpus,
    out: Path | str,
    resume: bool = False,
    quiet: bool = False,
    watch: Callable[[EncoderDecoder], None] | None = None,
) -> Progress:
    """Train one run into the directory `out` and return how it went.

    The best weights by validation loss end in model.safetensors; where the recipe averages, it is
    the averaged ones that are validated. With `resume` a stopped or killed run goes on from its
    last checkpoint to the numbers it would have reached undisturbed; a finished one is left as it
    is. Ctrl-C writes a checkpoint, then raises KeyboardInterrupt. `watch` is called with the
    validated model after each validation. Before it starts it says how long it will take, which
    takes a few seconds to measure; a `quiet` one says and measures nothing.

    Raises:
        CourseError: `out` holds another run, or the loss is no longer a number.
    """
    out = Path(out)
    if out.exists() and not out.is_dir():
        raise CourseError(f"{out} is a file. Choose another --out.")
    recipe = config.recipe
    keep_freed_memory()
    accelerator = make_accelerator(recipe.precision)
    main = accelerator.is_main_process
    words = make_vocabularies(config, corpus)
    model_config = config.model_config(*map(len, words))
    started_before = gather(accelerator, (out / CONFIG).exists())[0]
    if started_before:
        if not resume:
            raise CourseError(
                f"{out} already holds a run. Continue it with --resume, or choose another --out."
            )
        check_same_run(out, config, model_config, corpus)

    set_seed(config.seed, device_specific=True)  # each process drops units of its own
    model = build_model(model_config, config.seed).to(accelerator.device)
    optimiser = make_optimiser(model.parameters(), recipe)
    average = Average(model, recipe.averaging) if recipe.averaging else None
    minibatches = make_minibatches(config, corpus, words)
    rank, scaler = accelerator.process_index, accelerator.scaler

    def load(path: Path) -> dict[str, Any]:
        return load_state(path, model, optimiser, rank, scaler, average)

    progress = restore(out, load, main)
    if progress.finished:
        return progress
    progress.parts = max(progress.parts, recipe.accumulation)
    total_steps = recipe.epochs * minibatches.per_epoch
    said: float | None = None
    if not quiet:
        val = encode_pairs(corpus.splits["val"], words)
        forecast = estimate(accelerator, model, minibatches, recipe, progress, val)
        said = forecast.seconds
        if main:
            print(f"{config.model} on {corpus.name} {corpus.pair}: {forecast}.", flush=True)

    if main:
        with resumable(out):
            if started_before:
                write_metrics(out, progress.metrics)
            else:
                processes = accelerator.num_processes
                start_run(out, config, model_config, corpus, list(words), said, processes)
            remove_leftovers(out)
    # Without DistributedDataParallel: see Updater.
    trainer = accelerator.prepare_model(model, evaluation_mode=True)
    optimiser = accelerator.prepare_optimizer(optimiser)
    update = Updater(accelerator, trainer, optimiser, recipe, total_steps)
    started = time.monotonic() - progress.seconds

    def checkpoint() -> None:
        progress.seconds = time.monotonic() - started
        generators = gather(accelerator, generators_state())
        if main:
            scales = None if scaler is None else scaler.state_dict()
            state = vars(progress), generators, scales, average
            save_state(out / LAST, model, optimiser, *state, out / PREVIOUS)

    with (
        resumable(out),
        tqdm(
            total=total_steps, initial=progress.step, unit="batch", disable=quiet or not main
        ) as bar,
        deferred_interrupt() as stop_asked,
    ):
        while progress.epoch < recipe.epochs and progress.since_best < recipe.patience:
            for minibatch in minibatches.epoch(progress.epoch, progress.batch):
                update(minibatch, progress)
                if average is not None:
                    average.update(model, progress.step)
                bar.update()
                stop = anywhere(accelerator, stop_asked())
                if progress.step % recipe.checkpoint_steps == 0 or stop:
                    checkpoint()
                if stop:
                    raise KeyboardInterrupt
            progress.seconds = time.monotonic() - started
            with average.in_place(model) if average is not None else nullcontext():
                validate(accelerator, model, corpus.splits["val"], words, out, progress)
                if main and watch is not None:
                    watch(model)
            bar.set_postfix(val_loss=f"{progress.metrics[-1]['val_loss']:.3f}")
            progress.next_epoch()
            checkpoint()
            if main:
                write_metrics(out, progress.metrics)
            if anywhere(accelerator, stop_asked()):
                raise KeyboardInterrupt
        progress.finished = True
        checkpoint()
        if main:
            (out / PREVIOUS).unlink(missing_ok=True)
    return progress
