"""What decides a model: one flat record, and the sizes the course uses."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, get_args

from course_lib.errors import CourseError


@dataclass(frozen=True)
class ModelConfig:
    """Sizes and choices of an encoder-decoder; letters are the paper's (Appendix A).

    The defaults are RNNsearch, and each choice is one value away from it, except that a dot product
    also needs annotations as wide as the state (`encoder="forward"`). RNNencdec differs in
    `context` alone, which is "fixed"; the paper's own also has `encoder="forward"`. What describes
    a part that a model does not have is not looked at.
    """

    source_vocabulary: int  # K_x, marks included
    target_vocabulary: int  # K_y, marks included
    embedding: int = 256  # m
    hidden: int = 256  # n, of each encoder direction and of the decoder
    alignment: int = 256  # n', hidden units of the scores additive and concat
    readout: int = 256  # l, units of t_i, before the vocabulary; with tying it is m
    # Where c_i comes from: a score (additive | concat | general | dot | scaled-dot), or fixed: the
    # last forward state, a self-attentive encoder's last annotation.
    context: str = "additive"
    window: int = 0  # D: look at D words to either side of a place that s chooses; 0: at all words
    # paper: attend with s_{i-1}, read out, update | luong: update, attend, input feeding |
    # conditional: attend between two units | sutskever: know the sentence by s_0 alone
    decoder: str = "paper"
    # bidirectional | forward | self-attention | self-attention-without-positions
    encoder: str = "bidirectional"
    reverse_source: bool = False  # read the source words last to first
    unit: str = "paper"  # paper | torch | tanh | lstm; see course_lib/models/units.py
    layers: int = 1  # of units, or of self-attention, in the encoder; of units in the decoder
    heads: int = 4  # of a self-attentive encoder
    initialisation: str = "modern"  # modern | paper
    # Which tables are one: none | output, E_y and W_o | all, E_x too, over one joint vocabulary.
    tying: str = "none"
    # The share of numbers zeroed in training: in embeddings, annotations, t_i and between layers.
    dropout: float = 0.0

    def __post_init__(self) -> None:
        check_record(self, CHOICES, shares=("dropout",), counts=("window",))
        if self.tying == "all" and self.source_vocabulary != self.target_vocabulary:
            raise CourseError(
                "tying=all needs pieces of words, one vocabulary for both sides. Set subwords=... "
                "with it, or tying=output."
            )
        if (self.score or "").endswith("dot") and self.annotation_size != self.hidden:
            raise CourseError(unequal_sizes(self.hidden, self.annotation_size))
        if self.window and self.score is None:
            raise CourseError("A window needs weights to cut. Take a context with attention.")
        if self.decoder == "conditional" and self.layers > 1:
            raise CourseError("The conditional decoder has one layer. Take layers=1 with it.")
        if self.reverse_source and self.self_attentive:
            raise CourseError("Self-attention reads in no order. Take reverse_source=false.")

    @property
    def score(self) -> str | None:
        """The score that weights come from; None for a model without attention."""
        return None if self.context == "fixed" or self.decoder == "sutskever" else self.context

    @property
    def self_attentive(self) -> bool:
        """Whether the encoder is self-attentive."""
        return self.encoder.startswith("self-attention")

    @property
    def annotation_size(self) -> int:
        """Numbers in an annotation: n for a forward encoder, else 2n."""
        return self.hidden * (1 if self.encoder == "forward" else 2)

    @property
    def summary_size(self) -> int:
        """Numbers in the summary of a sentence that s_0 is made from."""
        return self.hidden * (2 if self.self_attentive else 1)

    @property
    def context_size(self) -> int:
        """Numbers in c_i: an annotation's, or of the last one those that have read forwards."""
        return self.summary_size if self.context == "fixed" else self.annotation_size

    @property
    def state_size(self) -> int:
        """Numbers in a decoder's state: n, twice as many for an LSTM, that for each layer."""
        return self.hidden * self.layers * (2 if self.unit == "lstm" else 1)

    @property
    def readout_size(self) -> int:
        """Numbers in t_i, which W_o multiplies: l, or m where W_o is the table of embeddings."""
        return self.readout if self.tying == "none" else self.embedding

    def to_dict(self) -> dict[str, Any]:
        """The record as plain values, for a run's config.yaml."""
        return asdict(self)


def unequal_sizes(query_size: int, key_size: int) -> str:
    """What to tell somebody who asks for the dot product of unequal vectors."""
    return (
        f"A dot product needs a query and keys of one size; these have {query_size} and "
        f"{key_size} numbers. Choose the context general, concat or additive, which put a matrix "
        "between the two, or encoder=forward, whose annotations are as wide as the state."
    )


KINDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a word",
    type(None): "null",
}


def check_record(
    record: Any,
    choices: Mapping[str, Sequence[str]],
    shares: Sequence[str],
    counts: Sequence[str] = (),
) -> None:
    """Refuse a field's value that is not of its kind, or not among its `choices`.

    Whole numbers are 1 or more, those of `counts` 0 or more; `shares` lie from 0 to below 1. NaN
    and infinity are no numbers.
    """
    for field in fields(record):
        name, value = field.name, getattr(record, field.name)
        kinds = get_args(field.type) or (field.type,)
        fits = type(value) in kinds or (float in kinds and type(value) is int)
        if not fits or (isinstance(value, float) and not math.isfinite(value)):
            wanted = " or ".join(KINDS[kind] for kind in kinds)
            raise CourseError(f"{name}={value!r} does not fit. Give {wanted}.")
        if value not in choices.get(name, (value,)):
            raise CourseError(
                f"{name}={value!r} is not known. Choose {' or '.join(choices[name])}."
            )
        if name in shares and not 0 <= value < 1:
            raise CourseError(f"{name}={value} must be at least 0 and below 1.")
        least = 0 if name in counts else 1
        if int in kinds and value is not None and value < least:
            raise CourseError(f"{name}={value} must be at least {least}.")


SCORES = ("additive", "concat", "general", "dot", "scaled-dot")
"""The scores of attention; `course_lib.models.scores` has each."""

CHOICES = {
    "context": (*SCORES, "fixed"),
    "decoder": ("paper", "luong", "conditional", "sutskever"),
    "encoder": (
        *("bidirectional", "forward", "self-attention", "self-attention-without-positions"),
    ),
    "unit": ("paper", "torch", "tanh", "lstm"),
    "initialisation": ("modern", "paper"),
    "tying": ("none", "output", "all"),
}

MODELS: dict[str, dict[str, Any]] = {
    "rnnsearch": {"context": "additive"},
    "rnnencdec": {"context": "fixed"},
    "sutskever": {
        "encoder": "forward",
        "unit": "lstm",
        "reverse_source": True,
        "decoder": "sutskever",
    },
    "luong": {
        "context": "general",
        "encoder": "forward",
        "unit": "lstm",
        "decoder": "luong",
    },
}
"""The models that have a name, as what each sets against the defaults.

`sutskever` and `luong` follow Sutskever et al. (2014) and the global model of Luong et al. (2015),
with one layer where the papers have four (`layers=4`), and with s_0 = tanh(W_s summary) as in all
models here, where the papers hand the encoder's last states over as they are.
"""

_TIED: dict[str, Any] = {"decoder": "conditional", "unit": "torch", "tying": "all"}

SIZES: dict[str, dict[str, Any]] = {
    "smoke": {"embedding": 32, "hidden": 32, "alignment": 32, "readout": 32},
    "cpu": {"dropout": 0.3},
    "gpu": {"hidden": 512, "alignment": 512, "dropout": 0.4},
    "quick": {**_TIED, "dropout": 0.1},
    "laptop": {**_TIED, "dropout": 0.2},
    "best": {**_TIED, "hidden": 384, "dropout": 0.3},
    "paper": {
        "embedding": 620,
        "hidden": 1000,
        "alignment": 1000,
        "readout": 500,
        "initialisation": "paper",
    },
}
"""Sizes by preset, as what each sets against the defaults. `paper` is Appendix A.2.3 to the
letter; `quick`, `laptop` and `best` go after the score on Multi30k, each in more time than the one
before; the others teach."""


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
    settings = {**SIZES[preset], **MODELS[model]}
    if preset == "paper" and model == "rnnencdec":
        settings["encoder"] = "forward"
    return ModelConfig(source_vocabulary, target_vocabulary, **{**settings, **changes})
