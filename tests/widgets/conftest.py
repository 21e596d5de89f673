"""Moving figures and the live translators, by themselves in a page of the browser."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from course_lib.records import record_path
from course_lib.training import Run
from course_lib.widgets import FIGURES
from course_lib.widgets.modules import page_script, style
from course_lib.widgets.standalone import PAGE, export_web
from tests.widgets.live_models import small_run
from tests.widgets.live_page import SENTENCE

CONDITIONAL = {"decoder": "conditional"}
Open = Callable[..., Page]
RECORDED = {
    "antecedent": "pronoun-reader",
    "attention_stepper": "attention-stepper",
    "bottleneck": "bottleneck-explorer",
    "beam_tree": "multi30k-en-de-rnnsearch-cpu-seed0-beam-tree",
    "read_write": "read-write",
    "tiny_translator": "tiny-translator",
    "transformer": "transformer-writes",
}
"""The record of each figure that draws one."""


def values_of(name: str) -> dict[str, Any]:
    """What the page of the book gives a figure to start with."""
    return FIGURES[name].values(record_path(RECORDED[name]) if name in RECORDED else None)


def page_of(values: dict[str, dict[str, Any]], css: str = "") -> str:
    """A page with these figures, each by its name."""
    data = {name: json.dumps(each).replace("</", r"<\/") for name, each in values.items()}
    figures = "".join(
        f'<h2>{name}</h2><div class="moving-figure" data-moving="{name}">'
        f'<div class="moving-still">the picture</div>'
        f'<script type="application/json">{each}</script></div>'
        f'<script type="module">{page_script(name)}</script>'
        for name, each in data.items()
    )
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><title>Figures</title>"
        "<meta name=viewport content='width=device-width, initial-scale=1'>"
        f"<style>{css}{style()}</style><body><main><h1>Figures</h1>{figures}</main>"
    )


@pytest.fixture
def open_figure(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Open a figure by its name, with the page's values or others; its errors fail the test."""
    context = browser.new_context(viewport={"width": 900, "height": 900}, has_touch=True)
    context.route("http*://**", lambda route: route.abort())
    errors: list[str] = []

    def open_page(name: str, values: dict[str, Any] | None = None) -> Page:
        made = page_of({name: values or values_of(name)})
        (tmp_path / f"{name}.html").write_text(made, encoding="utf-8")
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto((tmp_path / f"{name}.html").as_uri())
        return page

    yield open_page
    context.close()
    assert errors == []


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    return [
        small_run(Path("search"), **CONDITIONAL),
        small_run(Path("encdec"), context="fixed", **CONDITIONAL),
    ]


@pytest.fixture(scope="module")
def folder(runs: list[Run], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("web")
    export_web(runs, out)
    return out


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser that notes every request; none may leave the machine, and no script may fail."""
    context = browser.new_context(reduced_motion="reduce", viewport={"width": 1200, "height": 900})
    asked, errors = list[str](), list[str]()
    context.on("request", lambda request: asked.append(request.url))
    context.on("weberror", lambda error: errors.append(str(error.error)))
    yield context
    context.close()
    assert [url for url in asked if not url.startswith(("file:", "blob:", "data:"))] == []
    # A script that is cut short is no script; the page itself has no fault.
    assert [error for error in errors if error != "Invalid or unexpected token"] == []


@pytest.fixture
def opened(context: BrowserContext, folder: Path) -> Open:
    def open_page(file: Path | None = None, text: str = SENTENCE, ask: bool = True) -> Page:
        page = context.new_page()
        page.goto((file or folder / PAGE).as_uri())
        page.get_by_label("Your sentence").fill(text)
        if ask:
            page.get_by_role("button", name="translate").click()
            page.locator(".live-target .now").first.wait_for()
        return page

    return open_page
