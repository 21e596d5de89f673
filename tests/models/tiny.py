"""Tiny models of every kind, their weights large enough for every nonlinearity to matter."""

from dataclasses import asdict, replace
from itertools import cycle, product
from typing import Any

import torch
from torch import Tensor

from course_lib.corpora.batches import Batch, make_batch
from course_lib.corpora.vocabulary import EOS
from course_lib.models import ModelConfig, RNNsearch, build_model
from course_lib.models.config import CHOICES
from tests.reference.translator import DECODERS, SCORES, Choices

Pairs = list[tuple[list[int], list[int]]]

# Unequal lengths, so that every batch is padded on both sides; the unknown word is among them. The
# second target runs past the window of its source.
PAIRS: Pairs = [([4, 5, 6, 7, 3], [4, 5]), ([6], [6, 4, 5, 4]), ([3, 3, 8], [])]


def random(*shape: int, seed: int = 0, grad: bool = False) -> Tensor:
    """Numbers from N(0, 1) in double precision."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, dtype=torch.double, generator=generator).requires_grad_(grad)


def tiny_model(choices: Choices, seed: int = 0, **changes: Any) -> RNNsearch:
    """A model of odd sizes in double precision; its weights come from N(0, 0.7^2)."""
    sizes = {"embedding": 3, "hidden": 4, "alignment": 5, "readout": 2, "heads": 2}
    config = ModelConfig(9, 7, **{**sizes, **asdict(choices), **changes})
    model = build_model(config, seed).double().eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.7, generator=generator)
    return model


def with_end(pairs: Pairs) -> Pairs:
    """The same pairs with the end marks that batches add on both sides."""
    return [([*source, EOS], [*target, EOS]) for source, target in pairs]


def batch_of(pairs: Pairs) -> Batch:
    return make_batch(pairs, range(len(pairs)))


def encoder_for(context: str) -> str:
    """Plain dot products need annotations as wide as the state."""
    return "forward" if context.endswith("dot") else "bidirectional"


def every_context() -> list[Choices]:
    """Every score with and without a window, and no score, with three decoders in turn."""
    looks = [*product(SCORES, (0, 2)), ("fixed", 0)]
    return [
        Choices(context, window, decoder, encoder=encoder_for(context))
        for (context, window), decoder in zip(
            looks, cycle(("paper", "luong", "conditional")), strict=False
        )
    ] + [Choices(decoder="sutskever")]


def every_cell() -> list[Choices]:
    """Every unit in every recurrent encoder, in one layer and in two, and reversed sources."""
    return [
        Choices(unit=unit, layers=layers, encoder=encoder, reverse_source=layers == 2)
        for unit, (encoder, layers) in product(
            CHOICES["unit"], (("bidirectional", 1), ("forward", 1), ("bidirectional", 2))
        )
    ]


def every_decoder() -> list[Choices]:
    """Every decoder with a unit that has a cell, in layers where it can have them."""
    return [
        Choices(decoder=decoder, unit="lstm", layers=1 if decoder == "conditional" else 2)
        for decoder in DECODERS
    ]


# As their papers describe them, but for the size.
RNNENCDEC = Choices(context="fixed", encoder="forward")
SUTSKEVER = Choices(
    decoder="sutskever", encoder="forward", unit="lstm", layers=4, reverse_source=True
)
LUONG = Choices(
    "general", 2, "luong", unit="lstm", layers=2, encoder="forward", reverse_source=True
)
EVERYTHING = [*every_context(), *every_cell(), *every_decoder(), RNNENCDEC, SUTSKEVER, LUONG]
SELF_ATTENTIVE = [
    replace(choices, encoder="self-attention")
    for choices in (
        Choices(),
        Choices(context="fixed"),
        Choices(decoder="luong", unit="lstm"),
        replace(SUTSKEVER, reverse_source=False),
    )
]


def label(choices: Any) -> str:
    """A test's short name: what its model has that the paper's has not."""
    paper = asdict(Choices())
    changed = {name: value for name, value in asdict(choices).items() if value != paper[name]}
    words = [value if isinstance(value, str) else name for name, value in changed.items()]
    return "-".join(words) or "paper"
