"""What lies in the built site: pictures that can be read, and nothing that must not be there."""

import json
import re
import zlib
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from bs4 import BeautifulSoup

from tests.book.conftest import chapters, moving_sources, sources
from tests.conftest import ROOT

MOVING_DATA = 300 * 1024
"""Bytes, compressed, that all moving figures of a page may take."""
LIVE_PAGE = 400_000
"""Bytes."""


@cache
def parsed(page: Path) -> BeautifulSoup:
    return BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")


@pytest.fixture
def pages(site: Path) -> dict[str, Path]:
    """The built pages by name."""
    return {
        source.stem: site / source.relative_to(ROOT).with_suffix(".html") for source in sources()
    }


def test_no_page_of_solutions_or_exercises(site: Path) -> None:
    names = {path.relative_to(site).parts[0] for path in site.rglob("*.html")} - {"_static"}
    assert names <= {"index.html", "book", "genindex.html", "search.html"}


def test_every_assignment_has_its_page_and_every_page_its_assignment() -> None:
    assignments = {path.parent.name for path in ROOT.glob("solutions/*/*.md")}
    pages = {path.stem for path in ROOT.glob("book/assignments/*.md")}
    assert pages == assignments


def test_every_picture_says_what_it_shows(pages: dict[str, Path]) -> None:
    for name, file in pages.items():
        for image in parsed(file).select("article img"):
            assert len(image.get("alt", "")) > 30, (name, image.get("src"))
        for drawing in parsed(file).select("article svg[role=img]"):
            assert len(drawing.get("aria-label", "")) > 30, name


def test_every_figure_has_a_caption(pages: dict[str, Path]) -> None:
    for name, file in pages.items():
        for figure in parsed(file).select("article figure"):
            caption = figure.find("figcaption")
            assert caption is not None, name
            assert len(caption.get_text().split()) > 5, name
        for image in parsed(file).select("article img"):
            assert image.find_parent("figure") is not None, (name, image.get("src"))


def test_no_cell_failed(pages: dict[str, Path]) -> None:
    for name, file in pages.items():
        failed = parsed(file).select(".output.traceback, .cell_output .stderr, .cell_output .error")
        assert failed == [], name
        assert "Traceback (most recent call last)" not in parsed(file).get_text(), name


def test_every_chapter_runs_all_of_its_cells(pages: dict[str, Path]) -> None:
    """A page whose header is not complete is rendered as text, with no cell run and no warning."""
    for chapter in chapters():
        text = chapter.read_text("utf-8")
        cells = len(re.findall(r"^```+\{code-cell\}", text, re.MULTILINE))
        shown = parsed(pages[chapter.stem]).select("article div.cell")
        hidden = text.count("remove-cell")
        assert len(shown) >= cells - hidden >= 0, chapter.stem
        assert chapter.stem[:2] in ("00", "12") or cells > hidden, chapter.stem


def test_links_within_the_site_lead_somewhere(pages: dict[str, Path]) -> None:
    dangling = []
    for name, file in pages.items():
        for link in parsed(file).select("article a[href]"):
            url = urlsplit(link["href"])
            if url.scheme or url.netloc:
                continue
            target = (file.parent / url.path).resolve() if url.path else file
            if not target.is_file() or (
                url.fragment and parsed(target).find(id=url.fragment) is None
            ):
                dangling.append((name, link["href"]))
    assert dangling == []


def test_the_page_of_translators_is_small_before_a_model_is_loaded(pages: dict[str, Path]) -> None:
    # Its figure, text, picture and worker lie in it; the theme is that of all pages.
    assert pages["translator"].stat().st_size < LIVE_PAGE
    for name in pages:
        if name.startswith(("00-", "02-", "08-")):
            assert parsed(pages[name]).select("article a[href='translator.html']"), name


def test_the_data_of_moving_figures_are_small(pages: dict[str, Path]) -> None:
    for source in moving_sources():
        data = parsed(pages[source.stem]).select(".moving-figure script")
        assert sum(len(zlib.compress(one.get_text().encode())) for one in data) < MOVING_DATA


def test_no_page_loads_what_the_book_does_not_use(site: Path) -> None:
    unused = ("require.js", "embed-amd.js", "thebe", "html-manager")
    for page in site.rglob("*.html"):
        loaded = [tag.get("src", "") for tag in parsed(page).select("script")]
        assert [url for url in loaded if any(name in url for name in unused)] == [], page


def test_the_search_index_names_only_pages_of_the_book(site: Path) -> None:
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    content = json.loads(index.removeprefix("Search.setIndex(").removesuffix(")"))
    assert all(name.startswith("book/") for name in content["docnames"])
