"""Settings that were recorded mean today what they meant then."""

import pytest
from course_lib.models.old_settings import (
    DECODERS,
    GONE,
    OF_THE_DECODER,
    check_nothing_gone,
    renamed,
    renamed_record,
)

from course_lib.errors import CourseError
from course_lib.models import ModelConfig, model_config
from course_lib.models.config import CHOICES
from tests.models import tiny


def test_every_decoder_has_its_old_settings() -> None:
    assert set(DECODERS.values()) == set(CHOICES["decoder"])
    for five, name in DECODERS.items():
        old = dict(zip(OF_THE_DECODER, five, strict=True))
        assert renamed(old)["decoder"] == name
        equations = tiny.decoder_of(name)
        assert old == {choice: getattr(equations, choice) for choice in OF_THE_DECODER}


def test_todays_settings_stay_as_they_are() -> None:
    for settings in (ModelConfig(9, 9).to_dict(), model_config("luong", "best", 9, 9).to_dict()):
        assert renamed(settings) == settings


def test_a_change_is_one_to_what_the_preset_had() -> None:
    assert renamed({"order": "before"}, "rnnsearch", "laptop") == {
        "decoder": "paper-reads-new-state"
    }
    assert renamed({"order": "between"}, "rnnsearch", "laptop") == {}
    assert renamed({"order": "between", "reads": "current"}, "rnnsearch", "cpu") == {
        "decoder": "conditional"
    }
    assert renamed({"input_feeding": False, "hidden": 9}, "luong", "cpu") == {
        "decoder": "luong-unfed",
        "hidden": 9,
    }


def test_scope_and_positions_are_part_of_context_and_encoder() -> None:
    assert renamed({"scope": "local-p", "context": "general"})["context"] == "local-p-general"
    assert renamed({"scope": "local-m"}, "luong", "cpu")["context"] == "local-m-general"
    assert renamed({"encoder": "self-attention", "positions": False}) == {
        "encoder": "self-attention-without-positions"
    }
    assert renamed({"scope": "global", "positions": True, "dropout_readout": None}) == {}


def test_no_context_was_a_context() -> None:
    assert renamed({"decoder": "sutskever", "context": "initial"}) == {"decoder": "sutskever"}
    old = {"order": "before", "output": "linear", "reads": "current", "context": "initial"}
    assert renamed(old) == {"decoder": "sutskever"}
    assert renamed({"context": "initial"}, "sutskever", "cpu") == {}


@pytest.mark.parametrize(
    "settings", [{"order": "after", "output": "tanh"}, {"context": "initial", "hidden": 9}]
)
def test_a_decoder_that_is_gone_is_said(settings: dict[str, object]) -> None:
    with pytest.raises(CourseError, match="no longer"):
        renamed(settings)


@pytest.mark.parametrize("table", ["model_config", "recipe", "changes"])
def test_a_training_that_asked_for_what_is_gone_is_not_gone_on_with(table: str) -> None:
    for name, nothing in GONE.items():
        check_nothing_gone({table: {name: nothing, "hidden": 9}})
        assert renamed_record({table: {name: nothing, "hidden": 9}}) == {table: {"hidden": 9}}
        with pytest.raises(CourseError, match=f"no longer has {name}"):
            check_nothing_gone({table: {name: 0.1}})


def test_a_record_is_renamed_where_it_has_settings() -> None:
    record = {"model": "rnnsearch", "preset": "cpu", "seed": 1, "changes": {"reads": "current"}}
    assert renamed_record(record) == {**record, "changes": {"decoder": "paper-reads-new-state"}}
    assert renamed_record({"seed": 2}) == {"seed": 2}
