"""Chapters as notebooks, for Colab, Binder and JupyterLab, which know none of the book's devices.

The text keeps its words, formulas, code and folds, in what every notebook shows: Markdown,
`<details>`, pictures inside the text. An unknown directive or role stops the conversion: nothing
is dropped quietly.
"""

import base64
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jupytext
import nbformat
import yaml
from nbformat import NotebookNode
from pybtex.database import BibliographyData, parse_file
from sphinx.directives.code import LiteralIncludeReader

from course_lib.first_cell import first_cell
from course_lib.widgets import FIGURES

from .citations import author_year
from .devices import Device
from .numbering import chapter_of
from .source import Block, parse, parts_of_the_book, read
from .words import LANGUAGES

LABELS = {device.kind: device.label for device in Device.__subclasses__()}
FOLDS = {"answer": "Show the answer", "hint": "Hint"}
NOTES = ("note", "tip", "warning", "important", "seealso", "admonition")
INCLUDE_OPTIONS: dict[str, Callable[[str], Any]] = {"dedent": lambda n: int(n) if n else None}

FOLDER_CELL = """

# Records and drawings are in the clone, wherever this notebook is.
from course_lib.records import work_in
work_in("{folder}")
"""

RECORDED_CELL = """\
from course_lib.widgets import {widget}
from course_lib.records import record_path

{widget}.recorded(record_path("{data}"))"""

COLAB_CELL = """\
# Colab shows the moving figures once widgets from outside are allowed.
if "google.colab" in sys.modules:
    from google.colab import output
    output.enable_custom_widget_manager()
"""


@dataclass
class Page:
    """What the whole page decides about its parts: macros, sources, numbers of figures."""

    path: Path
    root: Path
    macros: dict[str, Any]
    sources: BibliographyData
    colours: str  # the style sheet's variables, for drawings
    figures: dict[str, str] = field(default_factory=dict)
    equations: dict[str, str] = field(default_factory=dict)
    headings: dict[str, str] = field(default_factory=dict)
    exercises: dict[str, str] = field(default_factory=dict)


# --- text -----------------------------------------------------------------------------------------


def expand_macros(text: str, macros: dict[str, Any]) -> str:
    r"""The book's macros in plain TeX: `\ann{j}` becomes `h_{j}` and loses its colour."""
    for name, macro in macros.items():
        body, count = macro if isinstance(macro, list) else (macro, 0)
        body = re.sub(r"\\class\{[\w-]+\}", "", body)
        pattern = rf"\\{name}(?![A-Za-z])" + (r"\s*\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}" * count)

        def fill(match: re.Match[str], body: str = body) -> str:
            for i, value in enumerate(match.groups(), start=1):
                body = body.replace(f"#{i}", value)
            return body

        text = re.sub(pattern, fill, text)
    return text


def cite(page: Page, kind: str, keys: str) -> str:
    """An author and year as the book writes them, linked to the paper itself."""
    cited = []
    for key in keys.split(","):
        entry = page.sources.entries[key.strip()]
        who, year = author_year(entry).rsplit(", ", 1)
        label = f"{who} ({year})" if kind == "t" else f"{who}, {year}"
        cited.append(f"[{label}]({entry.fields['url']})")
    return ", ".join(cited) if kind == "t" else f"({'; '.join(cited)})"


def role(page: Page, name: str, content: str) -> str:
    """What a role says, in words."""
    given = re.fullmatch(r"(?s)(.*?)\s*<([^<>]+)>", content)
    text, target = (given[1], given[2]) if given else ("", content)
    if name.startswith("cite:"):
        return cite(page, name[5:], content)
    if name == "numref":
        return text or f"Figure {page.figures[target]}"
    if name == "eq":
        return f"({page.equations[target]})"
    if name == "ref":
        return text or page.headings.get(target) or page.exercises[target]
    if name == "term":
        return text or content
    if name in LANGUAGES:
        return f'<i lang="{name}">{content}</i>'
    if name == "w":
        return f"`{content}`"
    raise ValueError(f"{page.path.name}: a notebook cannot show the role `{{{name}}}`.")


def inline(page: Page, text: str) -> str:
    """One stretch of MyST text as plain Markdown."""
    text = re.sub(r"(?m)^\([\w-]+\)=\n?|^% .*\n?", "", text)
    text = re.sub(r"(?s)\{([\w:-]+)\}`([^`]+)`", lambda m: role(page, m[1], m[2]), text)
    text = re.sub(
        r"(?s)\$\$(.*?)\$\$ *\(([\w-]+)\)",
        lambda m: f"$${m[1].rstrip()}\n\\tag{{{page.equations[m[2]]}}}\n$$",
        text,
    )
    text = re.sub(r"\[([^\]]*)\]\{\.role-\w+\}", r"\1", text)
    text = re.sub(
        r"\]\((?!https?:)([\w./-]+\.md)((?:#[\w-]+)?)\)",
        lambda m: f"]({beside(page, m[1])}{m[2]})",
        text,
    )
    return expand_macros(text, page.macros)


def beside(page: Page, link: str) -> str:
    """Where a link leads from the notebooks' folder: to the page's notebook, if it has one."""
    book = page.root / "book"
    target = Path(os.path.normpath(page.path.parent / link))
    if has_notebook(target, book):
        return f"{target.stem}.ipynb"
    return Path("..", os.path.relpath(target, book)).as_posix()


def has_notebook(page: Path, book: Path) -> bool:
    """Chapters and the workshop's pages are notebooks, where they have anything to run."""
    teaches = (page.parent == book and page.name[:2].isdigit()) or page.parent == book / "workshop"
    return teaches and page.is_file() and "```{code-cell}" in page.read_text(encoding="utf-8")


def quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.strip().split("\n"))


def folded(summary: str, body: str) -> str:
    return f"<details><summary>{summary}</summary>\n\n{body.strip()}\n\n</details>\n"


def first_line_in_bold(label: str, heading: str) -> str:
    return f"**{label}{':' if heading else '.'}** {heading}".rstrip()


# --- blocks ---------------------------------------------------------------------------------------


def markdown(page: Page, items: list[str | Block]) -> str:
    """Lines and blocks of MyST as plain Markdown."""
    parts: list[str] = []
    lines: list[str] = []
    for item in [*items, Block("end")]:
        if isinstance(item, str):
            lines.append(item)
            continue
        if lines:
            parts.append(inline(page, "\n".join(lines)))
            lines = []
        if item.name != "end":
            parts.append(block(page, item))
    return "\n".join(parts)


def block(page: Page, item: Block) -> str:
    """One directive as plain Markdown."""
    heading = inline(page, item.argument)
    name = item.name
    if name == "code":
        return "\n".join([f"```{item.argument}", *item.lines, "```"])
    if name == "math":
        return expand_macros("\n".join(["$$", *item.lines, "$$"]), page.macros)
    if name == "literalinclude":
        return included(page, item)
    if name == "drawing":
        return drawing(page, item)
    if name == "quiz":
        return quiz(page, heading, item)
    if name == "side-by-side":
        return rows(page, item)
    body = markdown(page, item.items).strip()
    if name == "objectives":
        time, need = item.options["minutes"], inline(page, item.options["prerequisites"])
        facts = f"*Time:* about {time} minutes. *You need:* {need}"
        return quoted(f"{first_line_in_bold(LABELS[name], heading)}\n\n{body}\n\n{facts}") + "\n"
    if name in LABELS:
        return quoted(f"{first_line_in_bold(LABELS[name], heading)}\n\n{body}") + "\n"
    if name in FOLDS:
        return folded(heading or FOLDS[name], body)
    if name in NOTES:
        return quoted(f"**{heading or name.capitalize()}.** {body}") + "\n"
    if name in ("exercise", "exercise-start"):
        return f"{first_line_in_bold('Exercise', heading)}\n\n{body}\n"
    if name == "solution":
        return folded(f"Solution: {page.exercises[item.argument]}", body)
    if name == "solution-start":
        return first_line_in_bold("Solution", page.exercises[item.argument]) + f"\n\n{body}\n"
    if name in ("solution-end", "exercise-end"):
        return ""
    if name == "margin":
        return quoted(body) + "\n"
    if name == "figure":
        alt = " ".join(str(item.options["alt"]).split())
        number = page.figures[item.options["name"]]
        image = os.path.relpath(page.path.parent / item.argument, page.root / "book" / "workshop")
        return f"![{alt}]({image})\n\n{captioned(number, body)}\n"
    if name in ("container", "div"):
        return body
    raise ValueError(f"{page.path.name}: a notebook cannot show the directive `{{{name}}}`.")


def included(page: Page, item: Block) -> str:
    """The library's lines, as the book shows them."""
    options = {k: INCLUDE_OPTIONS.get(k, str)(v) for k, v in item.options.items()}
    path = page.root / item.argument.lstrip("/")
    reader = LiteralIncludeReader(str(path), options, SimpleNamespace(source_encoding="utf-8"))
    text, _ = reader.read()
    return f"```{item.options.get('language', 'python')}\n{text.rstrip()}\n```\n"


def drawing(page: Page, item: Block) -> str:
    """The drawing inside the text, on white, with the colours of the book's light theme."""
    source = (page.path.parent / item.argument).read_text(encoding="utf-8")
    rules = [f"svg {{ {page.colours} background: #fff; color: #1b1b1b; font-family: sans-serif; }}"]
    rules += ["text { fill: currentColor; }"]
    for role in re.findall(r"--role-(\w+):", page.colours):
        rules += [f".role-{role} {{ color: var(--role-{role}); }}"]
    style = f"<style>{' '.join(rules)}</style>"
    source = re.sub(r"(<svg[^>]*>)", lambda m: m[1] + style, source, count=1)
    data = base64.b64encode(source.encode()).decode()
    alt = " ".join(str(item.options["alt"]).split()).replace("]", ")").replace("[", "(")
    caption = markdown(page, item.items).strip()
    number = page.figures[item.options["name"]]
    return f"![{alt}](data:image/svg+xml;base64,{data})\n\n{captioned(number, caption)}\n"


def captioned(number: str, caption: str) -> str:
    return f"**Figure {number}.** {' '.join(caption.split())}"


def quiz(page: Page, heading: str, item: Block) -> str:
    """A question, and each option as a fold that answers back."""
    parts = [f"**Quiz.** {heading}", ""]
    stem, *options = re.split(r"(?m)^- (?=\([ x]\) )", "\n".join(flat(page, item)))
    parts += [stem.strip(), ""] if stem.strip() else []
    for option in options:
        mark, text = option[1], option[4:]
        summary, _, reply = text.partition("\n\n")
        verdict = "Right." if mark == "x" else "Not quite."
        reply = re.sub(r"(?m)^  ", "", reply)
        summary = " ".join(inline(page, summary).split())
        parts.append(folded(summary, f"**{verdict}** {inline(page, reply).strip()}"))
    return "\n".join(parts)


def flat(page: Page, item: Block) -> list[str]:
    """The lines of a block with its inner fences set back among them."""
    lines: list[str] = []
    for inner in item.items:
        lines += [inner] if isinstance(inner, str) else block(page, inner).split("\n")
    return lines


def rows(page: Page, item: Block) -> str:
    """Equation, line and shape as a Markdown table; code in fences becomes code in the cell."""
    entries: list[list[str]] = []
    for part in item.items:
        if isinstance(part, Block):
            code = "<br>".join(f"`{line.strip()}`" for line in part.lines if line.strip())
            entries[-1][-1] += code
            continue
        start = re.match(r"\s*\* - (.*)|\s+- (.*)", part)
        if start and start[1] is not None:
            entries.append([start[1]])
        elif start:
            entries[-1].append(start[2])
        elif part.strip():
            entries[-1][-1] += " " + part.strip()
    # A fence that opens in the line of its item has been read as text: `- ```python`.
    table = [["Equation", "Line", "Shape"], ["---"] * 3]
    for row in entries:
        table += [
            [
                in_a_cell(re.sub(r"```\w*\s*(.*?)\s*```", r"`\1`", inline(page, entry)))
                for entry in row
            ]
        ]
    return "\n".join(f"| {' | '.join(row)} |" for row in table) + "\n"


def in_a_cell(text: str) -> str:
    """Text whose bars do not end a table's cell; inside a formula an escaped bar is a norm."""
    formula = re.compile(r"\$[^$]*\$")
    text = formula.sub(lambda m: m[0].replace(r"\|", r"\Vert ").replace("|", r"\vert "), text)
    return text.replace("|", r"\|")


# --- pages ----------------------------------------------------------------------------------------


def figure_names(tree: Block) -> list[str]:
    """The labels of a page's figures, in order."""
    found = []
    for item in tree.all("code-cell", "drawing", "moving", "figure"):
        cell = item.options.get("mystnb") or {}
        name = item.options.get("name") or cell.get("figure", {}).get("name")
        found += [name] if name else []
    return found


def equation_names(path: Path) -> list[str]:
    """The labels of a page's numbered equations, in order."""
    return re.findall(r"\$\$ *\(([\w-]+)\)", path.read_text(encoding="utf-8"))


def numbered(page: Page, tree: Block) -> None:
    """Give labels what they stand for: figures and equations of any page, which count within it."""
    book = [source for _, part in parts_of_the_book(page.root) for source in part]
    for source in {*book, page.path}:
        chapter = chapter_of(source.stem)
        before = f"{chapter}." if chapter else ""
        figures = figure_names(tree if source == page.path else read(source)[1])
        page.figures |= {name: f"{before}{n}" for n, name in enumerate(figures, start=1)}
        equations = equation_names(source)
        page.equations |= {name: f"{before}{n}" for n, name in enumerate(equations, start=1)}
    text = page.path.read_text(encoding="utf-8")
    for target, heading in re.findall(r"(?m)^\(([\w-]+)\)=\n+#+ (.+)$", text):
        page.headings[target] = heading
    for item in tree.all("exercise", "exercise-start"):
        page.exercises[str(item.options["label"])] = item.argument


def code_cell(page: Page, cell: NotebookNode) -> list[NotebookNode]:
    """A cell that runs, and under a figure its caption."""
    made = nbformat.v4.new_code_cell(cell.source)
    tags = cell.metadata.get("tags", [])
    if {"remove-input", "remove-cell", "hide-input", "hide-cell"} & set(tags):
        made.metadata["jupyter"] = {"source_hidden": True}
    figure = cell.metadata.get("mystnb", {}).get("figure")
    if not figure:
        return [made]
    caption = captioned(page.figures[figure["name"]], inline(page, figure["caption"]))
    return [made, nbformat.v4.new_markdown_cell(caption)]


def text_cells(page: Page, source: str) -> list[NotebookNode]:
    """A stretch of text, and in its place each moving figure as a cell that makes its widget."""
    made, text = [], list[str | Block]()
    for item in [*parse(source.split("\n")), Block("moving")]:
        if isinstance(item, str) or item.name != "moving":
            text.append(item)
            continue
        shown = re.sub(r"\n{3,}", "\n\n", markdown(page, text)).strip()
        made += [nbformat.v4.new_markdown_cell(shown)] if shown else []
        text = []
        if item.argument:
            widget = FIGURES[item.argument].widget.__name__
            data = item.options.get("data")
            code = f"from course_lib.widgets import {widget}\n\n{widget}()"
            if data:
                code = RECORDED_CELL.format(widget=widget, data=data)
            caption = markdown(page, item.items).strip()
            caption = captioned(page.figures[item.options["name"]], caption)
            made += [nbformat.v4.new_code_cell(code), nbformat.v4.new_markdown_cell(caption)]
    return made


def open_page(path: Path, root: Path) -> Page:
    """Everything of the book that a page's conversion needs."""
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    style = (root / "book" / "_static" / "book.css").read_text(encoding="utf-8")
    colours = dict(reversed(re.findall(r"(--role-\w+): (#[0-9a-f]{6});", style)))
    return Page(
        path,
        root,
        config["sphinx"]["config"]["mathjax3_config"]["tex"]["macros"],
        parse_file(root / "book" / "references.bib"),
        " ".join(f"{name}: {value};" for name, value in colours.items()),
    )


def notebook(path: Path, root: Path, url: str = "") -> str:
    """The notebook of one chapter as the text of an .ipynb file: nothing has run in it yet."""
    _, tree = read(path)
    page = open_page(path, root)
    numbered(page, tree)
    source = jupytext.reads(path.read_text(encoding="utf-8"), fmt="md:myst")
    folder = Path(os.path.relpath(path.parent, root)).as_posix()
    opening = first_cell(url, "book") + FOLDER_CELL.format(folder=folder)
    opening += COLAB_CELL * any(tree.all("moving"))
    made = [nbformat.v4.new_code_cell(opening.rstrip())]
    for cell in source.cells:
        made += code_cell(page, cell) if cell.cell_type == "code" else text_cells(page, cell.source)
    for number, cell in enumerate(made):
        cell["id"] = f"{path.stem}-{number}"
    metadata = {"kernelspec": source.metadata["kernelspec"], "language_info": {"name": "python"}}
    return nbformat.writes(nbformat.v4.new_notebook(cells=made, metadata=metadata)) + "\n"
