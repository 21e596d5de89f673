"""The built site, and one browser for all tests of it."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from course_book.notebooks import has_notebook
from course_book.source import parts_of_the_book, read
from playwright.sync_api import Browser, BrowserContext

from tests.conftest import ROOT

BOOK = ROOT / "book"
SITE = BOOK / "_build" / "html"
REMEDY = "Run: make book"


@cache
def sources() -> list[Path]:
    """The source of every page that the table of contents names, in its order."""
    return [source for _, part in parts_of_the_book(ROOT) for source in part]


@cache
def chapters() -> list[Path]:
    """The numbered pages: those that teach."""
    return [source for source in sources() if source.name[:2].isdigit()]


@cache
def runnable() -> list[Path]:
    """The pages that are notebooks, too: chapters and the workshop's, where they run anything."""
    return [source for source in sources() if has_notebook(source, BOOK)]


@cache
def moving_sources() -> list[Path]:
    """The pages with figures that move."""
    return [source for source in sources() if list(read(source)[1].all("moving"))]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    kinds = (("source", sources()), ("chapter", chapters()), ("lesson", runnable()))
    for name, paths in kinds:
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, paths, ids=[path.stem for path in paths])


@pytest.fixture(scope="session")
def site() -> Path:
    if not (SITE / "index.html").is_file():
        pytest.fail(f"The book is not built: {SITE.relative_to(ROOT)}/index.html. {REMEDY}")
    for source in sources():
        page = SITE / source.relative_to(ROOT).with_suffix(".html")
        if not page.is_file() or page.stat().st_mtime < source.stat().st_mtime:
            pytest.fail(f"The built page of {source.relative_to(ROOT)} is out of date. {REMEDY}")
    return SITE


@pytest.fixture(scope="session")
def context(browser: Browser) -> Iterator[BrowserContext]:
    # Without motion a change of theme is done at once, and colours can be measured.
    context = browser.new_context(
        viewport={"width": 1200, "height": 900}, reduced_motion="reduce", offline=True
    )
    yield context
    context.close()
