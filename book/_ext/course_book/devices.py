"""The boxes that every chapter uses, each a directive with a fixed name, look and heading."""

from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.parsers.rst.directives.tables import ListTable
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from .launch import notebook_of


class Device(SphinxDirective):
    """A box with a label that says what it asks of the reader; the argument is its own heading."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar = {"name": directives.unchanged}
    label = ""
    kind = ""

    def run(self) -> list[nodes.Node]:
        self.assert_has_content()
        box = nodes.admonition("", classes=["device", f"device-{self.kind}"])
        title = nodes.title("", "", nodes.inline("", self.label, classes=["device-label"]))
        messages: list[nodes.Node] = []
        if self.arguments:
            inline, messages = self.state.inline_text(self.arguments[0], self.lineno)
            heading = nodes.inline("", "", *inline, classes=["device-heading"])
            title += [nodes.Text(" "), heading]
        box += title
        self.set_source_info(box)
        self.add_name(box)
        self.fill(box)
        return [box, *messages]

    def fill(self, box: nodes.admonition) -> None:
        self.state.nested_parse(self.content, self.content_offset, box)


class Objectives(Device):
    """What the reader can do afterwards, how long it takes and what it needs."""

    label = "In this chapter"
    kind = "objectives"
    option_spec: ClassVar = {
        "minutes": directives.positive_int,
        "prerequisites": directives.unchanged_required,
    }

    def fill(self, box: nodes.admonition) -> None:
        for option in ("minutes", "prerequisites"):
            if option not in self.options:
                raise self.error(f"objectives needs the option :{option}:")
        super().fill(box)
        facts = [
            ("Time", f"about {self.options['minutes']} minutes, with the exercises left aside"),
            ("You need", self.options["prerequisites"]),
        ]
        if notebook := notebook_of(self.env.docname):
            name = notebook.rsplit("/", 1)[-1]
            link = f"{{download}}`{name} </{notebook}>`"
            facts.append(("To run", f"{link} (with the cells that are hidden here)"))
        items = nodes.definition_list(classes=["chapter-facts"])
        for term, text in facts:
            inline, messages = self.state.inline_text(text, self.lineno)
            items += nodes.definition_list_item(
                "",
                nodes.term("", term),
                nodes.definition("", nodes.paragraph("", "", *inline), *messages),
            )
        box += items


class Predict(Device):
    label = "Predict first"
    kind = "predict"


class Bug(Device):
    label = "Spot the bug"
    kind = "bug"


class Misconception(Device):
    label = "Misconception"
    kind = "misconception"


class Explain(Device):
    label = "Explain it to a peer"
    kind = "explain"


class TakeAways(Device):
    label = "Take-aways"
    kind = "takeaways"


class Margin(SphinxDirective):
    """Small print beside the story: a seed, an interval, what was not tried."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        box = nodes.container(classes=["margin-note"])
        self.set_source_info(box)
        self.state.nested_parse(self.content, self.content_offset, box)
        return [box]


class SideBySide(ListTable):
    """Equation, line and shape of the same step, one row a step; rows stack on a narrow screen."""

    option_spec: ClassVar = {"name": directives.unchanged}
    headings = ("Equation", "Line", "Shape")

    def run(self) -> list[nodes.Node]:
        header = [f"{'* -' if i == 0 else '  -'} {text}" for i, text in enumerate(self.headings)]
        source = self.content.source(0) if self.content else ""
        self.content = StringList([*header, *self.content], source=source)
        self.options |= {
            "header-rows": 1,
            "widths": [42, 40, 18],
            "class": ["side-by-side"],
        }
        return super().run()


def setup(app: Sphinx) -> None:
    for directive in (Objectives, Predict, Bug, Misconception, Explain, TakeAways):
        app.add_directive(directive.kind, directive)
    # The theme's own `margin` stands beside the page, where a narrow screen has no room.
    app.add_directive("margin", Margin, override=True)
    app.add_directive("side-by-side", SideBySide)
