"""Figures reach pages together with their alternative text."""

import base64
import re
import struct

import pytest

from course_lib.figures.heatmap import heatmap
from course_lib.figures.picture import Picture

ALT = 'weights of “die” & "the" < 1'


def test_a_notebook_shows_the_image_with_its_alternative_text() -> None:
    figure = heatmap([[1.0]], ["a"], ["b"])
    page = Picture(figure, ALT)._repr_html_()
    assert page == Picture(heatmap([[1.0]], ["a"], ["b"]), ALT)._repr_html_()
    assert 'alt="weights of “die” &amp; &quot;the&quot; &lt; 1"' in page
    data = re.search(r"base64,([^\"]+)", page)
    assert data is not None
    png = base64.b64decode(data.group(1))
    width, height = struct.unpack(">II", png[16:24])
    # Twice the pixels of its place on the page, for screens with two a CSS pixel.
    assert width == pytest.approx(2 * figure.get_figwidth() * 100, abs=2)
    assert height == pytest.approx(2 * figure.get_figheight() * 100, abs=2)


def test_a_notebook_shows_a_bare_figure_without_pyplot() -> None:
    figure = heatmap([[0.2, 0.8], [0.5, 0.5]], ["a", "b"], ["x", "y"])
    assert figure._repr_png_().startswith(b"\x89PNG")
