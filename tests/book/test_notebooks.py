"""Chapters as notebooks: in step with the book, readable without it, and running from the top."""

import os
import re
import sys
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace

import jupytext
import nbformat
import pytest
from bs4 import BeautifulSoup
from course_book.generate import generated
from course_book.launch import add_buttons, links
from course_book.notebooks import expand_macros, in_a_cell, notebook
from course_book.source import parse, read
from nbclient import NotebookClient
from nbformat import NotebookNode

from course_lib.errors import CourseError
from tests.book.conftest import runnable
from tests.conftest import ROOT

NOTEBOOKS = ROOT / "book" / "notebooks"
WIDGET = "from course_lib.widgets import "


def trains(page: Path) -> bool:
    """Does a cell of the page train a model?"""
    return bool(re.search(r"\btrain\(|\.step\(\)", page.read_text("utf-8")))


@pytest.fixture
def made(lesson: Path) -> NotebookNode:
    return nbformat.read(NOTEBOOKS / f"{lesson.stem}.ipynb", as_version=4)


def test_generated_files_are_in_step_with_the_chapters() -> None:
    files = generated()
    late = [str(path) for path, text in files.items() if (ROOT / path).read_text("utf-8") != text]
    assert late == [], "Run: make notebooks"
    kept = {path.relative_to(ROOT) for path in NOTEBOOKS.glob("*")}
    assert kept == set(files)


def test_it_runs_the_cells_of_the_chapter_and_no_others(made: NotebookNode, lesson: Path) -> None:
    nbformat.validate(made)
    cells = jupytext.read(lesson).cells
    wanted = [cell.source for cell in cells if cell.cell_type == "code"]
    opening, *rest = [cell for cell in made.cells if cell.cell_type == "code"]
    assert opening.source.startswith("# Installs what is missing, and nothing else.")
    widgets = [cell for cell in rest if cell.source.startswith(WIDGET)]
    assert len(widgets) == len(list(read(lesson)[1].all("moving")))
    assert [cell.source for cell in rest if cell not in widgets] == wanted
    assert all(cell.outputs == [] for cell in made.cells if cell.cell_type == "code")


def test_on_colab_widgets_are_allowed_where_a_figure_moves(
    made: NotebookNode, lesson: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, _, colab = made.cells[0].source.partition("# Colab")
    assert bool(colab) == any(read(lesson)[1].all("moving"))
    asked: list[str] = []
    output = SimpleNamespace(enable_custom_widget_manager=lambda: asked.append("allowed"))
    exec(f"import sys\n# Colab{colab}", {})
    assert asked == [], "anywhere else nothing is imported"
    monkeypatch.setitem(sys.modules, "google", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "google.colab", SimpleNamespace(output=output))
    exec(f"import sys\n# Colab{colab}", {})
    assert asked == ["allowed"] * bool(colab)


def test_nothing_of_the_books_own_syntax_is_left(made: NotebookNode) -> None:
    for cell in made.cells:
        if cell.cell_type == "markdown":
            text = re.sub(r"```.*?```", "", cell.source, flags=re.DOTALL)
            assert not re.search(r":::|\{[\w:-]+\}`|```\{|\\class|\)=$", text, re.MULTILINE)
            assert not re.search(r"\\(ann|fwd|bwd|state|energy|weight|context|word)\b", text)


def test_links_between_notebooks_lead_somewhere(made: NotebookNode) -> None:
    for cell in made.cells:
        if cell.cell_type == "markdown":
            for target in re.findall(r"\]\((?!https?:|data:|#)([^)\s]+)\)", cell.source):
                assert (NOTEBOOKS / target.partition("#")[0]).is_file(), target


@pytest.mark.slow
def test_it_runs_from_the_top_in_its_own_folder(made: NotebookNode) -> None:
    NotebookClient(
        made, timeout=600, startup_timeout=600, resources={"metadata": {"path": NOTEBOOKS}}
    ).execute()


OLDER_PROCESSOR = {
    "ATEN_CPU_CAPABILITY": "default",
    "MKL_CBWR": "COMPATIBLE",
    "ONEDNN_MAX_CPU_ISA": "SSE41",
}
"""No wide vectors: sums are rounded in another order, and a training ends with other weights."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [path for path in runnable() if trains(path)], ids=attrgetter("stem")
)
def test_what_a_page_says_of_its_trainings_holds_on_another_processor(page: Path) -> None:
    made = nbformat.read(NOTEBOOKS / f"{page.stem}.ipynb", as_version=4)
    NotebookClient(
        made, timeout=600, startup_timeout=600, resources={"metadata": {"path": NOTEBOOKS}}
    ).execute(env={**os.environ, **OLDER_PROCESSOR})


def test_the_first_cell_finds_the_clone_wherever_the_notebook_is(
    made: NotebookNode, lesson: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opening = made.cells[0].source
    for place in (NOTEBOOKS, tmp_path):  # in the clone, and where a browser puts it
        monkeypatch.chdir(place)
        exec(opening, {})
        assert Path.cwd() == lesson.parent
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("course_lib.records.LIBRARY", tmp_path)  # installed without the clone
    with pytest.raises(CourseError, match="Work in a clone"):
        exec(opening, {})


PAGE = """\
---
jupytext: {text_representation: {extension: .md, format_name: myst, format_version: 0.13}}
kernelspec: {display_name: Python 3, language: python, name: python3}
---

# 1 · One

%s
"""


@pytest.mark.parametrize("text", ["{unheard}`of`", "```{unheard}\nof\n```"])
def test_what_a_notebook_cannot_show_stops_the_conversion(tmp_path: Path, text: str) -> None:
    page = tmp_path / "01-one.md"
    page.write_text(PAGE % text, encoding="utf-8")
    with pytest.raises(ValueError, match="unheard"):
        notebook(page, ROOT)


def test_a_quiz_keeps_every_reply(tmp_path: Path) -> None:
    page = tmp_path / "01-one.md"
    quiz = ":::{quiz} Which?\n- ( ) This\n\n  No.\n- (x) $\\ann{j}$\n\n  Yes.\n:::"
    page.write_text(PAGE % quiz, encoding="utf-8")
    text = nbformat.reads(notebook(page, ROOT), as_version=4).cells[-1].source
    assert text.count("<details>") == 2
    assert "**Not quite.** No." in text
    assert "**Right.** Yes." in text
    assert "h_{j}" in text


def test_a_bar_in_a_table_stays_a_bar_in_formulas() -> None:
    assert in_a_cell(r"$|A|$, $\|v\|$, a|b") == r"$\vert A\vert $, $\Vert v\Vert $, a\|b"


def test_figures_and_equations_have_the_numbers_of_the_book(
    made: NotebookNode, site: Path, lesson: Path
) -> None:
    built = (site / lesson.relative_to(ROOT).with_suffix(".html")).read_text("utf-8")
    page = BeautifulSoup(built, "html.parser")
    wanted = [tag.get_text().strip() for tag in page.select("article figcaption .caption-number")]
    text = "\n".join(cell.source for cell in made.cells if cell.cell_type == "markdown")
    found = re.findall(r"^\*\*(Figure [\d.]+)\.\*\*", text, re.MULTILINE)
    assert found == wanted
    numbers = [tag.get_text().strip("()# \n\uf0c1¶") for tag in page.select("article .eqno")]
    assert re.findall(r"\\tag\{([\d.]+)\}", text) == numbers


def test_macros_are_expanded_with_their_arguments() -> None:
    macros = {"ann": [r"\class{role-annotation}{h_{#1}}", 1], "R": r"\mathbb{R}"}
    assert expand_macros(r"\ann{i-1} \in \R^n, \Rightarrow", macros) == (
        r"{h_{i-1}} \in \mathbb{R}^n, \Rightarrow"
    )


def test_a_device_inside_another_is_found() -> None:
    page = ["::::{exercise} Name", ":::{hint}", "Text.", ":::", "::::"]
    (block,) = parse(page)
    assert [inner.name for inner in block.all("hint")] == ["hint"]


# --- buttons --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "page", "count"),
    [
        ("https://github.com/who/what", "book/02-looking-back", 2),
        ("https://github.com/who/what", "book/assignments/attention_by_hand", 2),
        ("https://github.com/who/what", "book/notation", 0),
        ("https://github.com/who/what", "book/13-not-there", 0),
        ("", "book/02-looking-back", 0),
    ],
)
def test_a_page_has_its_buttons_once_there_is_a_repository(url: str, page: str, count: int) -> None:
    options = {"repository_url": url, "repository_branch": ""}
    app = SimpleNamespace(config=SimpleNamespace(html_theme_options=options), srcdir=ROOT)
    context: dict[str, list[dict[str, list[object]]]] = {"header_buttons": []}
    add_buttons(app, page, "page.html", context, None)
    assert sum(len(group["buttons"]) for group in context["header_buttons"]) == count


def test_buttons_lead_to_the_notebook_of_the_configured_repository() -> None:
    found = links("https://github.com/who/what.git", "main", "book/notebooks/a.ipynb")
    assert found == {
        "Colab": "https://colab.research.google.com/github/who/what/blob/main/book/notebooks/a.ipynb",
        "Binder": "https://mybinder.org/v2/gh/who/what/main?urlpath=lab/tree/book/notebooks/a.ipynb",
    }
    assert links("", "main", "a.ipynb") == {}
    assert links("https://example.org/who/what", "main", "a.ipynb") == {}
