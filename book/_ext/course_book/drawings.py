"""Drawings as SVG inside the page, where they follow its theme and its role colours."""

import re
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective, SphinxTranslator


class drawing(nodes.General, nodes.Element):
    """The SVG itself: `source` its text, `alt` what it says to those who cannot see it."""


class Drawing(SphinxDirective):
    """A figure from an SVG file: `:alt:` and `:name:` are needed, the content is its caption."""

    has_content = True
    required_arguments = 1
    option_spec: ClassVar = {
        "alt": directives.unchanged_required,
        "name": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        check_options(self)
        relative, path = self.env.relfn2path(self.arguments[0])
        self.env.note_dependency(relative)
        source = Path(path).read_text(encoding="utf-8")
        source = source[re.search("<svg", source).start() :]
        figure = captioned(self, drawing(source=source, alt=self.options["alt"]))
        figure["classes"] += ["drawing"]
        return [figure]


def captioned(directive: SphinxDirective, content: nodes.Node) -> nodes.figure:
    """A numbered figure of this content, with the directive's own content as its caption."""
    figure = nodes.figure("", content)
    box = nodes.container()
    directive.state.nested_parse(directive.content, directive.content_offset, box)
    figure += nodes.caption("", "", *box.children[0].children)
    directive.set_source_info(figure)
    directive.add_name(figure)
    return figure


def check_options(directive: SphinxDirective) -> None:
    """A figure needs a caption, a name and what it says to those who cannot see it."""
    directive.assert_has_content()
    for option in ("alt", "name"):
        if option not in directive.options:
            raise directive.error(f"{directive.name} needs the option :{option}:")


def visit_drawing(self: SphinxTranslator, node: drawing) -> None:
    label = f'<svg role="img" aria-label="{self.attval(node["alt"])}"'
    self.body.append(node["source"].replace("<svg", label, 1))
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    app.add_node(drawing, html=(visit_drawing, None))
    app.add_directive("drawing", Drawing)
