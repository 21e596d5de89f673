"""What a pronoun stands for: the screen has the record's numbers, whatever words are chosen."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page

from course_lib.widgets import Antecedent
from tests.widgets.conftest import Open, values_of

START = values_of("antecedent")
GENDERS = {"der": "er", "die": "sie", "das": "es"}


def choose(page: Page, group: str, name: str) -> None:
    page.get_by_role("group", name=group).get_by_role("button", name=name).click()


def texts(page: Page, selector: str) -> list[str]:
    return page.locator(f".antecedent {selector}").all_text_contents()


def test_every_sentence_shows_what_was_recorded(open_figure: Open) -> None:
    page = open_figure("antecedent")
    for animal, thing, adjective in product(START["animals"], START["things"], START["adjectives"]):
        choose(page, "animal", animal)
        choose(page, "thing", thing)
        choose(page, "adjective", adjective)
        for first, nouns in (("animal", (animal, thing)), ("thing", (thing, animal))):
            choose(page, "first noun", first)
            words = "the {} stayed beside the {} because it was".format(*nouns).split()
            words.append(adjective)
            assert texts(page, "text.word") == words
            assert texts(page, "text.asker") == [adjective]
            reading = START["readings"][" ".join(words)]
            weights = np.array(reading["weights"])
            assert texts(page, "text.weight") == [f"{w:.2f}" for w in weights if w >= 0.05]
            lines = page.locator(".antecedent .weighs").evaluate_all(
                "all => all.map(one => [one.getAttribute('stroke-width'),"
                " one.getAttribute('opacity')].map(Number))"
            )
            np.testing.assert_allclose(
                lines, np.stack([1 + 13 * weights, 0.35 + 0.65 * weights], 1)
            )
            shares = reading["probabilities"]
            assert texts(page, ".share") == [f"{share:.2f}" for share in shares]
            widths = page.locator(".antecedent .fill").evaluate_all(
                "bars => bars.map(bar => bar.getBoundingClientRect().width"
                " / bar.parentElement.getBoundingClientRect().width)"
            )
            assert widths == pytest.approx(shares, abs=5e-3)

            noun = animal if adjective == "hungry" else thing
            german = {**START["animals"], **START["things"]}[noun]
            right = GENDERS[german.split()[0]]
            assert texts(page, "li > span:first-child") == [
                f"{pronoun} ✓" if pronoun == right else pronoun for pronoun in ("er", "sie", "es")
            ]
            assert german in texts(page, ".meant")[0]
            assert texts(page, ".pair")[0].startswith("Held out") == reading["held_out"]
            outline = page.locator(".antecedent .outline").bounding_box()
            word = page.locator(".antecedent text.word").nth(words.index(noun)).bounding_box()
            assert outline is not None
            assert word is not None
            assert outline["y"] < word["y"] + word["height"] / 2 < outline["y"] + outline["height"]


def test_what_is_recorded_are_weights_and_probabilities() -> None:
    sizes = [len(START[name]) for name in ("animals", "things", "adjectives")]
    assert len(START["readings"]) == 2 * np.prod(sizes)
    for reading in START["readings"].values():
        for numbers, count in ((reading["weights"], 10), (reading["probabilities"], 3)):
            assert len(numbers) == count
            assert min(numbers) >= 0
            assert sum(numbers) == pytest.approx(1, abs=1e-4)


def test_it_opens_on_the_dog_and_keys_exchange_words(open_figure: Open) -> None:
    page = open_figure("antecedent")
    assert texts(page, "text.word.strong") == ["dog"]
    page.get_by_role("button", name="cat").press("Enter")
    page.get_by_role("button", name="wooden").press("Space")
    assert page.get_by_role("button", name="cat").get_attribute("aria-pressed") == "true"
    assert page.get_by_role("button", name="dog").get_attribute("aria-pressed") == "false"
    said = "wooden looks most at door, 1.00. er 0.00, sie 1.00, es 0.00."
    page.locator(".moving-said", has_text=said).wait_for()


@pytest.mark.parametrize("wrong", [{"animal": "door"}, {"thing": "dog"}, {"adjective": "red"}])
def test_words_that_were_not_recorded_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(Exception, match=f"{next(iter(wrong))} is one of"):
        Antecedent(**{**START, **wrong})
