"""All figures on one page: nobody is kept out, in either theme, on a desk or a phone."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from course_lib.widgets import FIGURES
from tests.widgets.conftest import page_of, values_of

BOOK = Path(__file__).resolve().parents[2] / "book"
SMALLEST = 24
"""Pixels that WCAG 2.2 wants a finger to be given, on both sides."""


@pytest.fixture(scope="module")
def everything(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A page with the book's colours and every figure, stepped on a little."""
    values = {name: values_of(name) for name in FIGURES}
    css = (BOOK / "_static" / "book.css").read_text(encoding="utf-8")
    css += "body { background: var(--page); color: var(--ink); }"
    file = tmp_path_factory.mktemp("figures") / "all.html"
    file.write_text(page_of(values, css), encoding="utf-8")
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.goto(file.as_uri())
    for button in page.get_by_role("button", name="next word").all():
        for _ in range(3):
            button.click()
    for slider in page.locator("input[type=range]").all():
        slider.press("ArrowRight")
    page.get_by_role("slider", name="s", exact=True).press("ArrowRight")
    page.get_by_role("slider", name="source length").press("End")
    yield page
    context.close()


def test_a_phone_shows_all_of_it_and_gives_fingers_room(everything: Page) -> None:
    everything.set_viewport_size({"width": 390, "height": 900})
    everything.wait_for_function("document.documentElement.scrollWidth <= 390")  # drawn anew
    boxes = everything.locator(".moving :is(button, select, input)").evaluate_all(
        "all => all.filter(one => one.checkVisibility()).map(one => {"
        " const box = one.getBoundingClientRect();"
        " return [one.getAttribute('aria-label') ?? one.id, box.width, box.height] })"
    )
    assert boxes
    assert [box for box in boxes if min(box[1:]) < SMALLEST] == []


@pytest.mark.parametrize(
    ("name", "language", "word"),
    [
        ("attention_stepper", "de", "hund"),
        ("beam_tree", "de", "ein"),
        ("long_sentences", "es", "de"),
        ("tiny_translator", "de", "schläft"),
        ("transformer", "de", "Hund"),
        ("waiting", "fr", "noir"),
    ],
)
def test_words_that_are_not_english_say_so(
    everything: Page, name: str, language: str, word: str
) -> None:
    marked = everything.locator(f"[data-moving={name}] [lang={language}]").all_text_contents()
    assert any(word in text for text in marked)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("antecedent", ["Hund", "sie"]),
        ("attention_stepper", ["hund", "gras"]),
        ("beam_tree", ["ein", "hund"]),
        ("tiny_translator", ["schläft", "katze"]),
        ("transformer", ["Hund", "Katze"]),
    ],
)
def test_a_sentence_that_is_said_keeps_the_language_of_its_words(
    everything: Page, name: str, words: list[str]
) -> None:
    figure = everything.locator(f"[data-moving={name}]")
    figure.locator(".moving-said:not(:empty)").wait_for(state="attached")
    found, unmarked = figure.evaluate(
        """(figure, words) => {
          const texts = document.createTreeWalker(figure, NodeFilter.SHOW_TEXT), all = [];
          while (texts.nextNode()) {
            const { data, parentElement: place } = texts.currentNode;
            const here = words.some((word) =>
              data.match(new RegExp(`(?<!\\\\p{L})${word}(?!\\\\p{L})`, "u")));
            if (here && !place.closest("style, script, select")) all.push(place);
          }
          const unmarked = all.filter((place) => !place.closest("[lang=de]"));
          return [all.length, unmarked.map((place) => place.outerHTML)];
        }""",
        words,
    )
    assert found
    assert unmarked == []


def test_whoever_asks_for_less_motion_gets_none(everything: Page) -> None:
    moving = everything.evaluate("document.getAnimations().length")
    assert moving == 0


def test_the_focus_is_seen_on_whatever_a_key_reaches(everything: Page) -> None:
    everything.set_viewport_size({"width": 1000, "height": 900})
    everything.locator("h1").click()
    unseen, kinds = [], set()
    for _ in range(400):
        everything.keyboard.press("Tab")
        focused = everything.evaluate(
            "() => { const one = document.activeElement; const look = getComputedStyle(one);"
            " const end = one.querySelector('.end');"
            " const ring = end && getComputedStyle(end).stroke !== 'none';"
            " return [one.tagName, one.closest('[data-moving]')?.dataset.moving,"
            " look.outlineStyle !== 'none' || ring] }"
        )
        if focused[0] == "BODY":
            break
        kinds.add(focused[1])
        if not focused[2]:
            unseen.append(focused)
    assert unseen == []
    assert kinds == set(FIGURES)
