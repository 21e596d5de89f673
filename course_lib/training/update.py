"""One update of the weights from one minibatch."""

import math
from dataclasses import dataclass
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.utils.memory import clear_device_cache
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from course_lib.corpora.batches import make_batch
from course_lib.errors import CourseError
from course_lib.training.checkpoint import generators_state, set_generators_state
from course_lib.training.group import add_up, share
from course_lib.training.memory import is_out_of_memory
from course_lib.training.minibatches import Minibatch, target_words
from course_lib.training.progress import Progress
from course_lib.training.recipe import Recipe, given_at, learning_rate_at
from course_lib.training.scheduled_sampling import mixed_words


@dataclass(frozen=True)
class Updater:
    """Moves a model's weights: what stays the same from one update of a training to the next.

    An update is `__call__`; `_in_parts` has the loss and its gradient. The other two are for a
    minibatch that is too large for the memory, or that several processes share.

    However many processes share a minibatch, and in however many parts each computes its share,
    the loss is summed over all of it and divided by all its target words once. The gradients are
    added up here and not by DistributedDataParallel, which averages them over processes instead of
    words, and which a process that runs out of memory half-way would leave waiting.
    """

    accelerator: Accelerator
    trainer: torch.nn.Module  # the model, in whatever precision wraps it
    optimiser: Any
    recipe: Recipe
    total_steps: int

    def __call__(self, minibatch: Minibatch, progress: Progress) -> None:
        """Loss averaged over the target words, gradient clipped, weights moved; both logged."""
        rate = learning_rate_at(progress.step, self.total_steps, self.recipe)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.trainer.train()
        loss = self.gradient(minibatch, progress)
        norm = self.accelerator.clip_grad_norm_(self.trainer.parameters(), self.recipe.clip)
        if not (math.isfinite(loss) and math.isfinite(float(norm))):
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
        words = target_words(minibatch)
        progress.words += words
        self.accelerator.log({"loss": loss / words, "learning_rate": rate}, progress.step)

    def gradient(self, minibatch: Minibatch, progress: Progress) -> float:
        """Leave the gradient of the mean loss in the parameters; the summed loss, in nats.

        If memory runs out, this process computes its share in twice as many parts, now and from
        then on (`progress.parts`), with the same random numbers and so the same mathematics.
        """
        words = target_words(minibatch)
        mine = share(self.accelerator, minibatch)
        given = given_at(progress.step, self.total_steps, self.recipe)
        generators = generators_state()
        while (loss := self._in_parts(mine, words, given, progress.parts)) is None:
            # Here and not where the error is handled: it holds on to the memory that is missing.
            self.trainer.zero_grad()
            clear_device_cache(garbage_collection=True)
            set_generators_state(generators)
            progress.halve(len(mine))
        return self._together(loss, progress)

    def _in_parts(
        self, pairs: Minibatch, words: int, given: float | None, parts: int
    ) -> float | None:
        """The summed loss of `pairs`, its gradient over `words` left behind; None: no memory."""
        size = max(1, math.ceil(len(pairs) / parts))
        total = 0.0
        try:
            for start in range(0, len(pairs), size):
                part = pairs[start : start + size]
                batch = make_batch(part, range(len(part))).to(self.accelerator.device)
                if given is not None:
                    model = self.accelerator.unwrap_model(self.trainer)
                    batch = mixed_words(model, batch, given)
                loss, _ = self.trainer(batch, self.recipe.label_smoothing)
                self.accelerator.backward(loss / words)
                total += loss.item()
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            return None
        return total

    def _together(self, loss: float, progress: Progress) -> float:
        """Add up all processes' gradients and losses; all remember the largest number of parts."""
        accelerator = self.accelerator
        if accelerator.num_processes == 1:
            return loss
        parameters = list(self.trainer.parameters())
        for parameter in parameters:
            if parameter.grad is None:  # of a part that this model does not use, or no share
                parameter.grad = torch.zeros_like(parameter)
        gradients = [p.grad for p in parameters if p.grad is not None]
        vector_to_parameters(add_up(accelerator, parameters_to_vector(gradients)), gradients)
        shared = torch.zeros(1 + accelerator.num_processes, dtype=torch.float64)
        shared[0] = loss
        shared[1 + accelerator.process_index] = progress.parts
        shared = add_up(accelerator, shared.to(accelerator.device)).cpu()
        progress.parts = int(shared[1:].max())
        return float(shared[0])
