"""The configuration: what can be combined, and one clear line for what cannot."""

from dataclasses import fields, replace
from itertools import product
from typing import Any

import pytest

from course_lib.errors import CourseError
from course_lib.models import MODELS, ModelConfig, build_model, model_config
from course_lib.models.config import CHOICES, SCORES, attends

SIZES = {"embedding": 2, "hidden": 4, "alignment": 2, "readout": 2, "heads": 2}
# What decides whether a combination exists.
CROSSED = ("context", "scope", "order", "encoder", "unit", "output", "reads")


def refusal(changes: dict[str, Any]) -> str:
    """The one line that a configuration is refused with."""
    with pytest.raises(CourseError) as caught:
        build_model(ModelConfig(9, 9, **{**SIZES, **changes}))
    line = str(caught.value)
    assert "\n" not in line
    assert line.endswith(".")
    assert len(line) < 300
    return line


def impossible(settings: dict[str, Any]) -> set[str]:
    """The fields that do not go together: a second opinion, from the definitions."""
    found: set[str] = set()
    without_attention = settings["context"] in ("fixed", "initial")
    if settings["scope"] != "global" and without_attention:
        found |= {"scope", "context"}  # nothing to narrow
    if settings["context"] == "initial" and settings["order"] == "between":
        found |= {"context", "order"}  # nothing between the two units
    if settings["input_feeding"] and settings["order"] != "after":
        found |= {"input_feeding", "order"}  # t_i waits for nothing but the look after the update
    if settings["context"] == "fixed" and settings["encoder"] == "self-attention":
        found |= {"context", "encoder"}  # no last forward state
    if settings["context"] in ("dot", "scaled-dot") and settings["encoder"] != "forward":
        found |= {"context", "encoder"}  # n against 2n
    if settings["output"] == "attentional" and settings["reads"] == "previous":
        found |= {"output", "reads"}  # the previous word would never be read
    return found


def test_every_combination_is_a_model_or_is_refused_in_one_line() -> None:
    refused = 0
    names = [*CROSSED, "input_feeding"]
    for values in product(*(CHOICES[name] for name in CROSSED), (False, True)):
        settings = dict(zip(names, values, strict=True))
        wrong = impossible(settings)
        if not wrong:
            ModelConfig(9, 9, **SIZES, **settings)
            continue
        refused += 1
        with pytest.raises(CourseError) as caught:
            ModelConfig(9, 9, **SIZES, **settings)
        line = str(caught.value)
        assert "\n" not in line
        assert line.endswith(".")
        named = [name for name in wrong if name in line]
        assert named, line
    assert refused > 1000


@pytest.mark.parametrize("name", CHOICES)
def test_a_name_that_is_not_known_lists_the_names_that_are(name: str) -> None:
    line = refusal({name: "cosine"})
    assert "cosine" in line
    assert all(choice in line for choice in (name, *CHOICES[name]))


@pytest.mark.parametrize(
    "field", [field.name for field in fields(ModelConfig) if field.type is int], ids=str
)
@pytest.mark.parametrize("value", [0, -1, 1.5, "2", True, None])
def test_a_size_that_is_no_size_is_refused_by_name(field: str, value: Any) -> None:
    with pytest.raises(CourseError, match=f"{field}={value!r}"):
        replace(ModelConfig(9, 9), **{field: value})


@pytest.mark.parametrize("dropout", [1.0, -0.1, float("nan"), float("inf")])
def test_dropout_is_a_share_below_one(dropout: float) -> None:
    assert "dropout" in refusal({"dropout": dropout})


def test_heads_have_to_share_the_annotation() -> None:
    line = refusal({"encoder": "self-attention", "heads": 3})
    assert "heads" in line
    assert "8" in line


def test_a_decoder_that_starts_from_nothing_needs_a_context() -> None:
    line = refusal({"context": "initial", "start": "zero"})
    assert "start=zero" in line
    ModelConfig(9, 9, **SIZES, context="fixed", start="zero")


@pytest.mark.parametrize("encoder", [e for e in CHOICES["encoder"] if e != "self-attention"])
def test_only_self_attention_has_positions_to_leave_out(encoder: str) -> None:
    line = refusal({"encoder": encoder, "positions": False})
    assert "positions=false" in line
    assert f"encoder={encoder}" in line
    for positions in (True, False):
        config = ModelConfig(9, 9, **SIZES, encoder="self-attention", positions=positions)
        assert build_model(config).encoder.rnn.positions is positions


@pytest.mark.parametrize("name", MODELS)
def test_a_named_model_is_what_its_paper_says(name: str) -> None:
    config = model_config(name, "smoke", 20, 20)
    expected = {
        "rnnsearch": {"context": "additive", "order": "before", "output": "maxout"},
        "rnnencdec": {"context": "fixed", "order": "before", "output": "maxout"},
        "sutskever": {"context": "initial", "unit": "lstm", "output": "linear", "reads": "current"},
        "luong": {"context": "general", "order": "after", "input_feeding": True},
    }[name]
    for field, value in expected.items():
        assert getattr(config, field) == value
    assert attends(name) == (config.context in SCORES)


def test_a_named_models_context_stays_of_its_kind() -> None:
    assert model_config("rnnsearch", "smoke", 9, 9, context="general").context == "general"
    for name, context in [("rnnsearch", "fixed"), ("luong", "initial"), ("rnnencdec", "additive")]:
        with pytest.raises(CourseError, match="context"):
            model_config(name, "smoke", 9, 9, context=context)


def test_unknown_models_and_presets_list_the_known() -> None:
    with pytest.raises(CourseError, match=r"rnnsearch.*rnnencdec"):
        model_config("transformer", "smoke", 9, 9)
    with pytest.raises(CourseError, match=r"smoke.*paper"):
        model_config("rnnsearch", "huge", 9, 9)


def test_the_two_models_differ_in_the_context_object_alone() -> None:
    search = build_model(model_config("rnnsearch", "smoke", 20, 20))
    encdec = build_model(model_config("rnnencdec", "smoke", 20, 20))
    assert search.config == replace(encdec.config, context="additive")
    kinds = {
        name: type(module)
        for name, module in search.named_modules()
        if not name.startswith("decoder.context.")
    }
    others = {name: type(module) for name, module in encdec.named_modules()}
    assert {name for name in kinds if kinds[name] is not others[name]} == {"decoder.context"}


def test_a_configuration_is_its_plain_values() -> None:
    config = model_config("luong", "cpu", 20, 30, layers=2)
    assert ModelConfig(**config.to_dict()) == config
