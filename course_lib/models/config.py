"""What decides a model: one flat record, and the sizes the course uses."""

import math
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, get_args

from course_lib.errors import CourseError


@dataclass(frozen=True)
class ModelConfig:
    """Sizes and choices of an encoder-decoder; letters are the paper's (Appendix A).

    The two models of the course differ in `context` alone: "additive" makes RNNsearch, "fixed"
    makes RNNencdec with the same encoder. The paper's own RNNencdec also has `encoder="forward"`.
    """

    source_vocabulary: int  # K_x, marks included
    target_vocabulary: int  # K_y, marks included
    embedding: int = 256  # m
    hidden: int = 256  # n, of each encoder direction and of the decoder
    alignment: int = 256  # n', hidden units of the additive score
    readout: int = 256  # l, maxout units before the vocabulary
    context: str = "additive"  # additive | fixed
    encoder: str = "bidirectional"  # bidirectional | forward
    unit: str = "torch"  # paper: reset before the product | torch: after it, as torch.nn.GRU
    initialisation: str = "modern"  # modern | paper
    dropout: float = 0.0

    def __post_init__(self) -> None:
        check_types(self)
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise CourseError(
                    f"{name}={getattr(self, name)!r} is not known. Choose {' or '.join(allowed)}."
                )
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type is int and value < 1:
                raise CourseError(f"{field.name}={value} must be at least 1.")
        if not 0 <= self.dropout < 1:
            raise CourseError(f"dropout={self.dropout} must be at least 0 and below 1.")

    def to_dict(self) -> dict[str, Any]:
        """The record as plain values, for a run's config.yaml."""
        return asdict(self)


KINDS = {int: "a whole number", float: "a number", str: "a word", type(None): "null"}


def check_types(record: Any) -> None:
    """Refuse a value of another kind than its field's; NaN and infinity are no numbers."""
    for field in fields(record):
        value = getattr(record, field.name)
        kinds = get_args(field.type) or (field.type,)
        fits = type(value) in kinds or (float in kinds and type(value) is int)
        if not fits or (isinstance(value, float) and not math.isfinite(value)):
            wanted = " or ".join(KINDS[kind] for kind in kinds)
            raise CourseError(f"{field.name}={value!r} does not fit. Give {wanted}.")


CHOICES = {
    "context": ("additive", "fixed"),
    "encoder": ("bidirectional", "forward"),
    "unit": ("paper", "torch"),
    "initialisation": ("modern", "paper"),
}

MODELS = {"rnnsearch": "additive", "rnnencdec": "fixed"}
"""The course's two models, as the one thing that differs between them."""

SIZES: dict[str, dict[str, Any]] = {
    "smoke": {"embedding": 32, "hidden": 32, "alignment": 32, "readout": 32},
    "cpu": {"embedding": 256, "hidden": 256, "alignment": 256, "readout": 256, "dropout": 0.3},
    "gpu": {"embedding": 256, "hidden": 512, "alignment": 512, "readout": 256, "dropout": 0.4},
    "paper": {
        "embedding": 620,
        "hidden": 1000,
        "alignment": 1000,
        "readout": 500,
        "unit": "paper",
        "initialisation": "paper",
    },
}
"""Sizes by preset. `paper` is Appendix A.2.3 to the letter; the others teach and run fast."""


def model_config(
    model: str, preset: str, source_vocabulary: int, target_vocabulary: int, **changes: Any
) -> ModelConfig:
    """The configuration of a named model at a preset's sizes, with single values changed.

    The preset `paper` gives RNNencdec the paper's forward-only encoder; every other preset leaves
    the encoder as it is in RNNsearch, so that the context is the only difference.
    """
    if model not in MODELS:
        raise CourseError(f"There is no model {model!r}. Choose {' or '.join(MODELS)}.")
    if preset not in SIZES:
        raise CourseError(f"There is no preset {preset!r}. Choose {', '.join(SIZES)}.")
    config = ModelConfig(
        source_vocabulary, target_vocabulary, context=MODELS[model], **SIZES[preset]
    )
    if preset == "paper" and model == "rnnencdec":
        config = replace(config, encoder="forward")
    return replace(config, **changes)
