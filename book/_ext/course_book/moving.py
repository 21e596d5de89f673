"""Figures that move: the module and its data lie in the page, over a picture that always shows."""

import json
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective, SphinxTranslator

from course_lib.figures.picture import Picture
from course_lib.files import write_atomically
from course_lib.pretrained import FOLDER as PRETRAINED
from course_lib.records import record_path
from course_lib.widgets import FIGURES
from course_lib.widgets.live import FOLDER, published_packs
from course_lib.widgets.modules import LIVE, page_script, sources, style

from .drawings import captioned, check_options


class moving(nodes.General, nodes.Element):
    """The figure of the module `module`; `alt` says what its picture shows."""


class MovingFigure(SphinxDirective):
    """A moving figure: `:alt:` and `:name:` are needed, the content is its caption.

    `:data:` is the record of a figure that draws one.
    """

    has_content = True
    required_arguments = 1
    option_spec: ClassVar = {
        "alt": directives.unchanged_required,
        "name": directives.unchanged_required,
        "data": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        check_options(self)
        if self.arguments[0] not in FIGURES:
            raise self.error(f"there is no moving figure {self.arguments[0]!r}")
        data = None
        if "data" in self.options:
            data = str(record_path(self.options["data"]))
            self.env.note_dependency(data)
        for path in sources(self.arguments[0]):
            self.env.note_dependency(str(path))
        if self.arguments[0] == LIVE:
            for path in PRETRAINED.glob("*/*.safetensors"):
                self.env.note_dependency(str(path))
        content = moving(module=self.arguments[0], alt=self.options["alt"], data=data)
        return [captioned(self, content)]


def in_script(text: str) -> str:
    """Text that cannot end the script element it stands in."""
    return text.replace("</", "<\\/")


def visit_moving(self: SphinxTranslator, node: moving) -> None:
    name = node["module"]
    figure = FIGURES[name]
    values = figure.values(node["data"] and Path(node["data"]))
    picture = Picture(figure.picture(**values), node["alt"])._repr_html_()
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    data = text.replace("<", "\\u003c")  # also "<!--" would swallow the end
    self.body.append(
        f'<div class="moving-figure" data-moving="{name}">'
        f'<div class="moving-still">{picture}</div>'
        f'<script type="application/json">{data}</script></div>'
        f"<style>{style()}</style>"
        f'<script type="module">{in_script(page_script(name))}</script>'
    )
    if name == LIVE:
        write_models(Path(self.builder.outdir))
    raise nodes.SkipNode


def write_models(site: Path) -> None:
    """The published models' scripts, which the live figure's page loads when it is asked to."""
    for _, pack in published_packs():
        for number, script in enumerate(pack.scripts):
            write_atomically(site / FOLDER / f"{pack.name}-{number}.js", script)


def setup(app: Sphinx) -> None:
    app.add_node(moving, html=(visit_moving, None))
    app.add_directive("moving", MovingFigure)
