"""A figure and its alternative text, kept together on the way to a page or a file."""

import base64
import html
import io
from pathlib import Path
from typing import NamedTuple

from matplotlib.figure import Figure

from course_lib.errors import CourseError
from course_lib.figures.style import styled
from course_lib.files import write_atomically


class Picture(NamedTuple):
    """The last line of a notebook cell: shows the figure with its alternative text.

    A notebook shows a bare Figure as an image without one.
    """

    figure: Figure
    alt: str

    def _repr_html_(self) -> str:
        data = base64.b64encode(_render(self.figure, "png", self.alt)).decode()
        width = round(self.figure.get_figwidth() * 100)  # CSS pixels; the image has twice as many
        return (
            f'<img src="data:image/png;base64,{data}" alt="{html.escape(self.alt)}" '
            f'width="{width}" style="max-width: 100%; height: auto">'
        )


def save(figure: Figure, path: Path | str, alt: str) -> None:
    """Write the figure as .png or .svg in one step, with `alt` in the file as its description."""
    kind = Path(path).suffix.removeprefix(".").lower()
    if kind not in ("png", "svg"):
        raise CourseError(f"{path}: a figure is saved as .png or .svg. Choose one of these names.")
    write_atomically(path, _render(figure, kind, alt))


@styled()
def _render(figure: Figure, kind: str, alt: str) -> bytes:
    stream = io.BytesIO()
    # Neither date nor version: the same figure makes the same bytes.
    varying = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}[kind]
    figure.savefig(stream, format=kind, metadata={"Description": alt, **varying})
    return stream.getvalue()
