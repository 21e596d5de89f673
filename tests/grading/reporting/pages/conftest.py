"""A page in a real browser that refuses every request, as it would be with no network."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Request, Route

DESK, PHONE = {"width": 1280, "height": 900}, {"width": 380, "height": 800}


@dataclass
class Visit:
    """What a page asked for, complained about, and what stands in somebody's way on it."""

    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    grave: list[str] = field(default_factory=list)
    sideways: int = 0
    text: str = ""
    formulas: int = 0


@pytest.fixture(scope="session")
def visit(
    browser: Browser, grave: Callable[..., list[str]], pale: Callable[..., list[str]]
) -> Callable[[Path], Visit]:
    """Opens a page on a desk, in both themes, and makes the window as narrow as a phone."""

    visits: dict[Path, Visit] = {}

    def opened(file: Path) -> Visit:
        if file in visits:
            return visits[file]
        seen = visits[file] = Visit()
        context = browser.new_context(viewport=DESK, color_scheme="light")
        page = context.new_page()
        _listen(page, seen, file)
        page.goto(file.as_uri(), wait_until="load")
        page.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")
        seen.grave += [f"light {found}" for found in grave(page)]
        page.emulate_media(color_scheme="dark")
        seen.grave += [f"dark {found}" for found in pale(page)]
        for size in (DESK, PHONE):
            page.set_viewport_size(size)
            width = page.evaluate("document.documentElement.scrollWidth")
            seen.sideways = max(seen.sideways, width - size["width"])
        seen.grave += [f"phone {found}" for found in grave(page, contrast=False)]
        seen.text = page.inner_text("body")
        seen.formulas = page.locator("math").count()
        context.close()
        return seen

    return opened


def _listen(page: Page, seen: Visit, file: Path) -> None:
    def answer(route: Route, request: Request) -> None:
        if request.url == file.as_uri() or request.url.startswith("data:"):
            route.continue_()
        else:
            seen.requests.append(request.url)
            route.abort()

    page.route("**/*", answer)
    page.on("pageerror", lambda error: seen.errors.append(str(error)))
    page.on("console", lambda line: seen.errors.append(line.text))
    page.on("dialog", lambda dialog: seen.errors.append(f"dialog: {dialog.message}"))
