"""A figure and its alternative text, kept together on the way to a page."""

import base64
import html
import io
from typing import NamedTuple

from matplotlib.figure import Figure

from course_lib.figures.style import styled


class Picture(NamedTuple):
    """The last line of a notebook cell: shows the figure with its alternative text.

    A notebook shows a bare Figure as an image without one.
    """

    figure: Figure
    alt: str

    @styled()
    def _repr_html_(self) -> str:
        png = io.BytesIO()
        # No version: the same figure makes the same bytes.
        smallest = {"optimize": True}
        self.figure.savefig(png, format="png", metadata={"Software": None}, pil_kwargs=smallest)
        data = base64.b64encode(png.getvalue()).decode()
        width = round(self.figure.get_figwidth() * 100)  # CSS pixels; the image has twice as many
        return (
            f'<img src="data:image/png;base64,{data}" alt="{html.escape(self.alt)}" '
            f'width="{width}" style="max-width: 100%; height: auto">'
        )
