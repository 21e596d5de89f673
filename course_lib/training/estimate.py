"""How long a training will take here, measured before it starts."""

import copy
import math
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.utils import gather_object

from course_lib.corpora.batches import EncodedPair
from course_lib.models import RNNsearch
from course_lib.search import translate
from course_lib.training.averaging import moving_average
from course_lib.training.checkpoint import generators_state, set_generators_state
from course_lib.training.minibatches import Minibatch, Minibatches, target_words
from course_lib.training.processes import anywhere
from course_lib.training.progress import Progress
from course_lib.training.recipe import Recipe, make_optimiser
from course_lib.training.update import Updater
from course_lib.training.validation import mean_loss

PROBES = 8
SECONDS = 6.0  # of timed updates, where eight do not take longer
VALIDATED = 64  # pairs
SAMPLE = 1000  # minibatches of which the lengths are taken


@dataclass(frozen=True)
class Forecast:
    """What is left of a training, and how long that will take here."""

    updates: int
    pairs: int  # in each of them
    words_a_second: float  # target words, while weights are moved
    validations: int
    seconds: float  # of everything that is left, validations included
    threads: int

    def __str__(self) -> str:
        return (
            f"{self.updates:,} updates of {self.pairs} pairs at about "
            f"{float(f'{self.words_a_second:.3g}'):,.0f} target words a second: about "
            f"{duration(self.seconds)} of training here on {self.threads} "
            f"thread{'s' * (self.threads > 1)}, "
            f"{self.validations} validation{'s' * (self.validations > 1)} included"
        )


def estimate(
    accelerator: Accelerator,
    model: RNNsearch,
    minibatches: Minibatches,
    recipe: Recipe,
    progress: Progress,
    validation: list[EncodedPair],
) -> Forecast:
    """What is left of a training and how long it will take. Leaves no trace on the training.

    A copy of the model is trained on real minibatches, in as many parts and by as many processes as
    the training itself, and translates a few sentences of the validation split; the random
    generators are put back after it. A few minibatches from short to long warm up; others are timed
    for some seconds, in the order in which training will meet them.
    """
    sample = list(islice(minibatches.epoch(0), SAMPLE))
    by_length = sorted(sample, key=lambda minibatch: max(len(y) for _, y in minibatch))
    places = [(2 * i + 1) * len(sample) // (2 * PROBES) for i in range(PROBES)]
    warming = [by_length[place] for place in places]
    timed = [minibatch for minibatch in sample if minibatch not in warming] or sample
    copied = copy.deepcopy(model).train()
    probe, optimiser = accelerator.prepare(copied, make_optimiser(copied.parameters(), recipe))
    update = Updater(accelerator, probe, optimiser, recipe, total_steps=3)
    average = moving_average(model, recipe.averaging) if recipe.averaging else None

    def move(minibatch: Minibatch) -> None:
        update.gradient(minibatch, step=1)
        accelerator.clip_grad_norm_(probe.parameters(), recipe.clip)
        optimiser.step()
        optimiser.zero_grad()
        if average is not None:
            average.update_parameters(copied)

    def warm() -> None:
        for minibatch in warming:
            move(minibatch)

    generators = generators_state()
    warm()
    if not progress.step and accelerator.device.type == "cpu":
        take_faster_threads(warm)
    started, words = time.monotonic(), 0
    for number, minibatch in enumerate(timed, start=1):
        move(minibatch)
        words += target_words(minibatch)
        long_enough = time.monotonic() - started > SECONDS
        if number >= PROBES and anywhere(accelerator, long_enough):
            break
    took = [time.monotonic() - started]
    set_generators_state(generators)
    seconds = max(gather_object(took) if accelerator.num_processes > 1 else took)
    accelerator.free_memory()
    rate = words / seconds
    left = recipe.epochs * minibatches.per_epoch - progress.step
    time_left = left * sum(map(target_words, sample)) / len(sample) / rate
    rounds = recipe.epochs - progress.epoch
    time_left += rounds * validation_seconds(model, validation) / accelerator.num_processes
    return Forecast(left, recipe.batch_size, rate, rounds, time_left, torch.get_num_threads())


def take_faster_threads(work: Callable[[], None]) -> None:
    """From now on compute with one thread, two or PyTorch's own number, whichever is the fastest.

    Where others compute, too, threads wait for one another: on a shared machine one can be ten
    times as fast as many. Where OMP_NUM_THREADS says how many, that holds.
    """
    most = torch.get_num_threads()
    if most == 1 or "OMP_NUM_THREADS" in os.environ:
        return
    took = {}
    for threads in sorted({1, 2, most}):
        torch.set_num_threads(threads)
        begun = time.monotonic()
        work()
        took[threads] = time.monotonic() - begun
    torch.set_num_threads(min(took, key=lambda threads: took[threads]))


def validation_seconds(model: RNNsearch, pairs: list[EncodedPair]) -> float:
    """How long one process takes to validate: the loss of all pairs, and their greedy translation.

    Measured on a few pairs of ordinary length. A model that has learned nothing does not know when
    to stop, so translating is measured by the word and charged for the references' words.
    """
    words = sum(len(target) + 1 for _, target in pairs)
    ordinary = sorted(pairs, key=lambda pair: len(pair[1]))[len(pairs) // 2 :][:VALIDATED]
    training = model.training
    started = time.monotonic()
    mean_loss(model, ordinary)
    seconds = (time.monotonic() - started) * words / sum(len(y) + 1 for _, y in ordinary)
    started = time.monotonic()
    translations = translate(model, [source for source, _ in ordinary], k=1)
    written = sum(len(hypothesis.tokens) + 1 for hypothesis in translations)
    model.train(training)
    return seconds + (time.monotonic() - started) * words / written


def time_taken(result: Mapping[str, Any]) -> str:
    """How long a finished run has trained and, where it is known, what the forecast was."""
    took = f"trained for {duration(result['train_seconds'])}"
    forecast: float | None = result.get("forecast_seconds")
    return took if forecast is None else f"{took} (forecast: {duration(forecast)})"


def duration(seconds: float) -> str:
    """A length of time as people say it."""
    if seconds < 90:
        return f"{max(1, math.ceil(seconds))} seconds"
    if seconds < 90 * 60:
        return f"{math.ceil(seconds / 60)} minutes"
    return f"{seconds / 3600:.1f} hours"
