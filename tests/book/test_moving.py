"""Moving figures in the built pages: drawn without a network, pictures without JavaScript."""

import zlib
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
