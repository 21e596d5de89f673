"""Kinds of models that a search must not tell apart: tiny, of unlike contexts, orders and units."""

from tests.models.tiny import tiny_model
from tests.reference.translator import Choices

KINDS = {
    "rnnsearch": Choices(),
    "rnnencdec": Choices(context="fixed", unit="torch"),
    "sutskever": Choices(
        context="initial",
        encoder="forward",
        unit="lstm",
        layers=2,
        reverse_source=True,
        output="linear",
    ),
    "luong": Choices(
        context="general",
        scope="local-p",
        window=2,
        order="after",
        input_feeding=True,
        output="attentional",
        reads="current",
        unit="lstm",
        layers=2,
        encoder="forward",
        reverse_source=True,
    ),
    "conditional": Choices(order="between", reads="current", unit="torch", layers=2),
    "monotonic": Choices(context="concat", scope="local-m", window=1, order="after", unit="tanh"),
}
NAMES = list(KINDS)


def model_of(kind: str, seed: int = 0):
    """A tiny model with 9 source and 7 target words, marks included."""
    return tiny_model(KINDS[kind], seed)
