"""A formula and the punctuation at it stay on one line."""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

OPENING = re.compile(r"[(\[“‘]*$")
CLOSING = re.compile(r"[.,;:?!)\]”’…]*")


class WholeFormulas(SphinxPostTransform):
    """A browser takes a formula for a picture, and may break the line between it and its comma."""

    default_priority = 900

    def run(self, **kwargs: Any) -> None:
        for formula in list(self.document.findall(nodes.math)):
            parent = formula.parent
            place = parent.index(formula)
            before, after = (text_at(parent, near) for near in (place - 1, place + 1))
            opening, closing = OPENING.search(before)[0], CLOSING.match(after)[0]
            if not opening + closing:
                continue
            whole = nodes.inline("", "", nodes.Text(opening), classes=["one-line"])
            parent[place] = whole
            whole += [formula, nodes.Text(closing)]
            if opening:
                parent[place - 1] = nodes.Text(before.removesuffix(opening))
            if closing:
                parent[place + 1] = nodes.Text(after.removeprefix(closing))


def text_at(parent: nodes.Element, place: int) -> str:
    """What stands there, if it is text."""
    node = parent[place] if 0 <= place < len(parent) else None
    return str(node) if isinstance(node, nodes.Text) else ""


def setup(app: Sphinx) -> None:
    app.add_post_transform(WholeFormulas)
