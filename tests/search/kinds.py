"""Kinds of models that a search must not tell apart: tiny, of unlike contexts, orders and units."""

from dataclasses import replace

from tests.models.test_against_reference import LUONG, SUTSKEVER
from tests.models.tiny import decoder_of, tiny_model
from tests.reference.translator import Choices

KINDS = {
    "rnnsearch": Choices(),
    "rnnencdec": Choices(context="fixed", unit="torch"),
    "sutskever": replace(SUTSKEVER, layers=2),
    "luong": LUONG,
    "conditional": decoder_of("conditional", unit="torch", layers=2),
    "monotonic": decoder_of(
        "luong-unfed", context="concat", scope="local-m", window=1, unit="tanh"
    ),
}
NAMES = list(KINDS)


def model_of(kind: str, seed: int = 0):
    """A tiny model with 9 source and 7 target words, marks included."""
    return tiny_model(KINDS[kind], seed)
