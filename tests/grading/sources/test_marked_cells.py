"""Marks on cells mean to the course what they mean to nbgrader."""

from itertools import product

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader import utils

from course_lib.grading.sources import marked_cells

FLAGS = ("grade", "solution", "locked")


@pytest.mark.parametrize("flags", [*product((False, True), repeat=3)])
@pytest.mark.parametrize("make", [new_code_cell, new_markdown_cell])
def test_they_are_read_as_nbgrader_reads_them(make, flags: tuple[bool, ...]) -> None:
    cell = make("alpha α = 1")
    for kind in ("is_grade", "is_solution", "is_locked"):
        assert getattr(marked_cells, kind)(cell) is False
    cell.metadata["nbgrader"] = dict(zip(FLAGS, flags, strict=True))
    cell.metadata["nbgrader"] |= {"grade_id": "part-1", "points": 2}
    for kind in ("is_grade", "is_solution", "is_locked"):
        assert getattr(marked_cells, kind)(cell) == getattr(utils, kind)(cell)
    assert marked_cells.checksum(cell) == utils.compute_checksum(cell)
