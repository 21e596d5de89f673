"""Words that are spoken of, each in a box of its own, and each with its language.

A screen reader says {de}`Hund` in German (WCAG 2.1, 3.1.2); {w}`the` is a word of the book's own.
Of what a cell prints, the lines in German say so, too.
"""

import re
from functools import cache
from html import escape
from typing import Any

from docutils import nodes
from docutils.parsers.rst.states import Inliner
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxTranslator

from course_lib.corpora import load_corpus

LANGUAGES = {"de": "German", "fr": "French", "es": "Spanish"}
ROLES = ("w", *LANGUAGES)


class word(nodes.inline):
    """Text in a box; `language` is empty for English."""


def make_word(
    name: str, rawtext: str, text: str, lineno: int, inliner: Inliner, *_: object, **__: object
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    language = name if name in LANGUAGES else ""
    return [word(rawtext, text, classes=["word"], language=language)], []


def visit_word(self: SphinxTranslator, node: word) -> None:
    attributes = {"lang": node["language"]} if node["language"] else {}
    self.body.append(self.starttag(node, "span", "", **attributes))


def depart_word(self: SphinxTranslator, node: word) -> None:
    self.body.append("</span>")


@cache
def only_german() -> frozenset[str]:
    """The words of the toy corpus that are German and not English, in small letters."""
    splits = load_corpus("toy", "en-de", train=5000).splits.values()
    english, german = (
        {token.lower() for split in splits for sentence in side(split) for token in sentence}
        for side in (lambda split: split.source, lambda split: split.target)
    )
    return frozenset(german - english)


def is_german(line: str) -> bool:
    """Whether most words of a line are German ones that a cell of the book prints."""
    words = re.findall(r"[^\W\d_]+", line.lower())
    return sum(one in only_german() for one in words) > len(words) / 2 and len(words) > 1


def said_in_its_language(line: str) -> str:
    """A line as HTML; German, behind a colon if there is one, says that it is."""
    *before, rest = re.split(r"(?<=: )", line, maxsplit=1)
    if not is_german(rest):
        return escape(line)
    return f'{escape("".join(before))}<span lang="de">{escape(rest)}</span>'


class PrintedLanguage(SphinxPostTransform):
    """A line in German that a cell prints says that it is."""

    default_priority = 900  # when MyST-NB has chosen what is shown
    formats = ("html",)

    def run(self, **_: Any) -> None:
        for block in list(self.document.findall(nodes.literal_block)):
            lines = block.astext().splitlines(keepends=True)
            if "output" not in block["classes"] or not any(map(is_german, lines)):
                continue
            said = map(said_in_its_language, lines)
            place = (
                '<div class="output stream highlight-myst-ansi notranslate"><div class="highlight">'
            )
            html = f"{place}<pre><span></span>{''.join(said)}\n</pre></div>\n</div>\n"
            block.replace_self(nodes.raw("", html, format="html"))


def setup(app: Sphinx) -> None:
    app.add_post_transform(PrintedLanguage)
    app.add_node(word, html=(visit_word, depart_word))
    for name in ROLES:
        app.add_role(name, make_word)
