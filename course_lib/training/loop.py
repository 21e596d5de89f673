"""The training loop: updates, validations, checkpoints, and stopping well."""

import math
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from accelerate.utils import set_seed
from tqdm import tqdm

from course_lib.corpora.batches import (
    EncodedPair,
    batches_in_order,
    bucketed_batches,
    make_batch,
)
from course_lib.corpora.corpus import Corpus, Split
from course_lib.corpora.vocabulary import Vocabulary
from course_lib.errors import CourseError
from course_lib.evaluation.bleu import bleu_tok
from course_lib.files import remove_leftovers
from course_lib.models import EncoderDecoder, build_model
from course_lib.search import translate
from course_lib.training.checkpoint import load_state, save_state, save_weights
from course_lib.training.estimate import estimate
from course_lib.training.interrupt import deferred_interrupt
from course_lib.training.memory import keep_freed_memory
from course_lib.training.recipe import Recipe, given_at, learning_rate_at, make_optimiser
from course_lib.training.run_config import RunConfig
from course_lib.training.run_directory import (
    BEST,
    CONFIG,
    LAST,
    check_same_run,
    make_vocabularies,
    start_run,
    write_metrics,
)


@dataclass
class Progress:
    """Where a run stands; with weights, moments and generators it decides everything to come."""

    epoch: int = 0
    batch: int = 0  # batches of this epoch already used
    step: int = 0
    seconds: float = 0.0
    loss: float = 0.0  # summed over the words of this epoch so far
    words: int = 0
    best: float = math.inf
    since_best: int = 0
    finished: bool = False
    metrics: list[dict[str, Any]] = field(default_factory=list)


def train(
    config: RunConfig, corpus: Corpus, out: Path | str, resume: bool = False, quiet: bool = False
) -> Progress:
    """Train one run into the directory `out` and return how it went.

    The best weights by validation loss end in model.safetensors. With `resume` a stopped or killed
    run goes on from its last checkpoint to the numbers it would have reached undisturbed; a
    finished one is left as it is. Ctrl-C writes a checkpoint, then raises KeyboardInterrupt.

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
    pairs = encode_pairs(corpus.splits["train"], words, recipe.max_length)
    if not pairs or not len(corpus.splits["val"]):
        raise CourseError(
            f"{corpus.name} has no sentence to train on or none to validate with. "
            "Ask for more with --set corpus.train=... or --set corpus.val=..."
        )
    progress = Progress()
    if (out / LAST).exists():
        progress = Progress(**load_state(out / LAST, model, optimiser))
        write_metrics(out, progress.metrics)
    if progress.finished:
        return progress
    total_steps = recipe.epochs * math.ceil(len(pairs) / recipe.batch_size)
    if not quiet:
        forecast = estimate(accelerator, model, pairs, config, progress.step)
        print(f"{config.model} on {corpus.name} {corpus.pair}: {forecast}.", flush=True)

    if not started_before:
        start_run(out, config, model_config, corpus, list(words))
    remove_leftovers(out)
    trainer, optimiser = accelerator.prepare(model, optimiser)
    started = time.monotonic() - progress.seconds

    def checkpoint() -> None:
        progress.seconds = time.monotonic() - started
        save_state(out / LAST, model, optimiser, vars(progress))

    with (
        tqdm(total=total_steps, initial=progress.step, unit="batch", disable=quiet) as bar,
        deferred_interrupt() as stop_asked,
    ):
        while progress.epoch < recipe.epochs and progress.since_best < recipe.patience:
            order = bucketed_batches(pairs, recipe.batch_size, config.seed, progress.epoch)
            for index in order[progress.batch :]:
                _update(
                    accelerator, trainer, optimiser, recipe, total_steps, pairs, index, progress
                )
                bar.update()
                if progress.step % recipe.checkpoint_steps == 0 or stop_asked():
                    checkpoint()
                if stop_asked():
                    raise KeyboardInterrupt
            progress.seconds = time.monotonic() - started
            _validate(model, corpus.splits["val"], words, out, progress)
            bar.set_postfix(val_loss=f"{progress.metrics[-1]['val_loss']:.3f}")
            progress.epoch += 1
            progress.batch = progress.words = 0
            progress.loss = 0.0
            checkpoint()
            write_metrics(out, progress.metrics)
            if stop_asked():
                raise KeyboardInterrupt
        progress.finished = True
        checkpoint()
    return progress


def make_accelerator(precision: str) -> Accelerator:
    """Where and in what precision a run is computed.

    accelerate keeps one precision a process; it is forgotten first, or a page could not train one
    run in fp32 and the next in bf16.
    """
    AcceleratorState._reset_state()
    return Accelerator(mixed_precision="no" if precision == "fp32" else precision)


def encode_pairs(
    split: Split, words: tuple[Vocabulary, Vocabulary], max_length: int | None = None
) -> list[EncodedPair]:
    """A split as word numbers, without pairs longer than `max_length` words on either side."""
    source, target = words
    return [
        (source.encode(x), target.encode(y))
        for x, y in zip(split.source, split.target, strict=True)
        if max_length is None or max(len(x), len(y)) <= max_length
    ]


def _update(
    accelerator: Accelerator,
    trainer: torch.nn.Module,
    optimiser: Any,
    recipe: Recipe,
    total_steps: int,
    pairs: list[EncodedPair],
    index: list[int],
    progress: Progress,
) -> None:
    """One minibatch: loss averaged over its target words, gradient clipped, weights moved."""
    rate = learning_rate_at(progress.step, total_steps, recipe)
    for group in optimiser.param_groups:
        group["lr"] = rate
    batch = make_batch(pairs, index).to(accelerator.device)
    trainer.train()
    given = given_at(progress.step, total_steps, recipe)
    loss, count = trainer(batch, recipe.label_smoothing, given)
    accelerator.backward(loss / count)
    norm = accelerator.clip_grad_norm_(trainer.parameters(), recipe.clip)
    if not math.isfinite(loss.item()) or not math.isfinite(float(norm)):
        raise CourseError(
            f"The loss or its gradient stopped being a number at update {progress.step + 1}. The "
            "checkpoints from before are kept; train into a new directory with a smaller "
            "--set learning_rate=... or --set clip=..."
        )
    optimiser.step()
    optimiser.zero_grad()
    progress.step += 1
    progress.batch += 1
    progress.loss += loss.item()
    progress.words += int(count)


def _validate(
    model: EncoderDecoder,
    split: Split,
    words: tuple[Vocabulary, Vocabulary],
    out: Path,
    progress: Progress,
) -> None:
    """Loss and greedy BLEU on the validation split; keeps the weights if the loss is best."""
    pairs = encode_pairs(split, words)
    val_loss = mean_loss(model, pairs)
    hypotheses = translate(model, [source for source, _ in pairs], k=1)
    score = bleu_tok([words[1].decode(h.tokens) for h in hypotheses], split.target).score
    progress.metrics.append(
        {
            "epoch": progress.epoch + 1,
            "step": progress.step,
            "seconds": round(progress.seconds, 2),
            "train_loss": progress.loss / progress.words,
            "val_loss": val_loss,
            "val_bleu": score,
        }
    )
    progress.since_best += 1
    if val_loss < progress.best:
        progress.best, progress.since_best = val_loss, 0
        save_weights(out / BEST, model)


@torch.no_grad()
def mean_loss(model: EncoderDecoder, pairs: list[EncodedPair]) -> float:
    """Cross-entropy in nats a word, end marks included, without smoothing or dropout."""
    model.eval()
    device = next(model.parameters()).device
    loss, count = 0.0, 0
    for index in batches_in_order([len(target) for _, target in pairs], 64):
        batch_loss, batch_count = model.loss(make_batch(pairs, index).to(device))
        loss += float(batch_loss)
        count += int(batch_count)
    return loss / count
