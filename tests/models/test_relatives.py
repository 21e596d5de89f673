"""Each relative replaces the part that it says, and every other part is RNNsearch's."""

from typing import Any

import pytest
import torch
from torch import nn

from course_lib.models import Attention, Decoder, RNNsearch, assemble, model_config
from course_lib.models.scores import ConcatAttention, DotAttention, GeneralAttention
from course_lib.models.units import show_last
from tests.models.tiny import PAIRS, batch_of, tiny_model
from tests.reference.translator import Choices

ENCODER_UNITS = {"encoder.ahead", "encoder.back"}
RELATIVES: dict[str, tuple[dict[str, Any], set[str]]] = {
    # One class in the place of attention; c has n numbers where it had 2n.
    "rnnencdec": ({"context": "fixed"}, {"attention", "C", "C_o"}),
    "concat": ({"context": "concat"}, {"attention"}),
    "general": ({"context": "general"}, {"attention"}),
    "a window": ({"window": 3}, {"attention"}),
    "torch's unit": ({"unit": "torch"}, {"rnn", "ahead", "back", "unit"}),
    "tanh": ({"unit": "tanh"}, {"rnn", "ahead", "back", "unit", "C"}),
    # Its state has a cell beside it, which s_0 has to begin.
    "lstm": ({"unit": "lstm"}, {"rnn", "ahead", "back", "unit", "C", "W_s"}),
    "layers": ({"layers": 2}, {"units", "ahead", "back", "unit", "W_s"}),
    # Annotations have n numbers where they had 2n.
    "forward": ({"encoder": "forward"}, {"units", "ahead", "back", "attention", "C", "C_o"}),
    "self-attention": ({"encoder": "self-attention"}, {"layers", "ahead", "back", "W_s"}),
    "reversed": ({"reverse_source": True}, {"units", "ahead", "back"}),
    "conditional": ({"decoder": "conditional"}, {"second", "C"}),
    "luong": ({"decoder": "luong"}, {"F", "C", "U_o", "C_o", "V_o"}),
    "sutskever": ({"decoder": "sutskever"}, {"attention", "C", "U_o", "C_o", "V_o"}),
    "one table": ({"tying": "output"}, set()),
}


def parts(model: RNNsearch) -> dict[str, tuple[type, list[torch.Size]]]:
    """What encoder and decoder are made of: kinds and shapes of weights."""
    return {
        name: (type(module), [weight.shape for weight in module.parameters()])
        for half in (model.encoder, model.decoder)
        for name, module in half.named_children()
    }


@pytest.mark.parametrize("name", RELATIVES)
def test_a_relative_replaces_only_the_part_it_says(name: str) -> None:
    changes, replaced = RELATIVES[name]
    with torch.device("meta"):
        plain, relative = (
            parts(assemble(model_config("rnnsearch", "smoke", 9, 9, **settings)))
            for settings in ({}, changes)
        )
    found = {part for part in plain | relative if plain.get(part) != relative.get(part)}
    assert found == replaced


@pytest.mark.parametrize("kind", [ConcatAttention, DotAttention, GeneralAttention])
def test_a_score_has_keys_and_energies_of_its_own_and_nothing_else(kind: type[Attention]) -> None:
    own = {name for name in vars(kind) if not name.startswith("__")}
    assert own == {"keys", "energies"}
    assert kind.forward is Attention.forward


def test_a_window_wider_than_the_sentence_is_no_window() -> None:
    """Every word is near, and the bump is flat."""
    plain = tiny_model(Choices())
    wide = tiny_model(Choices(window=10**6))
    wide.decoder.attention.attention.load_state_dict(plain.decoder.attention.state_dict())
    rest = {
        name: weight
        for name, weight in plain.state_dict().items()
        if not name.startswith("decoder.attention.")
    }
    wide.load_state_dict(rest, strict=False)
    found, expected = (model.loss(batch_of(PAIRS))[0] for model in (wide, plain))
    torch.testing.assert_close(found, expected, atol=1e-9, rtol=0)


def test_the_paper_is_the_default() -> None:
    """RNNsearch is the plain file, without a relative in it."""
    with torch.device("meta"):
        model = assemble(model_config("rnnsearch", "paper", 9, 9))
    homes = {type(module).__module__ for module in model.modules()}
    assert {home for home in homes if home.startswith("course_lib")} == {
        "course_lib.models.rnnsearch"
    }
    assert type(model.decoder) is Decoder


def test_what_reads_a_state_sees_the_top_layer_without_its_cell() -> None:
    linear = nn.Linear(3, 2)
    state = torch.randn(5, 12)
    expected = linear(state[:, -3:])
    show_last(linear, 3)
    assert torch.equal(linear(state), expected)
    assert torch.equal(linear(state[:, -3:]), expected)
