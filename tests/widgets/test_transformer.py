"""The writing Transformer: every step shows what its record says, and nothing that comes later."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page

from tests.widgets.conftest import Open, values_of

START = values_of("transformer")
SENTENCES: list[dict[str, Any]] = START["sentences"]
NAMES = [" ".join(sentence["source"][:-1]) for sentence in SENTENCES]
LAST = 7


def boxes(page: Page, role: str) -> list[str]:
    """The weight printed in each box of a role, empty below 0.05."""
    return page.locator(f"g.role-{role}").evaluate_all("all => all.map(one => one.textContent)")


def printed(weights: list[float]) -> list[str]:
    return [f"{weight:.2f}" if weight >= 0.05 else "" for weight in weights]


def thickness(page: Page, kind: str) -> list[float]:
    """The weights that lines of a kind are drawn for."""
    widths = page.locator(kind).evaluate_all(
        "all => all.map(one => one.getAttribute('stroke-width'))"
    )
    return [(float(width) - 0.8) / 5 for width in widths]


@pytest.mark.parametrize("chosen", range(3))
def test_each_step_shows_its_weights_and_what_is_kept(chosen: int, open_figure: Open) -> None:
    page, sentence = open_figure("transformer"), SENTENCES[chosen]
    source, read = sentence["source"], sentence["read"]
    assert page.locator("output").inner_text() == f"word {START['frame']} of {LAST}"
    page.get_by_role("radio", name=NAMES[chosen]).check()
    for step in range(LAST, -1, -1):
        page.get_by_role("slider", name="words written").fill(str(step))
        words = page.locator(".transformer svg text:not(.weight, .name)").all_text_contents()
        assert words == [*source, *read[: step + 1]] if step else source
        on_source = sentence["on_source"][step - 1] if step else [0.0] * 7
        on_read = sentence["on_read"][step - 1][:step] if step else []
        assert boxes(page, "annotation") == printed(on_source)
        assert boxes(page, "state") == printed(on_read)
        assert page.locator("g.kept").count() == max(0, step - 1)
        asked = [j for j in range(7) if not step or on_source[j] >= 0.2]
        looked = [(i, j, sentence["in_source"][i][j]) for i in asked for j in range(7)]
        looked_at = [(i, j, one) for i, j, one in looked if one >= 0.05]
        drawn = thickness(page, ".looks")
        np.testing.assert_allclose(drawn, [one for _, _, one in looked_at], atol=1e-6)
        ends = page.locator(".looks").evaluate_all(
            "all => all.map(one => { const long = one.getTotalLength();"
            " return [one.getPointAtLength(0).x, one.getPointAtLength(long).x] })"
        )
        columns = [[25 + 53 * i, 25 + 53 * j] for i, j, _ in looked_at]
        np.testing.assert_allclose(ends or columns, columns, atol=5)  # a loop's ends lie apart
        bold = page.locator(".strong").all_text_contents()
        assert bold == ([*(source[j] for j in asked), read[step - 1]] if step else [])
        numbers = page.locator(".transformer svg g:not([class]) > .weight").all_text_contents()
        assert numbers == [f"{one:.2f}" for i, j, one in looked if one >= 0.5 and i != j]
        np.testing.assert_allclose(thickness(page, "line"), on_source if step else [], atol=1e-6)
        arcs = thickness(page, "path.role-state")
        np.testing.assert_allclose(arcs, on_read[:-1], atol=1e-6)


def test_each_step_says_what_happened(open_figure: Open) -> None:
    page, said = open_figure("transformer"), []
    page.get_by_role("radio", name=NAMES[1]).check()
    page.get_by_role("button", name="to the end").click()
    for _ in range(LAST + 1):
        said.append(page.locator(".transformer-says").inner_text())
        page.get_by_role("button", name="one word back").click()
    assert said[::-1] == [
        "All 7 source words look at each other at once. Their annotations are kept to the end.",
        "“<s>” looks most at “cat” (1.00) in the source. It writes “die”.",
        *(
            f"“{asks}” looks most at {own} of what is written, then at {source}. It writes {end}."
            for asks, own, source, end in (
                ("die", "“die” (0.98)", "“cat” (1.00) in the source", "“Katze”"),
                ("Katze", "“<s>” (1.00)", "“has” (0.93) in the source", "“hat”"),
                ("hat", "“hat” (0.99)", "“dog” (1.00) in the source", "“den”"),
                ("den", "“den” (0.98)", "“dog” (1.00) in the source", "“Hund”"),
                (
                    "Hund",
                    "“hat” (1.00)",
                    "“the” (0.57) in the source, which had looked most at “seen” (0.98)",
                    "“gesehen”",
                ),
                (
                    "gesehen",
                    "“gesehen” (1.00)",
                    "“</s>” (0.97) in the source",
                    "“</s>”, and the translation ends",
                ),
            )
        ),
    ]


def test_keys_step_choose_and_are_heard(open_figure: Open) -> None:
    page = open_figure("transformer")
    page.get_by_role("radio", name=NAMES[0]).press("ArrowDown")
    assert page.get_by_role("radio", name=NAMES[1]).is_checked()
    page.get_by_role("button", name="next word").press("ArrowLeft")
    assert page.locator("output").inner_text() == "word 5 of 7"
    said = page.locator(".moving-said", has_text="It writes “Hund”.")
    said.wait_for(state="attached")
    assert said.get_attribute("aria-live") == "polite"


@pytest.mark.parametrize("chosen", range(3))
def test_no_word_lies_on_another(chosen: int, open_figure: Open) -> None:
    page = open_figure("transformer", {**START, "chosen": chosen, "frame": LAST})
    ends = page.locator(".transformer svg text:not(.weight, .name)").evaluate_all(
        "all => all.map(one => { const {x, width} = one.getBBox();"
        " return [one.getAttribute('y'), x, x + width] })"
    )
    for (line, _, right), (other, left, _) in pairwise(sorted(ends)):
        assert line != other or right < left, ends
