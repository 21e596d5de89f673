"""What lies in the built site: pictures that can be read, and nothing that must not be there."""

import json
import re
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from bs4 import BeautifulSoup

from course_lib.grading.authoring.leaks import leaks

ROOT = Path(__file__).resolve().parents[2]
REGION = re.compile(
    r"### BEGIN (?P<kind>SOLUTION|HIDDEN TESTS|MARK SCHEME)\n(?P<body>.*?)### END (?P=kind)",
    re.DOTALL,
)
TEXT_FILES = {".html", ".js", ".mjs", ".json", ".txt", ".md", ".ipynb", ".css", ".xml"}


@cache
def parsed(page: Path) -> BeautifulSoup:
    return BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def secrets() -> dict[str, str]:
    """What only an instructor may see, without its white space, and where it stands.

    A hidden test is secret line by line. A solution is as a whole: one line of it may well be a
    line that a chapter teaches. Short ones could stand anywhere.
    """
    found = {}
    for source in sorted(ROOT.glob("solutions/*/*.md")):
        for match in REGION.finditer(source.read_text(encoding="utf-8")):
            whole = match["kind"] == "SOLUTION"
            for text in [match["body"]] if whole else match["body"].splitlines():
                if len(squeezed(text)) > (60 if whole else 40):
                    found[squeezed(text)] = f"{source.name}, {match['kind'].lower()}: {text}"
    return found


def visible_text(file: Path) -> str:
    text = file.read_text(encoding="utf-8", errors="replace")
    return parsed(file).get_text() if file.suffix == ".html" else text


def test_solutions_have_regions_to_look_for() -> None:
    assert secrets()


def test_nothing_of_the_solutions_is_in_the_site(site: Path) -> None:
    wanted = secrets()
    for file in site.rglob("*"):
        if file.suffix not in TEXT_FILES or "mathjax" in file.parts:
            continue
        text = visible_text(file)
        assert "BEGIN SOLUTION" not in text, file
        assert "BEGIN HIDDEN TESTS" not in text, file
        packed = squeezed(text)
        leaked = [where for secret, where in wanted.items() if secret in packed]
        assert leaked == [], file


def test_no_made_up_answer_and_no_three_lines_of_a_solution_are_in_the_site(site: Path) -> None:
    assert leaks(ROOT, [], site / "no library") == []


def test_no_page_of_solutions_or_exercises(site: Path) -> None:
    names = {path.relative_to(site).parts[0] for path in site.rglob("*.html")} - {"_static"}
    assert names <= {"index.html", "book", "genindex.html", "search.html"}


def test_every_assignment_has_its_page_and_every_page_its_assignment() -> None:
    assignments = {path.parent.name for path in ROOT.glob("solutions/*/*.md")}
    pages = {path.stem for path in ROOT.glob("book/assignments/*.md")}
    assert pages == assignments


def test_every_picture_says_what_it_shows(page_file: Path) -> None:
    page = parsed(page_file)
    for image in page.select("article img"):
        assert len(image.get("alt", "")) > 30, image.get("src")
    for drawing in page.select("article svg[role=img]"):
        assert len(drawing.get("aria-label", "")) > 30


def test_every_figure_has_a_caption(page_file: Path) -> None:
    page = parsed(page_file)
    for figure in page.select("article figure"):
        caption = figure.find("figcaption")
        assert caption is not None
        assert len(caption.get_text().split()) > 5
    for image in page.select("article img"):
        assert image.find_parent("figure") is not None, f"{image.get('src')} is no figure"


def test_no_cell_failed(page_file: Path) -> None:
    page = parsed(page_file)
    assert page.select(".output.traceback, .cell_output .stderr, .cell_output .error") == []
    assert "Traceback (most recent call last)" not in page.get_text()


def test_every_page_runs_all_of_its_cells(chapter: Path, page_file: Path, source: Path) -> None:
    """A page whose header is not complete is rendered as text, with no cell run and no warning."""
    if chapter == source:
        cells = len(re.findall(r"^```+\{code-cell\}", source.read_text("utf-8"), re.MULTILINE))
        removed = source.read_text("utf-8").count("remove-cell")
        assert len(parsed(page_file).select("article div.cell")) >= cells - removed > 0


def test_no_page_names_a_resource_elsewhere(page_file: Path) -> None:
    """Links may lead anywhere; what a page loads lies beside it."""
    page = parsed(page_file)
    loaded = [tag["src"] for tag in page.select("[src]")]
    loaded += [tag["href"] for tag in page.select("link[href]")]
    assert [url for url in loaded if urlsplit(url).netloc] == []
    for script in page.select("script:not([src])"):
        assert "http" not in script.get_text(), script.get_text()[:200]


def test_links_within_the_site_lead_somewhere(page_file: Path) -> None:
    dangling = []
    for link in parsed(page_file).select("article a[href]"):
        url = urlsplit(link["href"])
        if url.scheme or url.netloc:
            continue
        target = (page_file.parent / url.path).resolve() if url.path else page_file
        if not target.is_file() or (url.fragment and parsed(target).find(id=url.fragment) is None):
            dangling.append(link["href"])
    assert dangling == []


@pytest.mark.parametrize("name", ["require.js", "embed-amd.js", "thebe", "html-manager"])
def test_no_page_loads_what_the_book_does_not_use(site: Path, name: str) -> None:
    for page in site.rglob("*.html"):
        assert all(name not in tag.get("src", "") for tag in parsed(page).select("script")), page


def test_the_search_index_names_only_pages_of_the_book(site: Path) -> None:
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    content = json.loads(index.removeprefix("Search.setIndex(").removesuffix(")"))
    assert all(name.startswith("book/") for name in content["docnames"])
