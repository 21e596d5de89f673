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
        self.assert_has_content()
        for option in ("alt", "name"):
            if option not in self.options:
                raise self.error(f"drawing needs the option :{option}:")
        relative, path = self.env.relfn2path(self.arguments[0])
        self.env.note_dependency(relative)
        source = Path(path).read_text(encoding="utf-8")
        source = source[re.search("<svg", source).start() :]
        figure = nodes.figure("", drawing(source=source, alt=self.options["alt"]))
        figure["classes"] += ["drawing"]
        box = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, box)
        caption = nodes.caption("", "", *box.children[0].children)
        figure += caption
        self.set_source_info(figure)
        self.add_name(figure)
        return [figure]


def visit_drawing(self: SphinxTranslator, node: drawing) -> None:
    label = f'<svg role="img" aria-label="{self.attval(node["alt"])}"'
    self.body.append(node["source"].replace("<svg", label, 1))
    raise nodes.SkipNode


def skip(self: SphinxTranslator, node: drawing) -> None:
    """The page in LaTeX keeps the caption and what the picture says."""
    self.body.append(self.encode(node["alt"]))
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    app.add_node(drawing, html=(visit_drawing, None), latex=(skip, None))
    app.add_directive("drawing", Drawing)
