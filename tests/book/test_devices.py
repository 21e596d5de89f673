"""The directives refuse what would leave a reader without an answer."""

import io
import json
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, Tag
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils


def build(folder: Path, text: str) -> tuple[BeautifulSoup, str]:
    """The page made of this text, and what Sphinx complained about."""
    source = folder / "source"
    source.mkdir(exist_ok=True)
    (source / "index.md").write_text(f"# Page\n\n{text}", encoding="utf-8")
    (source / "conf.py").write_text("", encoding="utf-8")
    names = ("folds", "devices", "quiz", "drawings", "moving", "formulas")
    devices = [f"course_book.{name}" for name in names]
    settings = {
        "extensions": ["myst_parser", *devices],
        "myst_enable_extensions": ["colon_fence", "dollarmath"],
        "html_theme": "basic",
    }
    warnings = io.StringIO()
    with patch_docutils(), docutils_namespace():
        app = Sphinx(
            source,
            source,
            folder / "html",
            folder / "doctrees",
            "html",
            confoverrides=settings,
            status=None,
            warning=warnings,
        )
        app.build()
    html = (folder / "html" / "index.html").read_text(encoding="utf-8")
    return BeautifulSoup(html, "html.parser"), warnings.getvalue()


QUIZ = """\
:::{quiz} Which state asks?
- ( ) The new one

  It is not there *yet*.
- (x) The *previous* one

  Before the update.
:::
"""


def only(page: BeautifulSoup, selector: str) -> Tag:
    (element,) = page.select(selector)
    return element


def test_a_quiz_replies_to_every_option(tmp_path: Path) -> None:
    page, complaints = build(tmp_path, QUIZ)
    assert complaints == ""
    group = only(page, "[role=group]")
    assert only(page, f"#{group['aria-labelledby']}").get_text() == "Which state asks?"
    options = group.select("details")
    names = [option.summary.get_text() for option in options]
    assert names == ["Answer 1: The new one", "Answer 2: The previous one"]
    replies = [option.p.get_text() for option in options]
    assert replies == ["Not quite. It is not there yet.", "Right. Before the update."]
    assert not any(option.has_attr("open") for option in options)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (QUIZ.replace("( )", "(x)"), "one right one, not 2"),
        (QUIZ.replace("(x)", "( )"), "one right one, not 0"),
        (QUIZ.replace("\n  Before the update.\n", ""), "says nothing back"),
        (QUIZ.replace("- ( ) The", "- The"), "starts with ( ) or (x)"),
        (":::{quiz} Why?\nNo options.\n:::", "ends in a list of options"),
        (":::{objectives}\n:minutes: 30\n\n- Say it.\n:::", "needs the option :prerequisites:"),
        (":::{objectives}\n:prerequisites: x\n\n- Say it.\n:::", "needs the option :minutes:"),
        (":::{drawing} nothing.svg\n:name: fig-x\n\nA caption.\n:::", "needs the option :alt:"),
        (":::{moving} nothing\n:name: fig-x\n:alt: x\n\nA caption.\n:::", "no moving figure"),
        (":::{moving} beam_tree\n:alt: x\n\nA caption.\n:::", "moving needs the option :name:"),
    ],
)
def test_what_is_left_out_is_reported(tmp_path: Path, text: str, complaint: str) -> None:
    _, complaints = build(tmp_path, text)
    assert complaint in complaints


def test_a_box_has_its_label_and_its_own_heading(tmp_path: Path) -> None:
    page, complaints = build(tmp_path, ":::{predict} Which *bends* first?\nWrite it down.\n:::")
    assert complaints == ""
    title = only(page, ".device-predict > .admonition-title")
    assert title.get_text() == "Predict first Which bends first?"


def test_answers_and_hints_are_closed_until_asked_for(tmp_path: Path) -> None:
    text = "::::{bug} Where?\nCode.\n:::{answer}\nThere.\n:::\n::::\n\n:::{hint}\nLook.\n:::"
    page, complaints = build(tmp_path, text)
    assert complaints == ""
    assert only(page, ".device-bug details > summary").get_text() == "Show the answer"
    assert only(page, "details.fold-hint > summary").get_text() == "Hint"
    assert not any(fold.has_attr("open") for fold in page.select("details"))


def test_equation_line_and_shape_stand_in_one_row(tmp_path: Path) -> None:
    text = ":::{side-by-side}\n* - e\n  - `energies`\n  - `(B, Tx)`\n:::"
    page, complaints = build(tmp_path, text)
    assert complaints == ""
    rows = only(page, "table.side-by-side").select("tr")
    cells = [[cell.get_text().strip() for cell in row.select("th, td")] for row in rows]
    assert cells == [["Equation", "Line", "Shape"], ["e", "energies", "(B, Tx)"]]


def test_a_formula_keeps_the_punctuation_at_it_on_its_line(tmp_path: Path) -> None:
    page, complaints = build(tmp_path, "Of $a$, $b$ and ($c$); see *$d$*.")
    assert complaints == ""
    whole = [span.get_text() for span in page.select("span.one-line")]
    assert whole == [r"\(a\),", r"(\(c\));"]
    assert only(page, "p").get_text() == r"Of \(a\), \(b\) and (\(c\)); see \(d\)."


def test_a_moving_figure_has_its_picture_data_and_caption(tmp_path: Path) -> None:
    text = ":::{moving} attention_by_hand\n:name: fig-a\n:alt: Three arrows\n\nMove one.\n:::"
    page, complaints = build(tmp_path, text)
    assert complaints == ""
    figure = page.select_one("figure#fig-a")
    assert figure is not None
    assert figure.select_one(".moving-still img[alt='Three arrows']") is not None
    assert json.loads(figure.select_one("script[type='application/json']").string)["v"] == [1, 1]
    assert "Move one." in figure.select_one("figcaption").get_text()


def test_a_drawing_is_in_the_page_and_says_what_it_shows(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    svg = '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"></svg>'
    (tmp_path / "source" / "a.svg").write_text(svg)
    text = ':::{drawing} a.svg\n:name: fig-a\n:alt: A "line"\n\nWhat to see.\n:::'
    page, complaints = build(tmp_path, text)
    assert complaints == ""
    figure = only(page, "figure#fig-a")
    assert only(page, "figure svg")["aria-label"] == 'A "line"'
    assert figure.figcaption.get_text().strip().startswith("What to see.")
