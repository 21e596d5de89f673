"""Each number that a command takes has a range, and one outside it, or a word that means nothing,
is refused in one line."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from course_lib.cli import app
from course_lib.errors import CourseError
from course_lib.training import RunConfig
from course_lib.training.recipe import MOST_COUNTED, MOST_PENALTY
from course_lib.training.run_config import MOST_UNITS, SEEDS
from tests.conftest import Course

OF_CLASSES = (
    "release",
    "validate",
    "submit",
    "collect",
    "grade",
    "extend",
    "mark",
    "orals",
    "join",
)
"""Commands that take words in a class's folder alone, where their own tests are."""
WRITTEN = ("--out", "--web", "--save", "--qti", "--moodle")
"""Options that name what is to be written, which any word may."""


def options() -> Iterator[tuple[list[str], Any]]:
    """Every option of every command, with the words before it."""

    def walk(command: Any, words: list[str]) -> Iterator[tuple[list[str], Any]]:
        for name, one in getattr(command, "commands", {}).items():
            yield from walk(one, [*words, name])
        for option in getattr(command, "params", []):
            if option.name != "help":
                yield words, option

    yield from walk(typer.main.get_command(app), [])


NUMBERS = [one for one in options() if one[1].type_descriptor.annotation in (int, float)]
NAMES = [" ".join([*words, option.opts[0]]) for words, option in NUMBERS]


def test_there_are_such_options() -> None:
    assert {
        "translate --beam",
        "train --seed",
        "cost --tflops",
        "corpus show --n",
        "grade --jobs",
    } <= set(NAMES)
    found = {" ".join([*words, option.opts[0]]) for words, option in TEXTS}
    assert {"train --set", "cost --preset", "corpus check --encoding", "score --split"} <= found


@pytest.mark.parametrize(("words", "option"), NUMBERS, ids=NAMES)
@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
@given(beyond=st.integers(1, 10**30), above=st.booleans())
def test_a_number_out_of_range_is_refused(course: Course, words, option, beyond, above) -> None:
    value = option.max + beyond if above else option.min - beyond
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
        "grade": ["one"],
    }.get("" if "bench" in words else words[-1] if words else "", [])


TEXTS = [
    (words, option)
    for words, option in options()
    if words[:1] not in [[name] for name in OF_CLASSES]
    and option.opts[0].startswith("--")
    and option.opts[0] not in WRITTEN
    and option.type_descriptor.annotation in (str, list[str], Path)
]
WRONG = ("", "x", "\0", "a" * 300, "../x", "é=1", "hidden=", "=", "en-", "-en", "\ud800")


@pytest.mark.parametrize(
    ("words", "option"), TEXTS, ids=[" ".join([*words, one.opts[0]]) for words, one in TEXTS]
)
def test_a_word_that_means_nothing_is_refused(
    course: Course, words, option, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for side in ("en", "el"):
        lines = "".join(f"{side} {number}\n" for number in range(30))
        (tmp_path / f"train.{side}").write_text(lines)
    for value in WRONG:
        done = course(*words, *wanted(words, option.opts[0]), f"{option.opts[0]}={value}")
        assert done.refused(""), (value, done)
        assert done.out == ""


def wanted(words: list[str], asked: str) -> list[str]:
    """What a command cannot do without, apart from the option that is asked about."""
    text, pair = ["--corpus", "."], ["--pair", "en-el"]
    others = {
        "train": ["--out", "o", "--model", "rnnsearch", *text, *pair],
        "compare": ["--out", "o", *text, *pair],
        "score": ["nowhere", "--split", "test"],
        "align": ["nowhere", "--split", "test"],
        "cost": [*text, *pair],
        "show": [".", *pair],
        "check": [".", *pair],
    }.get(words[-1] if words and words[0] != "bench" else "", [])
    if asked not in others:
        return others
    place = others.index(asked)
    return others[:place] + others[place + 2 :]


@settings(max_examples=5, deadline=None)
@given(beyond=st.integers(1, 10**30))
@pytest.mark.parametrize(
    ("name", "most"),
    [
        *(
            (name, MOST_COUNTED)
            for name in ("epochs", "batch_size", "max_length", "warmup", "patience")
        ),
        *((name, MOST_COUNTED) for name in ("learning_rate", "clip")),
        ("length_penalty", MOST_PENALTY),
        *((name, MOST_UNITS) for name in ("hidden", "embedding", "alignment")),
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
