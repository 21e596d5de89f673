"""The translator of two numbers: every frame has what its record says, and no more."""

from itertools import combinations
from math import prod
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page

from tests.widgets.conftest import Open, values_of

START = values_of("tiny_translator")
SENTENCES: list[dict[str, Any]] = START["sentences"]
NAMES = [" ".join(sentence["source"][:-1]) for sentence in SENTENCES]
LAST = 5 + 2 + 4


def places(page: Page, plane: int) -> np.ndarray:
    """The states drawn in a plane, (n, 2); zero and the other sentences' ends are none."""
    dots = page.locator(".tiny-translator svg").nth(plane).locator("circle:not(.start, .other)")
    centres = dots.evaluate_all(
        "all => all.map(({cx, cy}) => [cx.baseVal.value, cy.baseVal.value])"
    )
    return (np.reshape(centres, (-1, 2)) - (160, 132)) / (100, -100)


def test_it_opens_on_the_first_sentence_translated(open_figure: Open) -> None:
    page = open_figure("tiny_translator")
    assert page.get_by_role("radio", name=NAMES[0]).is_checked()
    assert page.locator("output").inner_text() == f"frame {LAST} of {LAST}"
    assert page.locator(".tiny-written li").all_inner_texts() == [
        *("der\n0.9910", "Hund\n0.9905", "schläft\n0.9939", "</s>\n0.9928"),
        "product p\n0.9686",
    ]


@pytest.mark.parametrize("chosen", [0, 3])
def test_each_frame_adds_a_state_or_a_word(chosen: int, open_figure: Open) -> None:
    page, sentence = open_figure("tiny_translator"), SENTENCES[chosen]
    page.get_by_role("radio", name=NAMES[chosen]).check()
    for frame in range(LAST, -1, -1):
        page.get_by_role("slider", name="frames").fill(str(frame))
        read, step = min(frame, 5), frame - 7
        np.testing.assert_allclose(
            places(page, 0), np.reshape(sentence["read"][:read], (-1, 2)), atol=1e-6
        )
        expected = np.reshape(sentence["written"][: max(0, step + 1)], (-1, 2))
        np.testing.assert_allclose(places(page, 1), expected, atol=1e-6)
        for plane, states in ((0, read), (1, len(expected) - 1)):
            arrows = page.locator("svg").nth(plane).locator(".arrow")
            assert arrows.count() == max(0, states)

        factors = [
            (word, row[START["tokens"].index(word)])
            for word, row in zip(sentence["target"], sentence["probabilities"], strict=True)
        ][: max(0, step)]
        rows = [f"{word}\n{factor:.4f}" for word, factor in factors]
        rows += [f"product p\n{prod(factor for _, factor in factors):.4f}"] * (step > 0)
        assert page.locator(".tiny-written li").all_inner_texts() == rows
        shares = sentence["probabilities"][step - 1] if step > 0 else [0.0] * 7
        shown = page.locator(".share").all_text_contents()
        assert shown == [f"{share:.4f}" if step > 0 else "" for share in shares]
        widths = page.locator(".fill").evaluate_all(
            "bars => bars.map(bar => bar.getBoundingClientRect().width"
            " / bar.parentElement.getBoundingClientRect().width)"
        )
        np.testing.assert_allclose(widths, shares, atol=2e-3)
        lit = page.locator("li.chosen > span:first-child").all_text_contents()
        assert lit == sentence["target"][step - 1 : step] * (step > 0)


def test_each_frame_says_what_happened(open_figure: Open) -> None:
    page, said = open_figure("tiny_translator"), []
    for _ in range(LAST + 1):
        said.append(page.locator(".tiny-says").inner_text().replace("\u00a0", " "))
        page.get_by_role("button", name="one frame back").click()
    assert said[::-1] == [
        "Nothing is read yet: both numbers of the state are zero.",
        "“the” moves the state to h₁ = (−0.21, 0.07).",
        "“dog” moves the state to h₂ = (0.60, 0.78).",
        "“is” moves the state to h₃ = (−0.95, 0.25).",
        "“sleeping” moves the state to h₄ = (0.83, 0.32).",
        "“</s>” moves the state to h₅ = (−0.89, −0.77).",
        "The last state is the note, c = h₅ = (−0.89, −0.77). "
        "The decoder gets nothing else of the sentence.",
        "From c comes the decoder's first state, s₀ = (−0.91, −0.56).",
        "Step 1 reads s₀, c and <s>, and gives der 0.9910. It leaves s₁ = (0.99, −0.94).",
        "Step 2 reads s₁, c and der, and gives Hund 0.9905. It leaves s₂ = (−0.98, 0.68).",
        "Step 3 reads s₂, c and Hund, and gives schläft 0.9939. It leaves s₃ = (1.00, −0.99).",
        "Step 4 reads s₃, c and schläft, and gives </s> 0.9928. The translation is complete.",
    ]


BOXES = """all => all.map(text => {
    const {x, y, width, height} = text.getBBox();
    return [x, y + 0.2 * height, x + width, y + 0.8 * height];
})"""


def test_rings_show_where_other_known_sentences_end_and_no_label_lies_on_another(
    open_figure: Open,
) -> None:
    page = open_figure("tiny_translator")
    for chosen, name in enumerate(NAMES):
        page.get_by_role("radio", name=name).check()
        planes = page.locator(".tiny-translator svg")
        others = [one for k, one in enumerate(SENTENCES[:3]) if k != chosen]
        assert sorted(planes.first.locator("text.small").all_text_contents()) == sorted(
            ["start", *(f"{one['source'][1]} {one['source'][3]}" for one in others)]
        )
        assert page.locator("circle.other").count() == len(others)
        for plane in planes.all():
            boxes = plane.locator("g text").evaluate_all(BOXES)
            for (left, top, right, bottom), other in combinations(boxes, 2):
                assert right < other[0] or other[2] < left or bottom < other[1] or other[3] < top


def test_keys_step_choose_and_are_heard(open_figure: Open) -> None:
    page = open_figure("tiny_translator")
    page.get_by_role("radio", name=NAMES[0]).press("ArrowUp")  # round to the last
    assert page.get_by_role("radio", name=NAMES[3]).is_checked()
    page.get_by_role("button", name="next frame").press("ArrowLeft")
    assert page.locator("output").inner_text() == "frame 10 of 11"
    said = page.get_by_text("and gives schläft 0.9588").last
    page.get_by_text("The product is 0.9218.").wait_for(state="attached")
    assert said.get_attribute("aria-live") == "polite"
