"""The code that a student gets with one slip in it: `slips.yaml` beside a source."""

from pathlib import Path

from pydantic.dataclasses import dataclass

from course_lib.assignments.slips import Slip
from course_lib.errors import CourseError
from course_lib.grading.sources.data import STRICT, read_data

SLIPS = "slips.yaml"
RIGHT_CODE = "SLIP_CODE"
"""What stands for the code without a slip in a source's solutions and hidden tests."""


@dataclass(frozen=True, config=STRICT)
class OneSlip:
    """A line of the code, what stands there instead, and what somebody notices then."""

    line: str
    instead: str
    symptom: str


@dataclass(frozen=True, config=STRICT)
class Code:
    """What stands in the file: a function's name and code, and slips that it can have."""

    function: str
    code: str
    slips: list[OneSlip]


def right_code(source: Path) -> str:
    """The code without a slip; empty where the assignment has none."""
    written = read_data(source.with_name(SLIPS), Code)
    return written.code.rstrip("\n") if written else ""


def versions_of(source: Path) -> list[Slip]:
    """The code with each of its slips.

    Raises:
        CourseError: a line of the file is not in the code, or more than once.
    """
    path = source.with_name(SLIPS)
    if (written := read_data(path, Code)) is None:
        return []
    lines = written.code.splitlines()
    versions = []
    for one in written.slips:
        places = [place for place, text in enumerate(lines) if text.strip() == one.line]
        if len(places) != 1:
            raise CourseError(f"{path}: the code has {len(places)} lines `{one.line}`, not one.")
        [place] = places
        changed = lines[place].replace(one.line, one.instead)
        code = "\n".join([*lines[:place], changed, *lines[place + 1 :]])
        versions.append(Slip(written.function, code + "\n", one.symptom))
    return versions
