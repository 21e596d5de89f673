"""How long a training will take here, measured before it starts."""

import copy
import math
import time
from itertools import islice

import torch
from accelerate import Accelerator

from course_lib.models import EncoderDecoder
from course_lib.training.group import gather
from course_lib.training.minibatches import Minibatches, target_words
from course_lib.training.progress import Progress
from course_lib.training.recipe import Recipe, make_optimiser
from course_lib.training.update import Updater

PROBES = 6
SAMPLE = 1000  # minibatches of which the probes are chosen and the lengths are taken


def estimate(
    accelerator: Accelerator,
    model: EncoderDecoder,
    minibatches: Minibatches,
    recipe: Recipe,
    progress: Progress,
) -> str:
    """One sentence: updates left, target words a second, minutes. Leaves no trace on the training.

    A copy of the model is trained on a few real minibatches, from short to long, in as many parts
    and by as many processes as the training itself; the random generator is put back afterwards.
    Where memory runs out already here, `progress.parts` is raised.
    """
    sample = list(islice(minibatches.epoch(0), SAMPLE))
    by_length = sorted(sample, key=lambda minibatch: max(len(y) for _, y in minibatch))
    chosen = [by_length[(2 * i + 1) * len(sample) // (2 * PROBES)] for i in range(PROBES)]
    probe = accelerator.prepare_model(copy.deepcopy(model).train(), evaluation_mode=True)
    optimiser = make_optimiser(probe.parameters(), recipe)
    update = Updater(accelerator, probe, optimiser, recipe, total_steps=3)
    half_way = Progress(step=1, parts=progress.parts)
    with torch.random.fork_rng():
        for _ in range(2):  # the first round warms up
            started = time.monotonic()
            for minibatch in chosen:
                update.gradient(minibatch, half_way)
                optimiser.step()
                optimiser.zero_grad()
            seconds = max(gather(accelerator, time.monotonic() - started))
    accelerator.free_memory()
    progress.parts = half_way.parts
    rate = sum(map(target_words, chosen)) / seconds
    left = recipe.epochs * minibatches.per_epoch - progress.step
    time_left = left * sum(map(target_words, sample)) / len(sample) / rate
    return (
        f"{left:,} updates of {recipe.batch_size} pairs at about {round(rate, -2):,.0f} "
        f"target words a second: about {duration(time_left)} of training here, "
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
