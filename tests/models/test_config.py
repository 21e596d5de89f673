"""The configuration: what can be combined, and one clear line for what cannot."""

from dataclasses import fields, replace
from itertools import product
from typing import Any

import pytest
import torch

from course_lib.errors import CourseError
from course_lib.evaluation.forced import forced_alpha
from course_lib.models import MODELS, ModelConfig, assemble, build_model, model_config
from course_lib.models.build import DECODERS
from course_lib.models.config import CHOICES
from tests.models.tiny import PAIRS, batch_of

SIZES = {"embedding": 2, "hidden": 4, "alignment": 2, "readout": 2, "heads": 2}
# What decides whether a combination exists.
CROSSED = ("context", "decoder", "encoder", "unit")


def refusal(changes: dict[str, Any]) -> str:
    """The one line that a configuration is refused with."""
    with pytest.raises(CourseError) as caught:
        build_model(ModelConfig(9, 9, **{**SIZES, **changes}))
    line = str(caught.value)
    assert "\n" not in line
    assert line.endswith(".")
    assert len(line) < 300
    return line


def test_every_combination_is_a_model_or_is_refused_in_one_line() -> None:
    for values in product(*(CHOICES[name] for name in CROSSED)):
        settings = dict(zip(CROSSED, values, strict=True))
        looks_back = settings["decoder"] != "sutskever"
        # A dot product of n numbers and 2n is the only one that does not exist.
        if settings["context"].endswith("dot") and settings["encoder"] != "forward" and looks_back:
            line = refusal(settings)
            assert "context" in line
            assert "encoder" in line
        else:
            with torch.device("meta"):
                assemble(ModelConfig(9, 9, **SIZES, **settings))


@pytest.mark.parametrize(
    ("changes", "remedy"),
    [
        ({"context": "fixed", "window": 2}, "Take a context with attention"),
        ({"decoder": "sutskever", "window": 2}, "Take a context with attention"),
        ({"decoder": "conditional", "layers": 2}, "layers=1"),
        ({"encoder": "self-attention", "reverse_source": True}, "reverse_source=false"),
    ],
)
def test_parts_that_do_not_go_together_are_refused(changes: dict[str, Any], remedy: str) -> None:
    assert remedy in refusal(changes)


def test_every_decoder_has_its_name() -> None:
    assert tuple(DECODERS) == CHOICES["decoder"]


@pytest.mark.parametrize("name", CHOICES)
def test_a_name_that_is_not_known_lists_the_names_that_are(name: str) -> None:
    line = refusal({name: "cosine"})
    assert "cosine" in line
    assert all(choice in line for choice in (name, *CHOICES[name]))


NO_SIZES = [
    (field.name, value)
    for field, value in product(fields(ModelConfig), [0, -1, 1.5, "2", True, None])
    if field.type is int and (field.name, value) != ("window", 0)  # 0: no window
]


@pytest.mark.parametrize(("field", "value"), NO_SIZES, ids=str)
def test_a_size_that_is_no_size_is_refused_by_name(field: str, value: Any) -> None:
    with pytest.raises(CourseError, match=f"{field}={value!r}"):
        replace(ModelConfig(9, 9), **{field: value})


@pytest.mark.parametrize("dropout", [1.0, -0.1, float("nan"), float("inf")])
def test_dropout_is_a_share_below_one(dropout: float) -> None:
    assert "dropout" in refusal({"dropout": dropout})


def test_heads_have_to_share_the_annotation() -> None:
    line = refusal({"encoder": "self-attention", "heads": 3})
    assert line.endswith("Set heads to a divisor of 8: 1, 2, 4, 8.")


@pytest.mark.parametrize("name", MODELS)
def test_only_a_model_with_a_score_has_weights(name: str) -> None:
    model = build_model(model_config(name, "smoke", 9, 9))
    assert (model.config.score is None) == (forced_alpha(model, batch_of(PAIRS)) is None)


@pytest.mark.parametrize(
    ("name", "absent"),
    [
        ("sutskever", {"context": "dot"}),
        ("sutskever", {"context": "fixed", "alignment": 7}),
        ("rnnencdec", {"alignment": 7}),
        ("rnnsearch", {"heads": 3}),
    ],
)
def test_what_describes_an_absent_part_changes_nothing(name: str, absent: dict[str, Any]) -> None:
    with_it, without = (
        build_model(model_config(name, "smoke", 9, 9, **changes)) for changes in (absent, {})
    )
    weights = without.state_dict()
    assert with_it.state_dict().keys() == weights.keys()
    for weight, value in with_it.state_dict().items():
        assert torch.equal(value, weights[weight])


def test_unknown_models_and_presets_list_the_known() -> None:
    with pytest.raises(CourseError, match=r"rnnsearch.*rnnencdec"):
        model_config("transformer", "smoke", 9, 9)
    with pytest.raises(CourseError, match=r"smoke.*paper"):
        model_config("rnnsearch", "huge", 9, 9)


def test_a_configuration_is_its_plain_values() -> None:
    config = model_config("luong", "cpu", 20, 30, layers=2)
    assert ModelConfig(**config.to_dict()) == config
