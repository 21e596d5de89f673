"""How long a training will take here, measured before it starts."""

import copy
import math
import time
from itertools import islice

import torch
from accelerate import Accelerator

from course_lib.corpora.batches import make_batch
from course_lib.models import EncoderDecoder
from course_lib.training.minibatches import Minibatches
from course_lib.training.recipe import Recipe, given_at, make_optimiser

PROBES = 6
SAMPLE = 1000  # minibatches of which the probes are chosen and the lengths are taken


def estimate(
    accelerator: Accelerator,
    model: EncoderDecoder,
    minibatches: Minibatches,
    recipe: Recipe,
    done: int = 0,
) -> str:
    """One sentence: updates left, target words a second, minutes. Leaves no trace on the training.

    A copy of the model is trained on a few real minibatches, from short to long; the random
    generator is put back afterwards.
    """
    device = next(model.parameters()).device
    sample = list(islice(minibatches.epoch(0), SAMPLE))
    by_length = sorted(sample, key=lambda minibatch: max(len(y) for _, y in minibatch))
    chosen = [by_length[(2 * i + 1) * len(sample) // (2 * PROBES)] for i in range(PROBES)]
    probe = copy.deepcopy(model).train()
    optimiser = make_optimiser(probe.parameters(), recipe)
    given = given_at(1, 3, recipe)  # half-way
    with torch.random.fork_rng():
        for _ in range(2):  # the first round warms up
            words = 0
            started = time.monotonic()
            for minibatch in chosen:
                with accelerator.autocast():
                    batch = make_batch(minibatch, range(len(minibatch))).to(device)
                    loss, count = probe(batch, recipe.label_smoothing, given)
                (loss / count).backward()
                optimiser.step()
                optimiser.zero_grad()
                words += int(count)
            rate = words / (time.monotonic() - started)
    steps = recipe.epochs * minibatches.per_epoch
    words_each = sum(len(y) + 1 for minibatch in sample for _, y in minibatch) / len(sample)
    seconds = (steps - done) * words_each / rate
    return (
        f"{steps - done:,} updates of {recipe.batch_size} pairs at about {round(rate, -2):,.0f} "
        f"target words a second: about {duration(seconds)} of training here, "
        f"plus a short validation after {'each of ' * (recipe.epochs > 1)}{recipe.epochs} "
        f"epoch{'s' * (recipe.epochs > 1)}"
    )


def duration(seconds: float) -> str:
    """A length of time as people say it."""
    if seconds < 90:
        return f"{max(1, math.ceil(seconds))} seconds"
    if seconds < 90 * 60:
        return f"{math.ceil(seconds / 60)} minutes"
    return f"{seconds / 3600:.1f} hours"
