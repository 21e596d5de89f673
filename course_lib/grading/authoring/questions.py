"""The book's quizzes and predictions as a question bank, for Canvas and for Moodle.

Canvas imports QTI 1.2 in a package of IMS (Settings > Import Course Content > QTI .zip file).
Moodle itself imports no QTI; its own XML does the same there (Question bank > Import > Moodle XML
format). A picture comes along: for Canvas as a file of the package, which its importer makes one of
the course (`qti_exporter/lib/qti/html_helper.rb` finds it by its path); for Moodle beside the text
that shows it (`question/format/xml/format.php`).
"""

import base64
import hashlib
import html
import io
import itertools
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import yaml
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from course_lib.errors import CourseError
from course_lib.figures.templates import render

MANIFEST, BANK = "imsmanifest.xml", "questions.xml"
PICTURES = "pictures"
"""The folder of the package with the pictures, and how their addresses in the HTML begin."""
_BLOCK = re.compile(
    r"^(?P<fence>:{3,})\{(?P<kind>quiz|predict)\} (?P<title>.*?)\n(?P<body>.*?)^(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)
_OPTION = re.compile(r"^- \((?P<mark>[ x])\) (?P<text>.*?)\n(?=^- \(|\Z)", re.MULTILINE | re.DOTALL)
_ROLE = re.compile(r"\{[\w:-]+\}`([^`<]*?)\s*(?:<[^>`]*>)?`")
_INNER_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?:)[^)]*\)")
_IMAGE = re.compile(r'<img src="(?!https?:)([^"]*)" alt="([^"]*)"')
_SHOWN = re.compile(rf'(?<=src="){PICTURES}/([^"]*)')
_ARGUMENT = r"\{((?:[^{}]|\{[^{}]*\})*)\}"


@dataclass(frozen=True)
class Option:
    """An answer that can be chosen, and what is said back; both in HTML."""

    text: str
    reply: str
    right: bool


@dataclass(frozen=True)
class Question:
    """One question of a chapter, in HTML; without options it is answered in words.

    `pictures` has the files that the HTML shows, by their names in the folder `PICTURES`.
    """

    chapter: str
    title: str
    text: str
    options: tuple[Option, ...] = ()
    pictures: Mapping[str, bytes] = field(default_factory=dict)


def book_questions(root: Path) -> list[Question]:
    """All quizzes and predictions of the book, in the order of its pages.

    Raises:
        CourseError: the pages are not there, a quiz has not one right answer, or a picture is not
            there or has no alternative text.
    """
    chapters = sorted((root / "book").glob("[0-9][0-9]*.md"))
    pages = [*chapters, *sorted((root / "book" / "workshop").glob("*.md"))]
    if not pages:
        raise CourseError(f"There are no chapters in {root / 'book'}: run it in a whole clone.")
    as_html = _writer(root)
    return [one for page in pages for one in _of_page(page, as_html)]


def _of_page(page: Path, plain_html: Callable[[str], str]) -> Iterator[Question]:
    source = page.read_text(encoding="utf-8")
    chapter = source.split("\n# ", 1)[-1].split("\n", 1)[0].lstrip("# ")
    for found in _BLOCK.finditer(source):
        title, body = found["title"], found["body"]
        pictures: dict[str, bytes] = {}
        as_html = partial(_with_pictures, page, pictures, plain_html)
        if found["kind"] == "predict":
            yield Question(chapter, title, as_html(body), pictures=pictures)
            continue
        options = [
            _option(one["text"], one["mark"] == "x", as_html) for one in _OPTION.finditer(body)
        ]
        if sum(one.right for one in options) != 1:
            raise CourseError(f"{page.name}: the quiz {title!r} has not one right answer.")
        stem = body[: body.index("- (")]
        text = as_html(f"{title}\n\n{stem}")
        yield Question(chapter, title, text, tuple(options), pictures)


def _with_pictures(
    page: Path, pictures: dict[str, bytes], as_html: Callable[[str], str], text: str
) -> str:
    """The HTML of a text of a page; its pictures are put into `pictures`, and shown from there."""

    def taken(image: re.Match[str]) -> str:
        path = page.parent / unquote(image[1])
        if not path.is_file() or not image[2]:
            lacks = "no alternative text" if path.is_file() else "no file"
            raise CourseError(f"{page.name}: the picture {image[1]} of a question has {lacks}.")
        data = path.read_bytes()
        # importers find a file by the end of its path, and not every letter survives in one
        name = hashlib.sha256(data).hexdigest()[:16] + path.suffix.lower()
        pictures[name] = data
        return f'<img src="{PICTURES}/{name}" alt="{image[2]}"'

    return _IMAGE.sub(taken, as_html(text))


def _option(text: str, right: bool, as_html: Callable[[str], str]) -> Option:
    choice, _, reply = text.partition("\n\n")
    reply = "\n".join(line.removeprefix("  ") for line in reply.splitlines())
    return Option(as_html(choice), as_html(reply), right)


def _writer(root: Path) -> Callable[[str], str]:
    """What makes HTML of the book's text; formulas stay TeX, which both platforms set."""
    settings = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    macros = settings["sphinx"]["config"]["mathjax3_config"]["tex"]["macros"]

    def tex(formula: str, options: Any = None) -> str:
        for name, meaning in macros.items():
            body = meaning[0] if isinstance(meaning, list) else meaning
            argument = _ARGUMENT if isinstance(meaning, list) else ""
            # a function of TeX is written out: its argument stands where the body has #1
            written = body.replace("\\", r"\\").replace("#1", r"\1")
            formula = re.sub(rf"\\{name}(?![a-zA-Z]){argument}", written, formula)
        formula = re.sub(r"\\class\{[\w-]+\}" + _ARGUMENT, r"\1", formula)
        block = bool(options and options.get("display_mode"))
        return html.escape(rf"\[{formula}\]" if block else rf"\({formula}\)")

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    dollarmath_plugin(markdown, renderer=tex)

    def as_html(text: str) -> str:
        plain = _INNER_LINK.sub(r"\1", _ROLE.sub(r"\1", text.strip()))
        return str(markdown.render(plain)).strip()

    return as_html


def bank_for_canvas(bank: list[Question]) -> bytes:
    """The zip that Canvas imports: a manifest, and all questions as QTI 1.2."""
    pictures = {
        f"{PICTURES}/{name}": data for one in bank for name, data in sorted(one.pictures.items())
    }
    files = {
        MANIFEST: _xml("imsmanifest.xml.j2", bank=BANK, pictures=[*pictures]),
        BANK: _xml("canvas.xml.j2", bank=bank),
        **pictures,
    }
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)  # no clock: the same book makes the same bytes
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return data.getvalue()


def bank_for_moodle(bank: list[Question]) -> bytes:
    """The XML that Moodle imports, a category for each page of the book."""
    by_chapter = itertools.groupby(bank, lambda question: question.chapter)
    chapters = [(chapter, [*questions]) for chapter, questions in by_chapter]
    return _xml("moodle.xml.j2", chapters=chapters, moodle=_for_moodle)


def _for_moodle(text: str, pictures: Mapping[str, bytes]) -> tuple[str, dict[str, str]]:
    """A text, and by their names the files of the pictures that it shows, as base64."""
    shown = _SHOWN.sub(r"@@PLUGINFILE@@/\1", text)
    return shown, {name: base64.b64encode(pictures[name]).decode() for name in _SHOWN.findall(text)}


def _xml(template: str, **values: Any) -> bytes:
    return render("course_lib.grading", "authoring", template, **values).lstrip().encode()
