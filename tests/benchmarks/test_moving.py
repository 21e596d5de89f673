"""The measurement of the moving figures: every figure, its largest data, steps that are steps."""

from itertools import pairwise

import pytest
from playwright.sync_api import Browser

from benchmarks.moving import WORDS, WORKLOADS, Workload, _row, stepper
from course_lib.widgets import FIGURES
from course_lib.widgets.modules import LIVE


def test_every_figure_is_measured() -> None:
    # What the live translator does is measured by itself: benchmarks/live.py.
    assert set(WORKLOADS) == set(FIGURES) - {LIVE}


@pytest.mark.parametrize("name", WORKLOADS)
def test_each_step_changes_a_value_that_the_figure_has(name: str) -> None:
    work = WORKLOADS[name]()
    widget = FIGURES[name].widget(**work.values)
    assert len(work.steps) >= 20
    for (trait, value), (other, before) in pairwise(reversed(work.steps)):
        assert (trait, value) != (other, before)
    for trait, value in work.steps[:40]:
        setattr(widget, trait, value)
        assert getattr(widget, trait) == value


def test_the_stepper_has_sixty_words_on_both_sides() -> None:
    [sentence] = stepper().values["sentences"]
    [model] = sentence["models"]
    assert len(sentence["source"]) == len(model["target"]) == len(model["alpha"]) == WORDS == 60
    assert all(sum(row) == pytest.approx(1, abs=0.03) for row in model["alpha"])


def test_a_step_that_costs_is_seen_to_cost(browser: Browser) -> None:
    work = WORKLOADS["attention_by_hand"]()
    cheap = Workload("one vector", work.values, work.steps[:20])
    row = _row(browser, "attention_by_hand", cheap, rounds=1)
    assert row["steps"] == 20
    assert row["drawn"] > 0
    assert 0 < row["step"] <= row["step_90"]
    assert row["processor"] > 0
