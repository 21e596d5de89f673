"""Words that are spoken of, each in a box of its own, and each with its language.

A screen reader says {de}`Hund` in German (WCAG 2.1, 3.1.2); {w}`the` is a word of the book's own.
"""

from docutils import nodes
from docutils.parsers.rst.states import Inliner
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxTranslator

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


def setup(app: Sphinx) -> None:
    app.add_node(word, html=(visit_word, depart_word))
    for name in ROLES:
        app.add_role(name, make_word)
