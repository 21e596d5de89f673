"""One update of the weights from one minibatch."""

import math
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from accelerate import Accelerator
from torch import Tensor

from course_lib.corpora.batches import make_batch
from course_lib.errors import CourseError
from course_lib.training.memory import enough_memory
from course_lib.training.minibatches import Minibatch, target_words
from course_lib.training.progress import Progress
from course_lib.training.recipe import Recipe, given_at, learning_rate_at
from course_lib.training.scheduled_sampling import mixed_words


@dataclass(frozen=True)
class Updater:
    """Moves a model's weights: what stays the same from one update of a training to the next.

    However many processes share a minibatch, and in however many parts each computes its share
    (`accumulation`), the gradient is that of the loss summed over all of it and divided by all its
    target words once.
    """

    accelerator: Accelerator
    trainer: torch.nn.Module  # the model, as accelerate has prepared it
    optimiser: Any
    recipe: Recipe
    total_steps: int

    def __call__(self, minibatch: Minibatch, progress: Progress) -> None:
        """Loss averaged over the target words, gradient clipped, weights moved; both counted."""
        for group in self.optimiser.param_groups:
            group["lr"] = learning_rate_at(progress.step, self.total_steps, self.recipe)
        self.trainer.train()
        summed = self.gradient(minibatch, progress.step)
        norm = self.accelerator.clip_grad_norm_(self.trainer.parameters(), self.recipe.clip)
        # Both at once: a graphics card is waited for here alone.
        loss, size = torch.stack([summed, norm.to(summed)]).tolist()
        if not (math.isfinite(loss) and math.isfinite(size)):
            raise CourseError(
                f"The loss or its gradient stopped being a number at update {progress.step + 1}. "
                "The checkpoints from before are kept; train into a new directory with a smaller "
                "--set learning_rate=... or --set clip=..."
            )
        self.optimiser.step()
        self.optimiser.zero_grad()
        progress.step += 1
        progress.batch += 1
        progress.loss += loss
        progress.words += target_words(minibatch)

    def gradient(self, minibatch: Minibatch, step: int) -> Tensor:
        """Leave the gradient of the mean loss in the parameters; the summed loss, in nats, of ().

        Raises:
            CourseError: memory ran out.
        """
        accelerator, recipe = self.accelerator, self.recipe
        device, half = accelerator.device, recipe.precision == "bf16"
        given = given_at(step, self.total_steps, recipe)
        # Gradients are averaged over processes and not over words.
        scale = accelerator.num_processes / target_words(minibatch)
        total = torch.zeros((), device=device)  # Apple's cards have no float64
        with accelerator.split_between_processes(minibatch) as mine, self._enough_memory(len(mine)):
            parts = self._parts(mine)
            if not parts:  # a process without a share takes part in the average, with nothing
                parts, scale = [minibatch[:1]], 0.0
            for number, part in enumerate(parts, start=1):
                is_last = number == len(parts)
                with nullcontext() if is_last else accelerator.no_sync(self.trainer):
                    batch = make_batch(part, range(len(part))).to(device)
                    with torch.autocast(device.type, torch.bfloat16, enabled=half):
                        if given is not None:
                            model = accelerator.unwrap_model(self.trainer)
                            batch = mixed_words(model, batch, given)
                        loss, _ = self.trainer(batch, recipe.label_smoothing)
                    accelerator.backward(loss * scale)
                    total += loss.detach() if scale else 0
            summed: Tensor = accelerator.reduce(total)
        return summed

    def _parts(self, pairs: Minibatch) -> list[Minibatch]:
        """`pairs` in `accumulation` parts, fewer where they are fewer."""
        size = max(1, math.ceil(len(pairs) / self.recipe.accumulation))
        return [pairs[start : start + size] for start in range(0, len(pairs), size)]

    def _enough_memory(self, pairs: int) -> AbstractContextManager[None]:
        """What is said where memory runs out in a share of so many pairs."""
        at_once = math.ceil(pairs / self.recipe.accumulation)
        if at_once < 2:
            remedy = "One sentence pair is too long. Choose a smaller model or --set max_length=..."
        else:
            remedy = (
                f"{at_once} sentence pairs at a time are too many: computed in parts they give the "
                f"same result. Add --set accumulation={2 * self.recipe.accumulation}, and --resume "
                "if a checkpoint was written."
            )
        return enough_memory(remedy)
