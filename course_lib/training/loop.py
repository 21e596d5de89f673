"""The training loop: updates, validations, checkpoints, and stopping well."""

import time
from collections.abc import Callable
from pathlib import Path

from accelerate.utils import set_seed
from tqdm import tqdm

from course_lib.corpora.corpus import Corpus
from course_lib.errors import CourseError
from course_lib.files import remove_leftovers
from course_lib.models import EncoderDecoder, build_model
from course_lib.training.checkpoint import load_state, save_state
from course_lib.training.estimate import estimate
from course_lib.training.interrupt import deferred_interrupt
from course_lib.training.memory import keep_freed_memory
from course_lib.training.minibatches import make_minibatches
from course_lib.training.progress import Progress
from course_lib.training.recipe import make_optimiser
from course_lib.training.run_config import RunConfig
from course_lib.training.run_directory import (
    CONFIG,
    LAST,
    check_same_run,
    make_vocabularies,
    start_run,
    write_metrics,
)
from course_lib.training.update import Updater, make_accelerator
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

    The best weights by validation loss end in model.safetensors. With `resume` a stopped or killed
    run goes on from its last checkpoint to the numbers it would have reached undisturbed; a
    finished one is left as it is. Ctrl-C writes a checkpoint, then raises KeyboardInterrupt.
    `watch` is called with the model after each validation.

    Raises:
        CourseError: `out` holds another run, or the loss is no longer a number.
    """
    out = Path(out)
    if out.exists() and not out.is_dir():
        raise CourseError(f"{out} is a file. Choose another --out.")
    recipe = config.recipe
    keep_freed_memory()
    accelerator = make_accelerator(recipe.precision)
    words = make_vocabularies(config, corpus)
    model_config = config.model_config(*map(len, words))
    started_before = (out / CONFIG).exists()
    if started_before:
        if not resume:
            raise CourseError(
                f"{out} already holds a run. Continue it with --resume, or choose another --out."
            )
        check_same_run(out, config, model_config, corpus)

    set_seed(config.seed)
    model = build_model(model_config, config.seed).to(accelerator.device)
    optimiser = make_optimiser(model.parameters(), recipe)
    minibatches = make_minibatches(config, corpus, words)
    progress = Progress()
    if (out / LAST).exists():
        progress = Progress(**load_state(out / LAST, model, optimiser))
        write_metrics(out, progress.metrics)
    if progress.finished:
        return progress
    total_steps = recipe.epochs * minibatches.per_epoch
    if not quiet:
        forecast = estimate(accelerator, model, minibatches, recipe, progress.step)
        print(f"{config.model} on {corpus.name} {corpus.pair}: {forecast}.", flush=True)

    if not started_before:
        start_run(out, config, model_config, corpus, list(words))
    remove_leftovers(out)
    trainer, optimiser = accelerator.prepare(model, optimiser)
    update = Updater(accelerator, trainer, optimiser, recipe, total_steps)
    started = time.monotonic() - progress.seconds

    def checkpoint() -> None:
        progress.seconds = time.monotonic() - started
        save_state(out / LAST, model, optimiser, vars(progress))

    with (
        tqdm(total=total_steps, initial=progress.step, unit="batch", disable=quiet) as bar,
        deferred_interrupt() as stop_asked,
    ):
        while progress.epoch < recipe.epochs and progress.since_best < recipe.patience:
            for minibatch in minibatches.epoch(progress.epoch, progress.batch):
                update(minibatch, progress)
                bar.update()
                if progress.step % recipe.checkpoint_steps == 0 or stop_asked():
                    checkpoint()
                if stop_asked():
                    raise KeyboardInterrupt
            progress.seconds = time.monotonic() - started
            validate(model, corpus.splits["val"], words, out, progress)
            if watch is not None:
                watch(model)
            bar.set_postfix(val_loss=f"{progress.metrics[-1]['val_loss']:.3f}")
            progress.next_epoch()
            checkpoint()
            write_metrics(out, progress.metrics)
            if stop_asked():
                raise KeyboardInterrupt
        progress.finished = True
        checkpoint()
    return progress
