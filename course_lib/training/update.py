"""One update of the weights from one minibatch."""

import math
from dataclasses import dataclass
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState

from course_lib.corpora.batches import make_batch
from course_lib.errors import CourseError
from course_lib.training.minibatches import Minibatch
from course_lib.training.progress import Progress
from course_lib.training.recipe import Recipe, given_at, learning_rate_at


def make_accelerator(precision: str) -> Accelerator:
    """Where and in what precision a run is computed.

    accelerate keeps one precision a process; it is forgotten first, or a page could not train one
    run in fp32 and the next in bf16.
    """
    AcceleratorState._reset_state()
    return Accelerator(mixed_precision="no" if precision == "fp32" else precision)


@dataclass(frozen=True)
class Updater:
    """Moves a model's weights: what stays the same from one update of a training to the next."""

    accelerator: Accelerator
    trainer: torch.nn.Module  # the model, in whatever precision wraps it
    optimiser: Any
    recipe: Recipe
    total_steps: int

    def __call__(self, minibatch: Minibatch, progress: Progress) -> None:
        """Loss averaged over the target words, gradient clipped, weights moved."""
        recipe, accelerator = self.recipe, self.accelerator
        rate = learning_rate_at(progress.step, self.total_steps, recipe)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        batch = make_batch(minibatch, range(len(minibatch))).to(accelerator.device)
        self.trainer.train()
        given = given_at(progress.step, self.total_steps, recipe)
        loss, count = self.trainer(batch, recipe.label_smoothing, given)
        accelerator.backward(loss / count)
        norm = accelerator.clip_grad_norm_(self.trainer.parameters(), recipe.clip)
        if not math.isfinite(loss.item()) or not math.isfinite(float(norm)):
            raise CourseError(
                f"The loss or its gradient stopped being a number at update {progress.step + 1}. "
                "The checkpoints from before are kept; train into a new directory with a smaller "
                "--set learning_rate=... or --set clip=..."
            )
        self.optimiser.step()
        self.optimiser.zero_grad()
        progress.step += 1
        progress.batch += 1
        progress.loss += loss.item()
        progress.words += int(count)
