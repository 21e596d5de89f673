"""What to ask about a part in person: `orals.yaml` beside a source."""

from pathlib import Path

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from course_lib.grading.sources.data import read_data

ORALS = "orals.yaml"
ANSWER = "{answer}"
"""In a question it stands for what the student wrote."""


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Oral:
    """A question about a part, and what somebody can say whose work it is."""

    question: str
    owner: str


def orals_of(source: Path) -> dict[str, Oral]:
    """The questions of an assignment: grade id -> question."""
    path = source.with_name(ORALS)
    return read_data(path, dict[str, Oral]) if path.is_file() else {}
