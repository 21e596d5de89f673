"""Moving figures in the built pages: drawn without a network, pictures without JavaScript."""

import zlib
from itertools import takewhile
from pathlib import Path

import pytest
from course_book.source import read
from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parents[2]
LARGEST = 300 * 1024


@pytest.fixture
def moving_page(site: Path, moving_source: Path) -> Path:
    """The built page."""
    return site / moving_source.relative_to(ROOT).with_suffix(".html")


@pytest.fixture
def figures(moving_source: Path) -> list[str]:
    """The modules of the figures that a page's source names."""
    return [block.argument for block in read(moving_source)[1].all("moving")]


def opened(browser: Browser, file: Path, **how: bool) -> Page:
    context = browser.new_context(**how)
    context.route("http*://**", lambda route: route.abort())
    page = context.new_page()
    page.goto(file.as_uri())
    return page


def test_each_figure_is_drawn_in_place_of_its_picture(
    browser: Browser, moving_page: Path, figures: list[str]
) -> None:
    page = opened(browser, moving_page)
    for place, name in zip(page.locator(".moving-figure").all(), figures, strict=True):
        assert place.get_attribute("data-moving") == name
        assert place.locator(".moving-live").is_visible()
        assert not place.locator(".moving-still").is_visible()
    page.emulate_media(media="print")
    for place in page.locator(".moving-figure").all():
        assert place.locator(".moving-still img").is_visible()
        assert not place.locator(".moving-live").is_visible()
    page.context.close()


def test_without_javascript_a_picture_stands_there(
    browser: Browser, moving_page: Path, figures: list[str]
) -> None:
    page = opened(browser, moving_page, java_script_enabled=False)
    pictures = page.locator(".moving-figure img")
    assert pictures.count() == len(figures)
    for picture in pictures.all():
        assert picture.is_visible()
        assert len(picture.get_attribute("alt") or "") > 30
    page.context.close()


def test_the_data_of_a_page_are_small(browser: Browser, moving_page: Path) -> None:
    page = opened(browser, moving_page, java_script_enabled=False)
    texts = page.locator(".moving-figure script").all_text_contents()
    assert sum(len(zlib.compress(text.encode())) for text in texts) < LARGEST
    page.context.close()


def test_each_is_followed_by_a_question_to_answer_with_it(moving_source: Path) -> None:
    items = read(moving_source)[1].items
    found = 0
    for at, item in enumerate(items):
        if not isinstance(item, str) and item.name == "moving":
            text = list(takewhile(lambda line: isinstance(line, str), items[at + 1 :]))
            assert "?" in " ".join(map(str, text))
            follows = items[at + 1 + len(text)]
            assert not isinstance(follows, str)
            assert follows.name == "answer"
            found += 1
    assert found
