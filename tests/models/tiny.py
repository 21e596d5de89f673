"""Tiny models of every kind, their weights large enough for every nonlinearity to matter."""

from dataclasses import asdict
from itertools import product
from typing import Any

import torch

from course_lib.corpora.batches import Batch, make_batch
from course_lib.corpora.vocabulary import EOS
from course_lib.models import EncoderDecoder, ModelConfig, build_model
from tests.reference.rnnsearch import Setting
from tests.reference.translator import SCORES, Choices

Pairs = list[tuple[list[int], list[int]]]

# Unequal lengths, so that every batch is padded on both sides; the unknown word is among them. The
# second target runs past the window of its source.
PAIRS: Pairs = [([4, 5, 6, 7, 3], [4, 5]), ([6], [6, 4, 5, 4]), ([3, 3, 8], [])]


def tiny_model(choices: Choices | Setting, seed: int = 0, **changes: Any) -> EncoderDecoder:
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
    return "forward" if context in ("dot", "scaled-dot") else "bidirectional"


def every_context() -> list[Choices]:
    """Every context in every scope that it can have, before, after and between updates."""
    looks = [*product(SCORES, ("global", "local-m", "local-p"))]
    return [
        Choices(
            context=context,
            scope=scope,
            window=2,
            order=order,
            reads="previous" if order == "before" else "current",
            encoder=encoder_for(context),
            unit="torch",
        )
        for order in ("before", "after", "between")
        for context, scope in [*looks, ("fixed", "global"), ("initial", "global")]
        if (context, order) != ("initial", "between")
    ]


def every_cell() -> list[Choices]:
    """Every unit in every recurrent encoder, in one layer and in two, and turned sources."""
    return [
        Choices(unit=unit, layers=layers, encoder=encoder, reverse_source=turned)
        for unit, layers, encoder, turned in product(
            ("tanh", "lstm", "torch", "paper"),
            (1, 2),
            ("bidirectional", "forward"),
            (False, True),
        )
    ]


def every_readout() -> list[Choices]:
    """Every t_i from each state it may read, before and after the update, and fed to the next."""
    return [
        Choices(output=output, reads=reads, order=order, input_feeding=feeding, unit="lstm")
        for output, reads, (order, feeding) in product(
            ("maxout", "tanh", "linear", "attentional"),
            ("previous", "current"),
            (("before", False), ("after", False), ("after", True), ("between", False)),
        )
        if (output, reads) != ("attentional", "previous")
    ]


def label(choices: Any) -> str:
    """A test's short name: what its model has that the paper's has not."""
    paper = asdict(Choices())
    changed = {name: value for name, value in asdict(choices).items() if value != paper[name]}
    words = [value if isinstance(value, str) else name for name, value in changed.items()]
    return "-".join(words) or "paper"
