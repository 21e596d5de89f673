"""What handing in late costs.

nbgrader compares the time in a submission's timestamp.txt with the assignment's due date. The due
date lies in the gradebook, the rule beside it, so that grading again next week deducts the same.
"""

import contextlib
import json
import math
import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from dateutil.tz import gettz
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.utils import parse_utc
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from course_lib.errors import CourseError
from course_lib.files import read_object, write_atomically
from course_lib.grading.sources.project import db_url, load_config, nbgrader_messages

RULES = "late.json"
"""Beside the gradebook: assignment -> rule."""

_BARE = re.compile(r"\s*[\d.]+\s*")
_PERIODS = {"hour": timedelta(hours=1), "day": timedelta(days=1)}
_Cost = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Rule(BaseModel):
    """A late policy.

    Attributes:
        percent: of the points reached, for each period; one that has begun counts as whole.
        points: taken for each period.
        per: the period.
        until: how late is too late for any points; None if there is no such limit.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    percent: _Cost = 0
    points: _Cost = 0
    per: Literal["hour", "day"] = "day"
    until: timedelta | None = None

    @field_validator("until", mode="before")
    @classmethod
    def _has_a_unit(cls, value: object) -> object:
        """A bare number would be taken for seconds."""
        if isinstance(value, int | float) or (isinstance(value, str) and _BARE.fullmatch(value)):
            raise ValueError("until has no unit")
        return value

    def __str__(self) -> str:
        """The rule in words."""
        if self == Rule():
            return "nothing"
        costs = (self.percent, "%"), (self.points, " points")
        taken = " and ".join(f"{cost:g}{unit}" for cost, unit in costs if cost) or "nothing"
        if self.until is None:
            return f"{taken} per {self.per}"
        return f"{taken} per {self.per}, all after {self.per} {self.until / _PERIODS[self.per]:g}"

    def deduction(self, score: float, seconds_late: float) -> float:
        """The points that a delay costs; never more than there are."""
        late = timedelta(seconds=seconds_late)
        if self.until is not None and late > self.until:
            return score
        periods = math.ceil(late / _PERIODS[self.per])
        return min(score, round(periods * (self.points + score * self.percent / 100), 4))


def read_rule(written: str | dict[str, Any]) -> Rule:
    """A policy as YAML, or as a mapping; `{}` costs nothing.

    Raises:
        CourseError: it is something else.
    """
    try:
        entry = yaml.safe_load(written) if isinstance(written, str) else written
        return Rule.model_validate(entry)
    except (yaml.YAMLError, ValidationError) as error:
        raise CourseError(
            f"Not a rule for late submissions: {written!r}. Give one like"
            " --late '{percent: 10, per: day, until: 5 days}', '{points: 1, per: hour}' or '{}'."
        ) from error


def parse_time(text: str) -> datetime:
    """A time such as "2026-05-04 23:59" (this machine's zone) or "2026-05-04T21:59Z".

    Raises:
        CourseError: it is written in another way.
    """
    try:
        return datetime.fromisoformat(text.strip()).astimezone()
    except ValueError as error:
        raise CourseError(
            f"Not a time: {text!r}. Write it like '2026-05-04 23:59', with '+02:00' behind it for"
            " a zone that is not this machine's."
        ) from error


def says_a_time(path: Path) -> bool:
    """Whether a timestamp.txt says a time that has one meaning: as nbgrader reads it, with a zone.

    What nbgrader cannot read would stop the grading. A time without a zone, or with a name of one
    that this machine does not know ("CEST"), it would read as one of UTC.
    """
    try:
        text = path.read_text(encoding="utf-8")[:200].strip()
        # An offset behind a space nbgrader reads as another one, or not at all.
        zone = re.search(r"(?:(?<=\d)(?:[+-]\d\d:?\d\d|Z)|(?<= )([A-Za-z]\S+))$", text)
        known = zone is not None and (zone[1] is None or gettz(zone[1]) is not None)
        return known and parse_utc(text) is not None
    except (ValueError, OverflowError, TypeError, AttributeError):
        return False


def delay(seconds: float) -> str:
    """A delay in words: "26 hours late", or "over 26 hours late" if a further one has begun."""
    minutes = max(round(seconds) // 60, 1)
    hours = minutes // 60
    if hours < 2:
        return f"{minutes} minute{'' if minutes == 1 else 's'} late"
    over = "over " if round(seconds) % 3600 else ""
    if hours < 48:
        return f"{over}{hours} hours late"
    return f"{over}{hours // 24} days and {hours % 24} hours late"


def set_policy(root: Path, place: Path, name: str, due: str | None, rule: str | None) -> None:
    """Write the due date into the gradebook and the rule beside it; None leaves what is there.

    Raises:
        CourseError: one of the two, or the rule in force, cannot be read.
    """
    when = None if due is None else parse_time(due)
    # One that cannot be read stops here, before anything is written.
    asked = rule_of(root, place, name) if rule is None else read_rule(rule)
    if when is not None:
        course_id = load_config(root).CourseDirectory.course_id
        with nbgrader_messages(), Gradebook(db_url(place), course_id) as gradebook:
            gradebook.update_or_create_assignment(name, duedate=when)
    if rule is not None:
        rules = read_object(place / RULES)
        rules[name] = asked.model_dump(mode="json", exclude_defaults=True)
        write_atomically(place / RULES, json.dumps(rules, indent=2) + "\n")


def rule_of(root: Path, place: Path, name: str) -> Rule:
    """The rule in force for an assignment."""
    return read_rule(read_object(place / RULES).get(name, load_config(root).LatePolicy.rule))


def settle(root: Path, place: Path, name: str, students: list[str]) -> None:
    """Work out every deduction anew: points by hand, rule or due date may be new."""
    rule = rule_of(root, place, name)
    with nbgrader_messages(), Gradebook(db_url(place)) as gradebook:
        for student in students:
            with contextlib.suppress(MissingEntry):  # nothing of theirs is in the gradebook
                deduct(gradebook, rule, name, student)


def deduct(gradebook: Gradebook, rule: Rule, name: str, student: str) -> None:
    """Record what handing in late costs a student.

    Raises:
        MissingEntry: nothing of the student's is in the gradebook.
    """
    notebook = gradebook.find_submission_notebook(name, name, student)
    seconds = notebook.assignment.total_seconds_late
    penalty = rule.deduction(notebook.score, seconds) if seconds > 0 else None
    notebook.late_submission_penalty = penalty
    gradebook.db.commit()
