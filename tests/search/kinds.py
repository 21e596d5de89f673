"""Kinds of models that a search must not tell apart: tiny, unlike in all their parts."""

from dataclasses import replace

from course_lib.models import RNNsearch
from tests.models.tiny import LUONG, SUTSKEVER, tiny_model
from tests.reference.translator import Choices

KINDS = {
    "rnnsearch": Choices(),
    "rnnencdec": Choices(context="fixed", unit="torch"),
    "sutskever": replace(SUTSKEVER, layers=2),
    "luong": LUONG,
    "conditional": Choices(decoder="conditional", unit="torch"),
    "layers": Choices(context="concat", window=1, unit="tanh", layers=2),
}
NAMES = list(KINDS)


def model_of(kind: str, seed: int = 0) -> RNNsearch:
    """A tiny model with 9 source and 7 target words, marks included."""
    return tiny_model(KINDS[kind], seed)
