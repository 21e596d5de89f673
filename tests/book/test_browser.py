"""Every page in a real browser: offline, without errors, and usable by everybody."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, Route

LOCAL = ("file:", "data:", "blob:", "about:")
PHONE = {"width": 380, "height": 800}
DESK = {"width": 1280, "height": 900}


@dataclass
class Visit:
    """An open page, and what it tried while opening."""

    page: Page
    refused: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def visit(context: BrowserContext, file: Path) -> Visit:
    page = context.new_page()
    seen = Visit(page)

    def answer(route: Route) -> None:
        if route.request.url.startswith(LOCAL):
            route.continue_()
        else:
            seen.refused.append(route.request.url)
            route.abort()

    page.route("**/*", answer)
    page.on("pageerror", lambda error: seen.errors.append(str(error)))
    page.on("console", lambda line: seen.errors.append(line.text) if line.type == "error" else None)
    page.on("requestfailed", lambda request: seen.errors.append(f"not loaded: {request.url}"))
    page.goto(file.as_uri(), wait_until="load")
    # MathJax says when it is done; a page without formulas does not load it.
    page.evaluate("() => window.MathJax?.startup?.promise")
    return seen


@pytest.fixture(scope="module")
def visits(context: BrowserContext) -> Iterator[dict[Path, Visit]]:
    """Pages already open: each is loaded once for all tests of it."""
    opened: dict[Path, Visit] = {}
    yield opened
    for seen in opened.values():
        seen.page.close()


@pytest.fixture
def visited(context: BrowserContext, visits: dict[Path, Visit], page_file: Path) -> Visit:
    if page_file not in visits:
        visits[page_file] = visit(context, page_file)
    seen = visits[page_file]
    seen.page.set_viewport_size(DESK)
    return seen


def test_it_asks_nobody_for_anything(visited: Visit) -> None:
    assert visited.refused == []


def test_it_reports_no_error(visited: Visit) -> None:
    assert visited.errors == []


def test_its_formulas_are_set(visited: Visit) -> None:
    sources = visited.page.locator("article .math").count()
    assert visited.page.locator("article .math mjx-container").count() >= sources
    assert visited.page.locator("mjx-merror, [data-mjx-error]").count() == 0
    # A macro that MathJax does not know is set in red instead of failing.
    assert visited.page.locator("mjx-mtext[style*='color: red']").count() == 0


def open_folds(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")
    # Folds mark what scrolls inside them once they are open, which takes a frame.
    page.evaluate(
        "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )


def set_theme(page: Page, theme: str) -> None:
    page.evaluate(
        "theme => { document.documentElement.dataset.theme = theme;"
        " document.documentElement.dataset.mode = theme }",
        theme,
    )


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_nothing_serious_stands_in_anybodys_way(
    visited: Visit, grave: Callable[..., list[str]], theme: str, size: dict[str, int]
) -> None:
    page = visited.page
    page.set_viewport_size(size)
    set_theme(page, theme)
    open_folds(page)
    assert grave(page, contrast=size is DESK) == []


def test_a_phone_needs_no_sideways_scrolling(visited: Visit) -> None:
    page = visited.page
    page.set_viewport_size(PHONE)
    open_folds(page)
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= PHONE["width"]


def test_paper_has_no_folds(visited: Visit) -> None:
    page = visited.page
    page.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = false)")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    # What fades in is printed as it is in its first frame: invisible.
    fading = "element => getComputedStyle(element).animationName"
    shown = page.locator("article details > :not(summary)")
    assert set(shown.evaluate_all(f"all => all.map({fading})")) <= {"none"}
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").count() == 0


def test_role_colours_reach_the_formulas(context: BrowserContext, site: Path) -> None:
    seen = visit(context, site / "book" / "notation.html")
    colour = seen.page.locator("mjx-container .role-weight").first.evaluate(
        "element => getComputedStyle(element).color"
    )
    plain = seen.page.locator("article p").first.evaluate(
        "element => getComputedStyle(element).color"
    )
    seen.page.close()
    assert colour != plain


def test_a_quiz_answers_back_from_the_keyboard(visited: Visit, chapter: Path, source: Path) -> None:
    if chapter != source:
        return
    page = visited.page
    page.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = false)")
    for option in page.locator("details.quiz-option").all():
        reply = option.locator(":scope > p").first
        assert not reply.is_visible()
        option.locator("summary").focus()
        page.keyboard.press("Enter")
        assert reply.is_visible()
        assert re.match(r"Right\.|Not quite\.", reply.inner_text())


@pytest.mark.parametrize("name", ["search.html", "genindex.html"])
def test_pages_of_the_theme_ask_nobody_either(
    context: BrowserContext, site: Path, name: str
) -> None:
    seen = visit(context, site / name)
    refused, errors = seen.refused, seen.errors
    seen.page.close()
    assert (refused, errors) == ([], [])


def test_the_front_door_leads_to_the_welcome_page(context: BrowserContext, site: Path) -> None:
    page = context.new_page()
    page.goto((site / "index.html").as_uri(), wait_until="commit")
    page.wait_for_url("**/book/index.html")
    assert page.locator("h1").first.inner_text().startswith("Looking Back")
    page.close()
