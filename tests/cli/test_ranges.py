"""Each number that a command takes has a range, and one outside it is refused in one line."""

from collections.abc import Iterator
from typing import Any

import pytest
import typer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from course_lib.cli import app
from course_lib.errors import CourseError
from course_lib.training import RunConfig
from course_lib.training.recipe import MOST, MOST_PENALTY
from course_lib.training.run_config import LARGEST, SEEDS
from tests.conftest import Course

OTHERS = ("release", "validate", "submit", "collect", "grade", "doctor")
"""Commands of classes, which have ranges of their own."""


def numbers() -> Iterator[tuple[list[str], Any]]:
    """Every option of the other commands that is a number, with the words before it."""

    def walk(command: Any, words: list[str]) -> Iterator[tuple[list[str], Any]]:
        for name, one in getattr(command, "commands", {}).items():
            if name not in OTHERS:
                yield from walk(one, [*words, name])
        for option in getattr(command, "params", []):
            if option.type_descriptor.annotation in (int, float):
                yield words, option

    yield from walk(typer.main.get_command(app), [])


NUMBERS = list(numbers())
NAMES = [" ".join([*words, option.opts[0]]) for words, option in NUMBERS]


def test_there_are_such_options() -> None:
    assert {"translate --beam", "train --seed", "cost --tflops", "corpus show --n"} <= set(NAMES)


@pytest.mark.parametrize(("words", "option"), NUMBERS, ids=NAMES)
@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
@given(beyond=st.integers(1, 10**30), above=st.booleans())
def test_a_number_out_of_range_is_refused(course: Course, words, option, beyond, above) -> None:
    least = option.min if option.min is not None else 1  # a beam says more than its least
    value = option.max + beyond if above else least - beyond
    done = course(*words, *needed(words), f"{option.opts[0]}={value}", stdin="")
    assert done.refused(option.opts[0])
    assert done.out == ""


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "x"])
def test_what_is_no_number_is_refused(course: Course, value: str) -> None:
    for words, option in NUMBERS:
        done = course(*words, *needed(words), f"{option.opts[0]}={value}", stdin="")
        assert done.refused(option.opts[0])


def needed(words: list[str]) -> list[str]:
    """What a command cannot do without."""
    return {
        "train": ["--out", "nowhere"],
        "compare": ["--corpus", "toy", "--out", "nowhere"],
        "score": ["nowhere", "--split", "test"],
        "translate": ["nowhere"],
        "show": ["toy"],
    }.get("" if "bench" in words else words[-1] if words else "", [])


@settings(max_examples=5, deadline=None)
@given(beyond=st.integers(1, 10**30))
@pytest.mark.parametrize(
    ("name", "most"),
    [
        *((name, MOST) for name in ("epochs", "batch_size", "max_length", "warmup", "patience")),
        *((name, MOST) for name in ("learning_rate", "clip")),
        ("length_penalty", MOST_PENALTY),
        *((name, LARGEST) for name in ("hidden", "embedding", "alignment")),
    ],
)
def test_a_setting_out_of_range_is_refused(name: str, most: int, beyond: int) -> None:
    with pytest.raises(CourseError, match=name):
        RunConfig("rnnsearch", "toy", changes={name: most + beyond})
    with pytest.raises(CourseError, match=name):
        RunConfig("rnnsearch", "toy", changes={name: -beyond})


@pytest.mark.parametrize("seed", [-1, SEEDS, 10**20, 1.5, "1"])
def test_a_seed_that_no_generator_takes_is_refused(seed: Any) -> None:
    with pytest.raises(CourseError, match="seed"):
        RunConfig("rnnsearch", "toy", seed=seed)
