"""Reading and writing: every frame has what the record says, and no more."""

from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page

from course_lib.widgets import ReadWrite
from tests.widgets.conftest import Open, values_of

START = values_of("read_write")
SENTENCES: list[dict[str, Any]] = START["sentences"]
NAMES = [" ".join(sentence["source"][:-1]) for sentence in SENTENCES]
LASTS = [12, 20]


def states(page: Page, role: str) -> np.ndarray:
    """The numbers of the states of a role that can be seen, (states, 64), from their cells."""
    cells = page.locator(f".role-{role}:not(.later) > .state > :is(.above, .below)")
    numbers = cells.evaluate_all(
        "all => all.map(one => (one.classList.contains('below') ? -1 : 1)"
        " * one.getAttribute('fill-opacity') ** 2)"
    )
    return np.reshape(numbers, (-1, 64))


def words(page: Page, *roles: str) -> list[str]:
    """The words of these roles that can be seen."""
    shown = ", ".join(f".role-{role}:not(.later) > text:not(.name, .count)" for role in roles)
    return page.locator(shown).all_text_contents()


@pytest.mark.parametrize("chosen", range(2))
def test_each_frame_adds_a_state_or_a_word(chosen: int, open_figure: Open) -> None:
    page, sentence, last = open_figure("read_write"), SENTENCES[chosen], LASTS[chosen]
    source, target, right = (sentence[key] for key in ("source", "target", "right"))
    assert page.get_by_role("radio", name=NAMES[1]).is_checked()
    page.get_by_role("radio", name=NAMES[chosen]).check()
    assert page.locator("output").inner_text() == f"frame {last} of {last}"
    for frame in range(last, -1, -1):
        page.get_by_role("slider", name="frames").fill(str(frame))
        past, step = frame - len(source), max(0, frame - len(source) - 2)
        for role, expected in {
            "annotation": sentence["read"][:frame],
            "context": sentence["read"][-1:] * (past > 0),
            "state": sentence["written"][: max(0, past - 1)],
        }.items():
            np.testing.assert_allclose(
                states(page, role), np.reshape(expected, (-1, 64)), atol=1e-9
            )
        assert words(page, "ink") == source[:frame]
        assert words(page, "word", "wrong") == ["<s>", *target[:step]] * (step > 0)
        wrong = [word for word, other in zip(target[:step], right, strict=False) if word != other]
        assert words(page, "wrong") == wrong
        assert page.locator(".role-wrong:not(.later) > path").count() == len(wrong)
        assert words(page, "quiet") == ["right:", *right[:step]] * (step > 0)
        ways = [
            page.locator(f".role-{role}.now > .way").count()
            for role in ("context", "state", "word")
        ]
        assert ways == ([1, 1, 2] if step else [int(past > 0), 0, 0])
        assert page.locator(".count").is_visible() == (frame == last)
    assert page.locator(".count").text_content() == f"4 of {len(right) - 1} words right"


def test_each_frame_says_what_happened(open_figure: Open) -> None:
    page, said = open_figure("read_write"), []
    for _ in range(LASTS[1] + 1):
        said.append(page.locator(".read-write-says").inner_text())
        page.get_by_role("button", name="one frame back").click()
    assert said[::-1][:3] == [
        "Nothing is read yet.",
        "Reading “go”: h₁ is made from the word; nothing was read before.",
        "Reading “mi”: h₂ is made from the word and h₁.",
    ]
    assert said[::-1][9:] == [
        "Reading “</s>”: h₉ is made from the word and h₈.",
        "The last state is the note, c: all that the decoder gets to know of the sentence.",
        "The decoder's first state, s₀, is made from c.",
        "Step 1 reads s₀, c and the word before, “<s>”. It writes “go” and leaves s₁.",
        "Step 2 reads s₁, c and the word before, “go”. It writes “mi” and leaves s₂.",
        "Step 3 reads s₂, c and the word before, “mi”. It writes “mo” and leaves s₃.",
        *(
            f"Step {i} reads s{'₀₁₂₃₄₅₆₇₈₉'[i - 1]}, c and the word before, “{before}”. It writes "
            f"“{word}” and leaves s{'₀₁₂₃₄₅₆₇₈₉'[i]}{remark}."
            for i, before, word, remark in (
                (4, "mo", "mu", "; right would be “ke”"),
                (5, "mu", "fu", "; right would be “bi”"),
                (6, "fu", "la", "; right would be “fe”"),
                (7, "la", "ti", ""),
                (8, "ti", "re", "; right would be “ra”"),
                (9, "re", "</s>", ""),
            )
        ),
    ]


def test_keys_step_choose_and_are_heard(open_figure: Open) -> None:
    page = open_figure("read_write")
    page.get_by_text("leaves s₉. 4 of 8 words are right.").wait_for(state="attached")
    page.get_by_role("button", name="next frame").press("ArrowLeft")
    assert page.locator("output").inner_text() == "frame 19 of 20"
    page.get_by_role("radio", name=NAMES[1]).press("ArrowUp")
    assert page.get_by_role("radio", name=NAMES[0]).is_checked()
    said = page.get_by_text("leaves s₅. 4 of 4 words are right.")
    said.wait_for(state="attached")
    assert said.get_attribute("aria-live") == "polite"


def test_a_shorter_sentence_has_fewer_frames() -> None:
    figure = ReadWrite(**START)
    figure.chosen = 0
    assert figure.frame == figure.last == LASTS[0]
