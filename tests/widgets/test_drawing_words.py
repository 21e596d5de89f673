"""Drawing words: at every setting the screen has what NumPy and the library compute."""

from itertools import accumulate, product

import numpy as np
import pytest
import torch
from playwright.sync_api import Page

from course_lib.search import narrowed
from course_lib.widgets import DrawingWords
from course_lib.widgets.drawing_words import DRAWS
from tests.widgets.conftest import Open

MODEL = np.array([0.5, 0.25, 0.12, 0.08, 0.05])
# At temperature 1 some of these are what the first words have together, and must be enough.
CUTS = [*product((0.25, 0.5, 1, 1.35, 2), (1, 2, 3, 5), (0.05, 0.5, 0.75, 0.8, 0.95, 1))]


def pencil(temperature: float, top_k: int, top_p: float) -> np.ndarray:
    """The fewest of the `top_k` first words that have at least `top_p` of what these have."""
    powers = MODEL ** (1 / temperature)
    powers /= powers.sum()
    best = powers[:top_k] / powers[:top_k].sum()
    count = next(n for n in range(1, 6) if best[:n].sum() >= min(top_p, 1) - 1e-9)
    return np.pad(best[:count] / best[:count].sum(), (0, 5 - count))


def on_screen(page: Page, measure: str) -> list[str]:
    return page.locator(f".drawing-words li [data-measure={measure}]").all_text_contents()


def set_sliders(page: Page, *values: float) -> None:
    for name, value in zip(("temperature", "top-k", "nucleus"), values, strict=True):
        page.get_by_role("slider", name=name).fill(str(value))


@pytest.mark.parametrize(("temperature", "top_k", "top_p"), CUTS)
def test_what_is_left_is_what_the_definitions_say(
    temperature: float, top_k: int, top_p: float
) -> None:
    shares = DrawingWords(temperature=temperature, top_k=top_k, top_p=top_p).shares
    log_probs = torch.tensor(MODEL).log()
    np.testing.assert_allclose(shares, pencil(temperature, top_k, top_p), atol=1e-12)
    assert np.array_equal(shares, narrowed(log_probs, temperature, top_k, top_p).numpy())


def test_every_setting_shows_what_the_library_keeps(open_figure: Open) -> None:
    page = open_figure("drawing_words")
    assert on_screen(page, "share") == ["0.57", "0.29", "0.14", "cut", "cut"]
    for temperature, top_k, top_p in CUTS[::7]:
        set_sliders(page, temperature, top_k, top_p)
        figure = DrawingWords(temperature=temperature, top_k=top_k, top_p=top_p)
        shares = figure.shares
        assert on_screen(page, "share") == [f"{one:.2f}" if one else "cut" for one in shares]
        assert on_screen(page, "count") == [f"{count} of 20" for count in figure.counts]


def test_bars_are_as_long_as_their_numbers_and_dots_as_many(open_figure: Open) -> None:
    page = open_figure("drawing_words")
    set_sliders(page, 0.7, 4, 0.9)
    shares = pencil(0.7, 4, 0.9)
    for name, expected in (("own", MODEL), ("fill", shares)):
        widths = page.locator(f".track .{name}").evaluate_all(
            "bars => bars.map(bar => bar.offsetWidth / bar.parentElement.offsetWidth)"
        )
        np.testing.assert_allclose(widths, expected, atol=0.01)
    assert page.locator("li.cut").count() == (shares == 0).sum() > 0
    dots = page.locator(".dots").evaluate_all("rows => rows.map(row => row.children.length)")
    assert on_screen(page, "count") == [f"{count} of 20" for count in dots]


def test_the_button_draws_other_words_and_returns_to_the_first(open_figure: Open) -> None:
    page = open_figure("drawing_words")
    button = page.get_by_role("button", name="Draw 20 again")
    for draw in [*range(1, DRAWS), 0]:
        button.press("Enter")
        uniform = DrawingWords(draw=draw).uniform[draw]
        ends = [*accumulate(pencil(1, 5, 0.8)[:3])]
        words = [sum(end <= number for end in ends) for number in uniform]
        counts = np.bincount(words, minlength=5)
        assert on_screen(page, "count") == [f"{count} of 20" for count in counts]
        assert counts.sum() == 20


def test_keys_move_it_and_what_they_do_is_said(open_figure: Open) -> None:
    page = open_figure("drawing_words")
    heat, most, nucleus = (
        page.get_by_role("slider", name=name) for name in ("temperature", "top-k", "nucleus")
    )
    nucleus.press("End")
    assert on_screen(page, "share") == [f"{p:.2f}" for p in MODEL]
    for _ in range(3):
        most.press("ArrowLeft")
    assert most.get_attribute("aria-valuetext") == "2"
    assert on_screen(page, "share") == ["0.67", "0.33", "cut", "cut", "cut"]
    heat.press("Home")
    assert heat.get_attribute("aria-valuetext") == "0.25"
    page.get_by_text("bicycle 0.94").wait_for(state="attached")
    said = page.get_by_text("sofa is cut")
    assert said.get_attribute("aria-live") == "polite"
