"""Figures reach files and pages together with their alternative text."""

import base64
import re
import struct
from pathlib import Path

import pytest

from course_lib.errors import CourseError
from course_lib.figures.heatmap import heatmap
from course_lib.figures.picture import Picture, save

ALT = 'weights of “die” & "the" < 1'


def test_saving_twice_makes_the_same_file(tmp_path: Path) -> None:
    for kind in ("png", "svg"):
        for name in ("one", "two"):
            save(heatmap([[1.0]], ["a"], ["b"]), tmp_path / f"{name}.{kind}", ALT)
        assert (tmp_path / f"one.{kind}").read_bytes() == (tmp_path / f"two.{kind}").read_bytes()
    assert "“die” &amp; &quot;the&quot;" in (tmp_path / "one.svg").read_text().replace(
        '"the"', "&quot;the&quot;"
    )
    assert "“die”".encode() in (tmp_path / "one.png").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "one.png",
        "one.svg",
        "two.png",
        "two.svg",
    ]


def test_other_kinds_of_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match=r"\.png or \.svg"):
        save(heatmap([[1.0]], ["a"], ["b"]), tmp_path / "figure.jpeg", ALT)
    assert not list(tmp_path.iterdir())


def test_a_notebook_shows_the_image_with_its_alternative_text() -> None:
    figure = heatmap([[1.0]], ["a"], ["b"])
    page = Picture(figure, ALT)._repr_html_()
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
