"""Folded text as native `<details>`: from the keyboard, without JavaScript and in print."""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective, SphinxTranslator
from sphinx_exercise.nodes import solution_node


class fold(nodes.General, nodes.Element):
    """A `<details>`; its first child is a `fold_summary`, the rest is what opens."""


class fold_summary(nodes.Part, nodes.TextElement):
    """The line that is always visible."""


class Fold(SphinxDirective):
    """A folded box. The argument replaces the summary line."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True
    summary = "More"
    kind = "more"

    def run(self) -> list[nodes.Node]:
        text = self.arguments[0] if self.arguments else self.summary
        inline, messages = self.state.inline_text(text, self.lineno)
        node = fold("", fold_summary("", "", *inline), classes=["fold", f"fold-{self.kind}"])
        self.set_source_info(node)
        self.state.nested_parse(self.content, self.content_offset, node)
        return [node, *messages]


class Answer(Fold):
    summary = "Show the answer"
    kind = "answer"


class Hint(Fold):
    summary = "Hint"
    kind = "hint"


class FoldSolutions(SphinxPostTransform):
    """Fold every solution of sphinx-exercise the same way as our own answers.

    Its titles link to the exercise; a link inside a summary is two controls in one, so the
    summary keeps the words only.
    """

    default_priority = 900
    formats = ("html",)

    def run(self, **kwargs: object) -> None:
        for node in list(self.document.findall(solution_node)):
            title, body = node.children[0], node.children[1:]
            summary = fold_summary("", title.astext())
            classes = ["fold", "fold-solution", *node["classes"]]
            node.replace_self(fold("", summary, *body, ids=node["ids"], classes=classes))


def visit_fold(self: SphinxTranslator, node: fold) -> None:
    self.body.append(self.starttag(node, "details"))


def depart_fold(self: SphinxTranslator, node: fold) -> None:
    self.body.append("</details>\n")


def visit_summary(self: SphinxTranslator, node: fold_summary) -> None:
    self.body.append(self.starttag(node, "summary", ""))


def depart_summary(self: SphinxTranslator, node: fold_summary) -> None:
    self.body.append("</summary>\n")


def setup(app: Sphinx) -> None:
    app.add_node(fold, html=(visit_fold, depart_fold))
    app.add_node(fold_summary, html=(visit_summary, depart_summary))
    app.add_directive("answer", Answer)
    # docutils has an unfolded `hint` admonition; in an exercise a hint is always folded.
    app.add_directive("hint", Hint, override=True)
    app.add_post_transform(FoldSolutions)
