"""Tiny models of every kind, their weights large enough for every nonlinearity to matter."""

from dataclasses import asdict
from itertools import cycle, product
from typing import Any

import torch
from course_lib.models.old_settings import OF_THE_DECODER
from torch import Tensor

from course_lib.corpora.batches import Batch, make_batch
from course_lib.corpora.vocabulary import EOS
from course_lib.models import ModelConfig, RNNsearch, build_model
from tests.reference.translator import SCORES, Choices

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
    config = ModelConfig(9, 7, **{**sizes, **settings_of(choices), **changes})
    model = build_model(config, seed).double().eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.7, generator=generator)
    return model


DECODERS: dict[str, dict[str, Any]] = {
    "paper": {},
    "luong": {
        **{"order": "after", "input_feeding": True, "output": "attentional", "reads": "current"}
    },
    "conditional": {"order": "between", "reads": "current"},
    "sutskever": {"context": "initial", "output": "linear", "reads": "current"},
    "luong-unfed": {"order": "after", "output": "attentional", "reads": "current"},
    "paper-reads-new-state": {"reads": "current"},
    "paper-tanh-readout": {"output": "tanh"},
    "paper-linear-readout": {"output": "linear"},
    "paper-asks-after": {"order": "after", "reads": "current"},
    "paper-starts-at-zero": {"start": "zero"},
    "conditional-reads-old-state": {"order": "between"},
}
"""What the equations of each decoder choose otherwise than the paper's."""


def decoder_of(name: str, **others: Any) -> Choices:
    """The equations of a decoder."""
    return Choices(**{**others, **DECODERS[name]})


def settings_of(choices: Choices) -> dict[str, Any]:
    """The library's settings for the model of these equations."""
    settings = asdict(choices)
    plain = asdict(Choices())
    of_decoder = {name: settings.pop(name) for name in OF_THE_DECODER}
    (settings["decoder"],) = (
        name
        for name, chosen in DECODERS.items()
        if of_decoder == {key: chosen.get(key, plain[key]) for key in of_decoder}
    )
    scope = settings.pop("scope")
    if choices.context == "initial":
        del settings["context"]
    elif scope != "global":
        settings["context"] = f"{scope}-{settings['context']}"
    return settings


def with_end(pairs: Pairs) -> Pairs:
    """The same pairs with the end marks that batches add on both sides."""
    return [([*source, EOS], [*target, EOS]) for source, target in pairs]


def batch_of(pairs: Pairs) -> Batch:
    return make_batch(pairs, range(len(pairs)))


def encoder_for(context: str) -> str:
    """Plain dot products need annotations as wide as the state."""
    return "forward" if context.endswith("dot") else "bidirectional"


def every_context() -> list[Choices]:
    """Every context in every scope that it can have, with the three decoders in turn."""
    looks = [*product(SCORES, ("global", "local-m", "local-p")), ("fixed", "global")]
    turns = cycle(("paper", "luong", "conditional", "luong-unfed"))
    return [
        decoder_of(
            decoder, context=context, scope=scope, window=2, encoder=encoder_for(context),
            unit="torch",
        )
        for (context, scope), decoder in zip(looks, turns, strict=False)
    ] + [decoder_of("sutskever", unit="torch")]  # fmt: skip


def every_cell() -> list[Choices]:
    """Every unit in every recurrent encoder, in one layer and in two, and turned sources."""
    return [
        Choices(unit=unit, layers=layers, encoder=encoder, reverse_source=layers == 2)
        for unit, (encoder, layers) in product(
            ("tanh", "lstm", "torch", "paper"), (("bidirectional", 1), ("forward", 2))
        )
    ]


def every_decoder() -> list[Choices]:
    """Every decoder, with a unit that has a cell."""
    return [decoder_of(decoder, unit="lstm", layers=2) for decoder in DECODERS]


def label(choices: Any) -> str:
    """A test's short name: what its model has that the paper's has not."""
    paper = asdict(Choices())
    changed = {name: value for name, value in asdict(choices).items() if value != paper[name]}
    words = [value if isinstance(value, str) else name for name, value in changed.items()]
    return "-".join(words) or "paper"
