"""Three words that look at each other: the screen has NumPy's numbers, at every setting."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page

from tests.widgets.conftest import Open

WORDS = np.array([[1, 0], [0, 1], [1, 1]])
QUERIES, KEYS, VALUES = (
    np.array([[1, 1], [0, 0], [1, 1]]),
    np.array([[-1, 0], [0, 1], [-1, 1]]),
    np.array([[0, 0], [0, 1], [0, 1]]),
)
NAMES = ("the", "dog", "sleeps")
BOXES_AND_NUMBERS = """all => all.flatMap((one) => {
    const wide = (part) => part.getBoundingClientRect().width;
    const numbers = one.querySelectorAll("text");
    return [...one.querySelectorAll("rect")].map((box, k) => [wide(box), wide(numbers[k])]);
})"""
STEPS = ("score", "normalise", "aggregate")


def by_hand(matrices: bool) -> tuple[Any, Any, Any]:
    """Energies, weights and contexts, word by word, as with a pencil."""
    queries, keys, values = (QUERIES, KEYS, VALUES) if matrices else (WORDS, WORDS, WORDS)
    energies, weights, contexts = np.zeros((3, 3)), np.zeros((3, 3)), np.zeros((3, 2))
    for i in range(3):
        for j in range(3):
            energies[i, j] = sum(queries[i] * keys[j]) / 2**0.5
        for j in range(3):
            weights[i, j] = np.exp(energies[i, j]) / sum(np.exp(energies[i]))
            contexts[i] += weights[i, j] * values[j]
    return energies, weights, contexts


def texts(page: Page, selector: str) -> list[str]:
    return page.locator(f".self-attention {selector}").all_text_contents()


def printed(numbers: Any) -> list[str]:
    return [f"{number:.2f}" for number in numbers]


def test_every_setting_shows_what_a_pencil_finds(open_figure: Open) -> None:
    page = open_figure("self_attention")
    page.get_by_text("Change the matrices").click()
    asked = {0}  # it opens on the first word's average
    for matrices in (True, False):
        page.get_by_label("three matrices").set_checked(matrices)
        energies, weights, contexts = by_hand(matrices)
        for i, (k, step) in product(range(3), enumerate(STEPS)):
            page.get_by_role("button", name=NAMES[i], exact=True).click()
            page.get_by_role("button", name=step).click()
            ends = [text.split("=")[1] for text in texts(page, "text.energy")]
            energy = [float(end.replace("−", "-")) for end in ends]
            assert energy == pytest.approx(energies[i], abs=5.1e-3)
            assert texts(page, "text.weight") == (printed(weights[i]) if k > 0 else [])
            assert texts(page, ".context text") == (printed(contexts[i]) if k > 1 else [])
            asked = asked - {i} if k == 0 else asked | {i}
            assert texts(page, "text.cell") == printed(weights[sorted(asked)].ravel())
            assert page.locator(".self-attention .empty").count() == 9 - 3 * len(asked)


def test_it_opens_on_the_average_and_keys_step_back(open_figure: Open) -> None:
    page = open_figure("self_attention")
    assert texts(page, "text.weight") == ["0.14", "0.58", "0.28"]
    assert texts(page, ".context text") == ["0.00", "0.86"]
    assert texts(page, "text.word") == [name for name in NAMES for _ in ("query", "key", "value")]
    page.get_by_role("button", name="aggregate").press("ArrowLeft")
    assert page.get_by_role("button", name="normalise").get_attribute("aria-pressed") == "true"
    page.get_by_role("button", name="dog").press("Enter")
    said = "The softmax turns the energies into weights that add up to 1: 0.33, 0.33, 0.33."
    assert page.locator(".self-attention-says").inner_text() == said
    page.locator(".moving-said", has_text=said).wait_for()


def test_matrices_can_be_edited(open_figure: Open) -> None:
    page = open_figure("self_attention")
    assert not page.get_by_label("W_Q, row 2, column 1").is_visible()
    page.get_by_text("Change the matrices").click()
    page.get_by_label("W_Q, row 2, column 1").fill("1")
    page.get_by_role("button", name="sleeps", exact=True).click()
    assert texts(page, ".vector text")[12:14] == ["2", "1"]  # the query of the third word
    assert texts(page, "text.weight") == ["0.09", "0.73", "0.18"]
    field = page.get_by_label("W_V, row 1, column 1")
    field.fill("2.5")
    field.press("ArrowLeft")  # moves in the field, not a step back
    assert texts(page, ".context text") == ["0.67", "0.91"]
    page.get_by_label("W_Q, row 1, column 1").fill("-12.5")
    boxes = page.locator(".self-attention .vector").evaluate_all(BOXES_AND_NUMBERS)
    assert boxes
    assert all(0 < number < box for box, number in boxes)
    page.get_by_label("W_Q, row 1, column 1").fill("1")
    field.fill("")  # nothing typed yet changes nothing
    assert texts(page, ".context text") == ["0.67", "0.91"]
    page.get_by_role("button", name="as at first").click()
    assert texts(page, "text.weight") == ["0.14", "0.58", "0.28"]
    page.get_by_label("three matrices").uncheck()
    assert not field.is_visible()


def test_lines_are_as_thick_as_their_weights(open_figure: Open) -> None:
    page = open_figure("self_attention")
    lines = page.locator(".self-attention .weighs")
    thick = lines.evaluate_all("all => all.map((one) => Number(one.getAttribute('stroke-width')))")
    _, weights, _ = by_hand(matrices=True)
    assert np.array(thick) / sum(thick) == pytest.approx(np.repeat(weights[0], 2) / 2)
