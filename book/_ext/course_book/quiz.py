"""Quiz questions that answer back in the static page.

A question is a group of native `<details>`: choosing an option opens its reply. It therefore works
from the keyboard and with a screen reader, needs no JavaScript, and prints with every reply open.
"""

import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective, SphinxTranslator

from .folds import fold, fold_summary

OPTION = re.compile(r"\((?P<mark>[ x])\)\s*")


class quiz(nodes.General, nodes.Element):
    """A question: a paragraph, then one `fold` an option. On its own it knows its label's id."""


class Quiz(SphinxDirective):
    """One question; the argument is its text, the content a list of options with their replies."""

    has_content = True
    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        box = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, box)
        if not box.children or not isinstance(box.children[-1], nodes.bullet_list):
            raise self.error("a quiz ends in a list of options: `- (x) text`, then the reply")
        *stem, options = box.children

        label = f"quiz-{self.env.new_serialno('quiz')}"
        question = quiz(classes=["quiz"], label=label)
        self.set_source_info(question)
        inline, messages = self.state.inline_text(self.arguments[0], self.lineno)
        question += nodes.paragraph("", "", *inline, classes=["quiz-question"], ids=[label])
        question += stem
        folds, right = [], 0
        for number, item in enumerate(options.children, start=1):
            node, is_right = self.option(item)
            # An option that is only a formula has no words for a screen reader to call it by.
            name = nodes.inline("", f"Answer {number}: ", classes=["visually-hidden"])
            node.children[0].insert(0, name)
            folds.append(node)
            right += is_right
        if right != 1 or len(folds) < 2:
            raise self.error(f"a quiz has two or more options and one right one, not {right}")
        question += folds
        return [question, *messages]

    def option(self, item: nodes.Node) -> tuple[fold, bool]:
        """The option's text as the summary, what follows it as the reply."""
        text, *reply = item.children
        first = text.children[0] if text.children else None
        match = OPTION.match(first.astext()) if isinstance(first, nodes.Text) else None
        if match is None or first is None:
            raise self.error("each option starts with ( ) or (x)")
        if not reply or not isinstance(reply[0], nodes.paragraph):
            raise self.error(f"the option {text.astext()!r} says nothing back")
        is_right = match["mark"] == "x"
        verdict = "Right." if is_right else "Not quite."
        reply[0].insert(0, [nodes.strong("", verdict), nodes.Text(" ")])
        summary = fold_summary("", first.astext()[match.end() :], *text.children[1:])
        kind = "quiz-right" if is_right else "quiz-wrong"
        return fold("", summary, *reply, classes=["quiz-option", kind]), is_right


def visit_quiz(self: SphinxTranslator, node: quiz) -> None:
    tag = self.starttag(node, "div", role="group", **{"aria-labelledby": node["label"]})
    self.body.append(tag)


def depart_quiz(self: SphinxTranslator, node: quiz) -> None:
    self.body.append("</div>\n")


def setup(app: Sphinx) -> None:
    app.add_node(quiz, html=(visit_quiz, depart_quiz))
    app.add_directive("quiz", Quiz)
