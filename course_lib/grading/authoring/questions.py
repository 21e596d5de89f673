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
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import yaml
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from course_lib.errors import CourseError

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
    top = Element("questestinterop", xmlns="http://www.imsglobal.org/xsd/ims_qtiasiv1p2")
    test = SubElement(top, "assessment", ident="looking-back", title="Looking Back")
    section = SubElement(test, "section", ident="root_section")
    for number, question in enumerate(bank, start=1):
        _canvas_item(section, f"question-{number}", question)
    manifest = Element(
        "manifest",
        identifier="looking-back-questions",
        xmlns="http://www.imsglobal.org/xsd/imsccv1p1/imscp_v1p1",
    )
    metadata = SubElement(manifest, "metadata")
    SubElement(metadata, "schema").text = "IMS Content"
    SubElement(metadata, "schemaversion").text = "1.1.3"
    SubElement(manifest, "organizations")
    resources = SubElement(manifest, "resources")
    kind = {"identifier": "looking-back", "type": "imsqti_xmlv1p2", "href": BANK}
    SubElement(SubElement(resources, "resource", kind), "file", href=BANK)
    pictures = {
        f"{PICTURES}/{name}": data for one in bank for name, data in sorted(one.pictures.items())
    }
    for number, path in enumerate(pictures, start=1):
        kind = {"identifier": f"picture-{number}", "type": "webcontent", "href": path}
        SubElement(SubElement(resources, "resource", kind), "file", href=path)
    files = {MANIFEST: _text(manifest), BANK: _text(top), **pictures}
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)  # no clock: the same book makes the same bytes
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return data.getvalue()


def _canvas_item(section: Element, ident: str, question: Question) -> None:
    item = SubElement(section, "item", ident=ident, title=question.title)
    fields = SubElement(SubElement(item, "itemmetadata"), "qtimetadata")
    kind = "multiple_choice_question" if question.options else "essay_question"
    for label, entry in (("question_type", kind), ("points_possible", "1")):
        one = SubElement(fields, "qtimetadatafield")
        SubElement(one, "fieldlabel").text = label
        SubElement(one, "fieldentry").text = entry
    shown = SubElement(item, "presentation")
    _material(shown, question.text)
    scoring = SubElement(item, "resprocessing")
    score = {"maxvalue": "100", "minvalue": "0", "varname": "SCORE", "vartype": "Decimal"}
    SubElement(SubElement(scoring, "outcomes"), "decvar", score)
    if not question.options:
        answer = SubElement(shown, "response_str", ident="response1", rcardinality="Single")
        SubElement(SubElement(answer, "render_fib"), "response_label", ident="answer1")
        SubElement(SubElement(SubElement(scoring, "respcondition"), "conditionvar"), "other")
        return
    answer = SubElement(shown, "response_lid", ident="response1", rcardinality="Single")
    choices = SubElement(answer, "render_choice")
    for number, option in enumerate(question.options, start=1):
        _material(SubElement(choices, "response_label", ident=f"{ident}-{number}"), option.text)
        said = SubElement(scoring, "respcondition")
        said.set("continue", "Yes")
        chosen = SubElement(SubElement(said, "conditionvar"), "varequal", respident="response1")
        chosen.text = f"{ident}-{number}"
        reply = {"feedbacktype": "Response", "linkrefid": f"{ident}-{number}_fb"}
        SubElement(said, "displayfeedback", reply)
        if option.right:
            right = SubElement(scoring, "respcondition")
            right.set("continue", "No")
            same = SubElement(SubElement(right, "conditionvar"), "varequal", respident="response1")
            same.text = f"{ident}-{number}"
            SubElement(right, "setvar", action="Set", varname="SCORE").text = "100"
    for number, option in enumerate(question.options, start=1):
        feedback = SubElement(item, "itemfeedback", ident=f"{ident}-{number}_fb")
        _material(SubElement(feedback, "flow_mat"), option.reply)


def _material(parent: Element, text: str) -> None:
    SubElement(SubElement(parent, "material"), "mattext", texttype="text/html").text = text


def bank_for_moodle(bank: list[Question]) -> bytes:
    """The XML that Moodle imports, a category for each page of the book."""
    top, chapter = Element("quiz"), ""
    for question in bank:
        if question.chapter != chapter:
            chapter = question.chapter
            category = SubElement(SubElement(top, "question", type="category"), "category")
            name = chapter.replace("/", "//")  # one alone would begin a category below
            SubElement(category, "text").text = f"$course$/top/Looking Back/{name}"
        kind = "multichoice" if question.options else "essay"
        item = SubElement(top, "question", type=kind)
        SubElement(SubElement(item, "name"), "text").text = question.title
        _moodle_text(item, "questiontext", question.text, question.pictures)
        SubElement(item, "defaultgrade").text = "1"
        if not question.options:
            SubElement(item, "responseformat").text = "editor"
            continue
        SubElement(item, "single").text = "true"
        SubElement(item, "shuffleanswers").text = "true"
        for option in question.options:
            answer = SubElement(item, "answer", fraction="100" if option.right else "0")
            answer.set("format", "html")
            _moodle_html(answer, option.text, question.pictures)
            _moodle_text(answer, "feedback", option.reply, question.pictures)
    return _text(top)


def _moodle_text(parent: Element, name: str, text: str, pictures: Mapping[str, bytes]) -> None:
    _moodle_html(SubElement(parent, name, format="html"), text, pictures)


def _moodle_html(element: Element, text: str, pictures: Mapping[str, bytes]) -> None:
    """A text, and beside it the files of the pictures that it shows."""
    SubElement(element, "text").text = _SHOWN.sub(r"@@PLUGINFILE@@/\1", text)
    for name in dict.fromkeys(_SHOWN.findall(text)):
        file = SubElement(element, "file", name=name, path="/", encoding="base64")
        file.text = base64.b64encode(pictures[name]).decode()


def _text(element: Element) -> bytes:
    indent(element)
    written: bytes = tostring(element, encoding="utf-8", xml_declaration=True)
    return written + b"\n"
