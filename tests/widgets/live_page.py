"""What tests of the live translators' page do there again and again."""

import json
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

SENTENCE = "the strong dog is coming back ."


def ask(page: Page, text: str) -> None:
    """As a reader does: type, and press Enter."""
    page.get_by_label("Your sentence").fill("")
    page.keyboard.type(text)
    page.keyboard.press("Enter")
    page.locator(".live-target .now").first.wait_for()


def resize(page: Page, width: int) -> None:
    """To so many pixels across, until what a page draws anew is drawn: one frame later."""
    page.set_viewport_size({"width": width, "height": 900})
    page.wait_for_function("width => innerWidth === width", arg=width)
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))")


def written(page: Page, model: str) -> list[str]:
    return page.locator(f"section[aria-label={model}] .live-target .chip b").all_inner_texts()


def more(page: Page) -> None:
    """Unfold what a first visitor does not need."""
    if page.locator(".live-more[open]").count() == 0:
        page.get_by_text("More: the search").click()


def numbers(page: Page) -> Any:
    """What the page offers as JSON."""
    more(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="numbers as JSON").click()
    return json.loads(Path(download.value.path()).read_text(encoding="utf-8"))
