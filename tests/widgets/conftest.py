"""A moving figure by itself in a page of the browser, where nothing can be fetched."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from course_lib.records import record_path
from course_lib.widgets import FIGURES
from course_lib.widgets.modules import page_script, style

Open = Callable[..., Page]
RECORDED = {
    "attention_stepper": record_path("attention-stepper"),
    "bottleneck": record_path("bottleneck-explorer"),
    "beam_tree": record_path("multi30k-en-de-rnnsearch-cpu-earlier-seed0-beam-tree"),
}


@pytest.fixture(scope="session")
def recorded() -> dict[str, Path]:
    """The recorded file of each figure that draws one."""
    return RECORDED


@pytest.fixture
def open_figure(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Open a figure by its name, with the page's values or others; its errors fail the test."""
    context = browser.new_context(viewport={"width": 900, "height": 900}, has_touch=True)
    context.route("http*://**", lambda route: route.abort())
    errors: list[str] = []

    def open_page(name: str, values: dict[str, Any] | None = None) -> Page:
        data = json.dumps(values or FIGURES[name].values(RECORDED.get(name)))
        (tmp_path / f"{name}.html").write_text(
            f"<!doctype html><html lang=en><meta charset=utf-8><title>{name}</title>"
            f"<style>{style()}</style><main><h1>{name}</h1>"
            f'<div class="moving-figure" data-moving="{name}">'
            f'<div class="moving-still">the picture</div>'
            f'<script type="application/json">{data}</script></div></main>'
            f'<script type="module">{page_script(name)}</script>',
            encoding="utf-8",
        )
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto((tmp_path / f"{name}.html").as_uri())
        return page

    yield open_page
    context.close()
    assert errors == []
