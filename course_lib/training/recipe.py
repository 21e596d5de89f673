"""How a model is trained: optimiser, schedule, when to stop."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn

from course_lib.errors import CourseError
from course_lib.models.config import check_record
from course_lib.training.device import best_device
from course_lib.training.teacher_forcing import TEACHER_FORCING, given_share

CHOICES = {
    "optimiser": ("adam", "adadelta"),
    "schedule": ("linear", "constant"),
    "precision": ("auto", "fp32", "bf16"),
    "teacher_forcing": TEACHER_FORCING,
}


MOST_COUNTED = 1_000_000
"""Of what is counted; more is a slip of the hand."""
MOST_PENALTY = 10
"""Of a search: with more, only the length counts."""


@dataclass(frozen=True)
class Recipe:
    """Everything that decides a run's scores, apart from model, corpus, seed and beam width."""

    epochs: int = 10
    batch_size: int = 64
    accumulation: int = 1  # parts that a minibatch is computed in: less memory, the same result
    min_frequency: int = 2  # rarer words become the unknown word
    max_words: int | None = None  # a side's vocabulary of words is cut to this many
    subwords: int | None = None  # pieces of words, so many for both sides together; null: words
    max_length: int = 100  # longer training pairs are left out
    optimiser: str = "adam"
    learning_rate: float = 2e-3
    schedule: str = "linear"  # linear: warm up, then down to 0 at the last step | constant
    warmup: int = 200  # steps
    clip: float = 1.0  # L2 norm of the gradient
    label_smoothing: float = 0.1
    # The share of true previous words: always | linear | exponential | inverse-sigmoid | never.
    teacher_forcing: str = "always"
    teacher_forcing_end: float = 0.5  # where the three curves arrive at the last update
    # d of a moving average of the weights, which is what is validated and kept; 0: the weights.
    averaging: float = 0.0
    patience: int = 3  # validations without a better loss before stopping early
    checkpoint_steps: int = 200
    precision: str = "auto"  # of the matrix products; auto: bf16 where the chip has it, else fp32
    length_penalty: float = 1.0  # of the beam search that scores what was trained

    def __post_init__(self) -> None:
        check_record(self, CHOICES, shares=("label_smoothing", "averaging"), counts=("warmup",))
        if self.learning_rate <= 0 or self.clip <= 0:
            raise CourseError("learning_rate and clip must be above 0.")
        if not 0 <= self.length_penalty <= MOST_PENALTY:
            raise CourseError(f"length_penalty must be from 0 to {MOST_PENALTY}.")
        for name in ("epochs", "batch_size", "accumulation", "max_length", "warmup", "patience"):
            if getattr(self, name) > MOST_COUNTED:
                raise CourseError(f"{name}={getattr(self, name)} must be at most {MOST_COUNTED:,}.")
        if max(self.learning_rate, self.clip) > MOST_COUNTED:
            raise CourseError(f"learning_rate and clip must be at most {MOST_COUNTED:,}.")
        if not 0 < self.teacher_forcing_end < 1:
            raise CourseError("teacher_forcing_end must be above 0 and below 1.")


PIECES = Recipe(
    subwords=4000,
    averaging=0.998,
    learning_rate=6e-3,
    warmup=400,
    patience=8,
    length_penalty=1.2,
)
"""What the presets that go after the score share."""

RECIPES: dict[str, Recipe] = {
    "smoke": Recipe(epochs=2, batch_size=32, warmup=20, checkpoint_steps=10),
    "cpu": Recipe(),
    "gpu": Recipe(epochs=25, batch_size=128, warmup=400),
    "quick": replace(PIECES, epochs=2, batch_size=48, warmup=200, averaging=0.995),
    "laptop": replace(PIECES, epochs=6, learning_rate=4e-3),
    "best": replace(PIECES, subwords=10_000, epochs=12, learning_rate=3e-3),
    "paper": Recipe(
        epochs=5,
        batch_size=80,
        min_frequency=1,
        max_words=30_000,
        max_length=50,
        optimiser="adadelta",
        learning_rate=1.0,
        schedule="constant",
        warmup=0,
        label_smoothing=0.0,
        checkpoint_steps=2_000,  # a gigabyte each
        precision="fp32",
    ),
}
"""Recipes by preset. `paper` is Appendix B: Adadelta with rho 0.95 and epsilon 1e-6, clip 1."""


def recipe_for(preset: str, **changes: Any) -> Recipe:
    """A preset's recipe with single values changed, and its precision settled for this machine."""
    if preset not in RECIPES:
        raise CourseError(f"There is no preset {preset!r}. Choose {', '.join(RECIPES)}.")
    recipe = replace(RECIPES[preset], **changes)
    if recipe.precision == "auto":
        recipe = replace(recipe, precision="bf16" if has_fast_bf16() else "fp32")
    return recipe


def has_fast_bf16() -> bool:
    """Whether the chip says that it multiplies bfloat16 numbers faster than float32 ones."""
    device = best_device()
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    if device.type != "cpu":
        return False
    chip = torch.cpu.get_capabilities()
    return bool(chip.get("avx512_bf16") or chip.get("amx_tile"))


def learning_rate_at(step: int, total_steps: int, recipe: Recipe) -> float:
    """The rate of update `step` (from 0): up over `warmup` steps, then down in a line to 0."""
    rate = recipe.learning_rate * min(1.0, (step + 1) / (recipe.warmup + 1))
    if recipe.schedule == "linear":
        rate *= min(1.0, (total_steps - step) / max(1, total_steps - recipe.warmup))
    return rate


def given_at(step: int, total_steps: int, recipe: Recipe) -> float | None:
    """The share of true previous words at update `step`; None for all of them, the fast path."""
    if recipe.teacher_forcing == "always":
        return None
    return given_share(recipe.teacher_forcing, step, total_steps - 1, recipe.teacher_forcing_end)


def make_optimiser(parameters: Iterable[nn.Parameter], recipe: Recipe) -> torch.optim.Optimizer:
    """The recipe's optimiser; its learning rate is set before every update."""
    if recipe.optimiser == "adadelta":
        return torch.optim.Adadelta(parameters, lr=recipe.learning_rate, rho=0.95, eps=1e-6)
    return torch.optim.Adam(parameters, lr=recipe.learning_rate, betas=(0.9, 0.98), fused=True)
