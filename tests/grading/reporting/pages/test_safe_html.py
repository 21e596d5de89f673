"""Foreign text on a page: shown, never run."""

import re

import pytest
from bs4 import BeautifulSoup
from nbconvert import HTMLExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from course_lib.grading.reporting.pages import safe_html
from course_lib.grading.reporting.pages.formulas import mathml
from course_lib.grading.sources.marked_cells import grade_id, is_grade, is_solution
from course_lib.grading.sources.project import (
    assignment_names,
    load_config,
    source_of,
)
from course_lib.grading.sources.release import source_notebook
from tests.conftest import ROOT

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<a href='javascript:alert(1)'>here</a>",
    "[here](javascript:alert(1))",
    "[here](javascript&colon;alert(1))",
    "[here](javascript&#58;alert(1)) [here](java&Tab;script&colon;alert(1))",
    r"[here](javascript\:alert(1)) [here](\javascript:alert(1))",
    "[here][there]\n\n[there]: javascript&colon;alert(1)",
    "<javascript:alert(1)> <JAVASCRIPT&colon;alert(1)>",
    "[here](vbscript:x) [here](file:///etc/passwd) [here](blob:x) [here](//example.org)",
    "[here](data:text/html;base64,PHNjcmlwdD4=)",
    "<iframe src='https://example.org'></iframe>",
    "<style>body { display: none }</style>",
    "<p style='position:fixed;inset:0' onclick='alert(1)' id='top'>over everything</p>",
    "<form action='https://example.org'><input name=a></form>",
    "<base href='https://example.org/'><meta http-equiv=refresh content='0;url=//example.org'>",
    "![picture](https://example.org/spy.png)",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    r"$\text{<img src=x onerror=alert(1)>}$",
    r"$\href{javascript:alert(1)}{x}$",
    r"$\style{background:url(//example.org)}{x}$",
    r"$$\unicode{<script>}</script>\class{top}{x}$$",
    "`<script>alert(1)</script>`",
    "```html\n<script>alert(1)</script>\n```",
    "<details open ontoggle=alert(1)><summary>x</summary></details>",
]


class Reader:
    """A page's elements with their attributes."""

    def __init__(self, page: str) -> None:
        elements = BeautifulSoup(page, "html.parser", multi_valued_attributes=None).find_all(True)
        self.tags = {element.name for element in elements}
        self.attributes = {item for element in elements for item in element.attrs.items()}


FORBIDDEN = {"script", "style", "svg", "iframe", "form", "base", "meta"}


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_markdown_has_neither_script_nor_address(text: str) -> None:
    made = Reader(safe_html.markdown(f"before\n\n{text}\n\nafter $x_1$"))
    allowed = {"class", "tabindex", "role", "aria-label", "alttext", "display"}
    assert {name for name, _ in made.attributes} <= allowed
    assert not made.tags & (FORBIDDEN | {"img"})


def test_nbgraders_own_page_shows_texts_and_pictures_and_runs_nothing() -> None:
    cells = [new_markdown_cell(text) for text in HOSTILE]
    cells.append(new_markdown_cell("[good](https://example.org/a) ![map](attachment:map.png)"))
    cells[-1]["attachments"] = {"map.png": {"image/png": "aGVsbG8="}}
    exporter = HTMLExporter(config=load_config(ROOT))
    page, _ = exporter.from_notebook_node(new_notebook(cells=cells))
    made = Reader(page.split("</head>")[1])
    links = {value for name, value in made.attributes if name in {"href", "xlink:href"}}
    assert links == {"https://example.org/a"}
    pictures = {value for name, value in made.attributes if name == "src"}
    assert pictures == {"data:image/png;base64,aGVsbG8="}
    assert not made.tags & FORBIDDEN
    assert not [name for name, _ in made.attributes if name.startswith("on")]


def test_the_form_graders_page_opens_at_what_a_person_marks() -> None:
    notebook = source_notebook(source_of(ROOT, assignment_names(ROOT)[0]))
    [part] = [grade_id(cell) for cell in notebook.cells if is_grade(cell) and is_solution(cell)]
    exporter = HTMLExporter(config=load_config(ROOT))
    for resources, count in (({"submission_id": "1"}, 1), ({}, 0)):
        page, _ = exporter.from_notebook_node(notebook, resources)
        assert page.count(f'index($("#{part}"))') == count


def test_ordinary_markdown_keeps_its_form() -> None:
    made = safe_html.markdown(
        "## Part 1\n\n| a | b |\n| - | - |\n| 1 | $x$ |\n\n<details><summary>Hint</summary>\n\n"
        "*so* [there](https://example.org)\n</details>",
        shift=2,
    )
    for piece in ("<h4>Part 1</h4>", "<table>", "<math", "<details><summary>Hint</summary>"):
        assert piece in made
    assert '<em>so</em> <a href="https://example.org">there</a>' in made


@pytest.mark.parametrize(
    "text",
    [
        *("<pad>", "<s>", "<EOS>", "<subject> <object> <verb>", "<script>x</script>", "<?x ?>"),
        *("<!-- x -->", "<img src=x>", "<object>x", "<style>p { }</style>"),
    ],
)
def test_what_is_no_markup_here_is_shown_as_it_was_written(text: str) -> None:
    page = BeautifulSoup(
        safe_html.markdown(f"before {text} after\n\n{text}\n\nlast"), "html.parser"
    )
    assert page.get_text().split().count(text.split()[0]) == 2
    assert " ".join(page.get_text().split()) == f"before {text} after {text} last"


def test_code_of_blank_lines_is_shown_without_them() -> None:
    """Colouring them takes time that grows with their square."""
    assert safe_html.code("x = 1" + " \n" * (safe_html.LONGEST_TEXT // 2 - 9)) == safe_html.code(
        "x = 1"
    )


def test_formulas_are_mathml_and_aligned_equations_a_table() -> None:
    made = mathml(r"\begin{aligned} e &= v_a^\top x \\ c &= \sum_j h_j \end{aligned}", True)
    assert made.count("<mtr>") == 2
    assert 'class="aligned"' in made
    assert "&amp;" not in made.split("alttext=")[1].split(">", 1)[1]
    assert "<mi>α</mi>" in mathml(r"\alpha", False)
    for broken in (r"\begin{nothing}", r"\newcommand{\a}{\a\a}\a", "x" * 3000):
        assert mathml(broken, False).startswith('<code class="tex">')


def test_what_is_too_long_is_cut_and_says_so() -> None:
    cell = new_code_cell(outputs=[new_output("stream", text="x" * 100_000)])
    (shown,) = safe_html.outputs(cell)
    assert len(shown) < 10_000
    assert "92,000 characters more" in shown


def test_html_and_scripts_a_cell_displays_are_not_taken_over() -> None:
    data = {"text/html": "<script>alert(1)</script>", "text/plain": "<b>plain</b>"}
    cell = new_code_cell(
        outputs=[
            new_output("display_data", data=data),
            new_output("display_data", data={"application/javascript": "alert(1)"}),
            new_output("display_data", data={"image/png": '"onerror="alert(1)'}),
            new_output("display_data", data={"image/png": "aGVsbG8="}),
            new_output("stream", text="\x1b[31mred\x1b[0m <i>"),
        ]
    )
    shown = "".join(safe_html.outputs(cell))
    assert "script" not in shown
    assert "onerror" not in shown
    assert "&lt;b&gt;plain&lt;/b&gt;" in shown
    assert shown.count("<img") == 1
    assert "red &lt;i&gt;" in shown


@pytest.mark.parametrize("text", ["[" * 9000, "*a" * 4500, "> " * 4500, "<b>" * 3000, "$" * 9000])
def test_endless_nesting_ends(text: str) -> None:
    assert safe_html.markdown(text)


@pytest.mark.parametrize("name", assignment_names(ROOT))
def test_every_formula_of_an_assignment_can_be_set(name: str) -> None:
    for cell in source_notebook(source_of(ROOT, name)).cells:
        if cell.cell_type == "markdown":
            made = safe_html.markdown(cell.source)
            assert 'class="tex"' not in made, cell.source
            assert "$" not in re.sub(r'alttext="[^"]*"|<code>.*?</code>', "", made)
