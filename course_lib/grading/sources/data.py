"""Data that an instructor writes beside a source, held to its schema.

`criteria.yaml`: what a person looks for in a part that no test decides. The list stands above the
answer, where the student reads it before writing and whoever marks sees it in nbgrader's
formgrader. `orals.yaml`: what to ask about a part in person.
"""

from pathlib import Path
from typing import Annotated, TypeVar

import yaml
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from course_lib.errors import CourseError

CRITERIA, ORALS = "criteria.yaml", "orals.yaml"
ANSWER = "{answer}"
"""In a question it stands for what the student wrote."""
STRICT = ConfigDict(extra="forbid")
T = TypeVar("T")


@dataclass(frozen=True, config=STRICT)
class Criterion:
    """What earns how many points."""

    points: Annotated[float, Field(gt=0)]
    text: str

    def __str__(self) -> str:
        """The line of the list."""
        return f"{self.points:g} point{'' if self.points == 1 else 's'}: {self.text}"


@dataclass(frozen=True, config=STRICT)
class Oral:
    """A question about a part, and what somebody can say whose work it is."""

    question: str
    owner: str


def criteria_of(source: Path) -> dict[str, list[Criterion]]:
    """The criteria of every part that a person marks: grade id -> criteria."""
    return read_data(source.with_name(CRITERIA), dict[str, list[Criterion]]) or {}


def orals_of(source: Path) -> dict[str, Oral]:
    """The questions of an assignment: grade id -> question."""
    return read_data(source.with_name(ORALS), dict[str, Oral]) or {}


def read_data(path: Path, schema: type[T]) -> T | None:
    """What stands in a YAML file; None if there is none.

    Raises:
        CourseError: it is no YAML, or holds something that nobody would read.
    """
    if not path.is_file():
        return None
    try:
        return TypeAdapter(schema).validate_python(yaml.safe_load(path.read_text("utf-8")))
    except yaml.YAMLError as error:
        raise CourseError(f"{path} is no YAML: {' '.join(str(error).split())}.") from error
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"])) or "the file"
        raise CourseError(f"{path}, {where}: {fault['msg']}.") from error
