"""The figure of long sentences: the recorded numbers and translations are on the screen."""

from collections import Counter

import pytest
from playwright.sync_api import Page
from traitlets import TraitError

from course_lib.records import read_record
from course_lib.widgets import LongSentences
from course_lib.widgets.long_sentences import RUN_NAMES, start
from tests.widgets.conftest import Open


def choose(page: Page, place: int) -> None:
    page.get_by_role("slider", name="sentence").fill(str(place))


def test_every_sentence_stands_there_with_both_translations(open_figure: Open) -> None:
    page, values = open_figure("long_sentences"), start()
    for place, example in enumerate(values["examples"]):
        choose(page, place)
        shown = [" ".join(text.split()) for text in page.locator("dd").all_text_contents()]
        written = [example["written"][name] for name in RUN_NAMES]
        expected = [example["source"], example["reference"], *written]
        assert shown == [" ".join(text.split()) for text in expected]
        assert page.locator("output").inner_text() == f"{example['words']} words"


def test_what_the_reference_does_not_have_is_marked(open_figure: Open) -> None:
    page, values = open_figure("long_sentences"), start()
    for place, example in enumerate(values["examples"]):
        choose(page, place)
        for row, name in enumerate(RUN_NAMES, start=2):
            marked = page.locator("dd").nth(row).locator(".wrong").all_text_contents()
            words = Counter(example["written"][name].split(" "))
            assert Counter(marked) == words - Counter(example["reference"].split(" "))


def test_the_scores_of_its_length_are_the_records(open_figure: Open) -> None:
    page, values = open_figure("long_sentences"), start()
    records = {name: read_record(f"paper-figure-{model}") for name, model in RUN_NAMES.items()}
    for place, example in enumerate(values["examples"]):
        choose(page, place)
        said = page.locator(".explorer-where").inner_text()
        for name, record in records.items():
            [row] = [
                row
                for row in record["by_length"][:-1]
                if row["lower"] <= example["words"] <= row["upper"]
            ]
            assert f"{name} {row['mean']:.1f} BLEU" in said
            assert said.startswith(f"{row['sentences']} test sentences")


def test_the_curves_have_a_mark_in_each_range(open_figure: Open) -> None:
    page, values = open_figure("long_sentences"), start()
    assert page.locator(".explorer-chart .mark").count() == 2 * len(values["ranges"])
    for rows in values["curves"].values():
        assert all(row["low"] <= row["mean"] <= row["high"] for row in rows)


def test_a_sentence_that_is_not_there_is_refused() -> None:
    with pytest.raises(TraitError, match="at most"):
        LongSentences(chosen=99)
