"""Every page in a real browser: offline, without errors, and usable by everybody.

Each page is opened once. A test looks at one property of all of them and names the pages that lack
it.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from course_book.source import read
from playwright.sync_api import Browser, BrowserContext, Page

from tests.book.conftest import ROOT, chapters, moving_sources, sources
from tests.conftest import axe_findings

LOCAL = ("file:", "data:", "blob:", "about:")
DESK, WIDER, PHONE = 1200, (1440, 1920), 380
"""Pixels across. With 1200 both columns beside the article stand there, and it is narrowest."""
BY_WIDTH = ["aria-hidden-focus", "scrollable-region-focusable"]
"""What depends on how wide a page is shown, among the rules of axe that name something serious."""
A4_WITHIN_ITS_MARGINS = 665
"""Pixels across, as `make pdf` prints."""


@dataclass
class Visit:
    """An open page, and what it tried while opening."""

    page: Page
    asked: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def visit(context: BrowserContext, file: Path) -> Visit:
    page = context.new_page()
    seen = Visit(page)
    page.on("request", lambda it: it.url.startswith(LOCAL) or seen.asked.append(it.url))
    page.on("pageerror", lambda error: seen.errors.append(str(error)))
    page.on("console", lambda line: seen.errors.append(line.text) if line.type == "error" else None)
    page.on("requestfailed", lambda request: seen.errors.append(f"not loaded: {request.url}"))
    page.goto(file.as_uri(), wait_until="load")
    # MathJax says when it is done; a page without formulas does not load it.
    page.evaluate("() => window.MathJax?.startup?.promise")
    return seen


@pytest.fixture(scope="module")
def visits(context: BrowserContext, site: Path) -> Iterator[dict[str, Visit]]:
    """All pages by name, open: a test to which width, theme or folds matter sets them."""
    opened = {
        source.stem: visit(context, site / source.relative_to(ROOT).with_suffix(".html"))
        for source in sources()
    }
    yield opened
    for seen in opened.values():
        seen.page.close()


def test_no_page_asks_anybody_for_anything(visits: dict[str, Visit]) -> None:
    assert {name: seen.asked for name, seen in visits.items() if seen.asked} == {}


def test_no_page_reports_an_error(visits: dict[str, Visit]) -> None:
    assert {name: seen.errors for name, seen in visits.items() if seen.errors} == {}


def test_formulas_are_set(visits: dict[str, Visit]) -> None:
    for name, seen in visits.items():
        article = seen.page.locator("article")
        formulas = article.locator(".math mjx-container").count()
        assert formulas >= article.locator(".math").count(), name
        assert seen.page.locator("mjx-merror, [data-mjx-error]").count() == 0, name
        # A macro that MathJax does not know is set in red instead of failing.
        assert seen.page.locator("mjx-mtext[style*='color: red']").count() == 0, name


def set_width(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})


def settle(page: Page) -> None:
    """Folds mark what scrolls inside them, once they are open or the width changes: in a frame."""
    page.evaluate(
        "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )


def fold(page: Page, opened: bool) -> None:
    page.evaluate(
        "opened => document.querySelectorAll('details').forEach(fold => fold.open = opened)", opened
    )
    settle(page)


def set_theme(page: Page, theme: str) -> None:
    page.evaluate(
        "theme => { document.documentElement.dataset.theme = theme;"
        " document.documentElement.dataset.mode = theme }",
        theme,
    )


CUT_OFF = """
allowed => {
  const article = document.querySelector(".bd-article");
  const edge = article.getBoundingClientRect().right + 1;
  const own = "svg, mjx-math, mjx-assistive-mml, .visually-hidden, .moving-scroll, .moving-said";
  const found = new Set();
  for (const element of article.querySelectorAll("*")) {
    if (!element.clientWidth || element.closest(own) || element.closest(allowed)) continue;
    const scrolls = getComputedStyle(element).overflowX !== "visible";
    const cut = scrolls && element.scrollWidth > element.clientWidth + 1;
    const right = element.getBoundingClientRect().right;
    const cell = element.parentElement.closest("td, th");
    if (cut || right > edge || (cell && right > cell.getBoundingClientRect().right + 1)) {
      found.add(`${element.tagName}: ${element.textContent.trim().slice(0, 60)}`);
    }
  }
  return [...found];
}
"""
"""What needs scrolling sideways, or stands out of the page or its cell; moving figures aside."""


def test_on_a_desk_nothing_is_cut_off_nor_stands_in_anybodys_way(
    visits: dict[str, Visit],
    grave: Callable[..., list[str]],
    pale: Callable[..., list[str]],
) -> None:
    """With all folds open, where the article is narrowest on a desk.

    The themes differ in colours alone, and a look that many pages have is judged once.
    """
    cut, found, known = {}, {}, set[str]()
    for name, seen in visits.items():
        set_width(seen.page, DESK)
        set_theme(seen.page, "light")
        fold(seen.page, opened=True)
        cut[name] = seen.page.evaluate(CUT_OFF, "none")
        found[name, "light"] = grave(seen.page, known=known)
        set_theme(seen.page, "dark")
        found[name, "dark"] = pale(seen.page, known)
    assert {name: those for name, those in cut.items() if those} == {}
    assert {where: findings for where, findings in found.items() if findings} == {}


def test_a_wider_window_makes_the_article_no_narrower(visits: dict[str, Visit]) -> None:
    """So what fits on the narrowest desk fits on others; the columns are the same on all pages."""
    page = visits["notation"].page
    widths = []
    for width in (DESK, *WIDER):
        set_width(page, width)
        widths.append(page.locator(".bd-article").evaluate("article => article.clientWidth"))
    assert widths == sorted(widths)


def test_on_a_phone_nothing_is_cut_off_nor_stands_in_the_way(
    visits: dict[str, Visit], grave: Callable[..., list[str]]
) -> None:
    """With all folds open; a line of code scrolls inside its box.

    All rules of axe are asked on one page: what the theme shows on phones is the same everywhere.
    """
    cut, sideways, found = {}, {}, {}
    for name, seen in visits.items():
        page = seen.page
        set_width(page, PHONE)
        fold(page, opened=True)
        cut[name] = page.evaluate(CUT_OFF, "pre")
        sideways[name] = page.evaluate("document.documentElement.scrollWidth") - PHONE
        found[name] = axe_findings(page, runOnly=BY_WIDTH) if found else grave(page, contrast=False)
    assert {name: those for name, those in cut.items() if those} == {}
    assert {name: pixels for name, pixels in sideways.items() if pixels > 0} == {}
    assert {name: findings for name, findings in found.items() if findings} == {}


def test_paper_has_no_folds_and_nothing_is_cut_off_there(visits: dict[str, Visit]) -> None:
    # What fades in is printed as it is in its first frame: invisible.
    fading = "element => getComputedStyle(element).animationName"
    cut = {}
    for name, seen in visits.items():
        page = seen.page
        # All that moves anything first, so that the page is laid out once.
        page.evaluate("() => document.querySelectorAll('details').forEach(f => f.open = false)")
        page.emulate_media(media="print")
        set_width(page, A4_WITHIN_ITS_MARGINS)
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator("details:not([open])").count() == 0, name
        settle(page)
        shown = page.locator("article details > :not(summary)")
        assert set(shown.evaluate_all(f"all => all.map({fading})")) <= {"none"}, name
        cut[name] = page.evaluate(CUT_OFF, "none")
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        page.emulate_media(media="screen")
        assert page.locator("details[open]").count() == 0, name
    assert {name: those for name, those in cut.items() if those} == {}


def test_what_is_cut_off_is_found(context: BrowserContext) -> None:
    page = context.new_page()
    page.set_content(
        "<div class=bd-article style='width: 300px'>"
        f"<pre style='overflow: auto'>{'long ' * 90}</pre>"
        f"<p>fits</p><table><tr><td>{'w' * 90}</td></tr></table></div>"
    )
    assert {line.split(":")[0] for line in page.evaluate(CUT_OFF, "none")} >= {"PRE", "TABLE"}
    assert not any(line.startswith("PRE") for line in page.evaluate(CUT_OFF, "pre"))
    page.close()


def test_no_cell_has_two_folds_of_one_name(visits: dict[str, Visit]) -> None:
    names = "cells => cells.map(c => [...c.querySelectorAll('summary')].map(s => s.innerText))"
    for name, seen in visits.items():
        for folds in seen.page.locator("article .cell").evaluate_all(names):
            assert len(set(folds)) == len(folds), (name, folds)


def test_one_pale_text_among_many_is_found(
    context: BrowserContext, pale: Callable[..., list[str]], grave: Callable[..., list[str]]
) -> None:
    page = context.new_page()
    many = "<p>text <span style='color: #555'>and more</span></p>" * 50
    page.set_content(f"<body style='background: #fff'>{many}<em style='color: #ccc'>it</em>{many}")
    [finding] = pale(page)
    assert "<em" in finding
    assert finding in grave(page)
    page.evaluate("document.querySelector('em').style.color = '#555'")
    assert pale(page) == []
    page.evaluate("document.querySelectorAll('p')[70].style.background = '#666'")
    known: set[str] = set()
    assert len(pale(page, known)) == 1
    assert pale(page, known) == []
    page.evaluate("document.querySelectorAll('p')[3].style.color = '#bbb'")
    [finding] = pale(page, known)
    assert "<p" in finding
    page.close()


def test_role_colours_reach_the_formulas(visits: dict[str, Visit]) -> None:
    colour, plain = (
        visits["notation"]
        .page.locator(what)
        .first.evaluate("element => getComputedStyle(element).color")
        for what in ("mjx-container .role-weight", "article p")
    )
    assert colour != plain


ANSWER_BACK = """
options => options.map(option => {
  const reply = option.querySelector(":scope > p");
  const before = reply.checkVisibility();
  option.open = true;
  return [before, reply.checkVisibility(), reply.innerText];
})
"""


def test_every_quiz_answers_back(visits: dict[str, Visit]) -> None:
    asked = 0
    for chapter in chapters():
        page = visits[chapter.stem].page
        fold(page, opened=False)
        options = page.locator("details.quiz-option").evaluate_all(ANSWER_BACK)
        asked += bool(options)
        for before, after, reply in options:
            assert (before, after) == (False, True), chapter.stem
            assert re.match(r"Right\.|Not quite\.", reply)
    assert asked > 8


def test_a_quiz_answers_back_from_the_keyboard(visits: dict[str, Visit]) -> None:
    page = visits["01-bottleneck"].page
    fold(page, opened=False)
    for option in page.locator("details.quiz-option").all():
        reply = option.locator(":scope > p").first
        assert not reply.is_visible()
        option.locator("summary").focus()
        page.keyboard.press("Enter")
        assert reply.is_visible()


def test_moving_figures_are_drawn_in_place_of_their_pictures(visits: dict[str, Visit]) -> None:
    for source in moving_sources():
        page, figures = visits[source.stem].page, figures_of(source)
        for place, name in zip(page.locator(".moving-figure").all(), figures, strict=True):
            assert place.get_attribute("data-moving") == name
            assert place.locator(".moving-live").is_visible()
            assert not place.locator(".moving-still").is_visible()
        page.emulate_media(media="print")
        for place in page.locator(".moving-figure").all():
            assert place.locator(".moving-still img").is_visible()
            assert not place.locator(".moving-live").is_visible()
        page.emulate_media(media="screen")


def figures_of(source: Path) -> list[str]:
    """The modules of the figures that a page's source names."""
    return [block.argument for block in read(source)[1].all("moving")]


def test_without_javascript_a_picture_stands_there(browser: Browser, site: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    for source in moving_sources():
        page = context.new_page()
        page.goto((site / source.relative_to(ROOT).with_suffix(".html")).as_uri())
        pictures = page.locator(".moving-figure img")
        assert pictures.count() == len(figures_of(source))
        for picture in pictures.all():
            assert picture.is_visible()
            assert len(picture.get_attribute("alt") or "") > 30
        page.close()
    context.close()


@pytest.mark.parametrize("name", ["search.html", "genindex.html"])
def test_pages_of_the_theme_ask_nobody_either(
    context: BrowserContext, site: Path, name: str
) -> None:
    seen = visit(context, site / name)
    seen.page.close()
    assert (seen.asked, seen.errors) == ([], [])


def test_the_front_door_leads_to_the_first_page(context: BrowserContext, site: Path) -> None:
    page = context.new_page()
    page.goto((site / "index.html").as_uri(), wait_until="commit")
    page.wait_for_url("**/book/00-why-look-back.html")
    assert page.locator("h1").first.inner_text() == "0 · Why look back?"
    page.close()
