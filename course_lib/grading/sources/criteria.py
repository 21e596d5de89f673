"""What a person looks for in a part that no test decides: `criteria.yaml` beside a source.

The list stands above the answer, where the student reads it before writing and whoever marks sees
it in nbgrader's formgrader.
"""

from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from course_lib.grading.sources.data import read_data

CRITERIA = "criteria.yaml"


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Criterion:
    """What earns how many points."""

    points: Annotated[float, Field(gt=0)]
    text: str

    def __str__(self) -> str:
        """The line of the list."""
        return f"{self.points:g} point{'' if self.points == 1 else 's'}: {self.text}"


def criteria_of(source: Path) -> dict[str, list[Criterion]]:
    """The criteria of every part that a person marks: grade id -> criteria."""
    path = source.with_name(CRITERIA)
    return read_data(path, dict[str, list[Criterion]]) if path.is_file() else {}
