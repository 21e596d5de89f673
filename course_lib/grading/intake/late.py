"""What handing in late costs, by a rule in words.

nbgrader compares the time in a submission's timestamp.txt with the assignment's due date. The due
date lies in the gradebook, the rule beside it, so that grading again next week deducts the same.
"""

import contextlib
import json
import math
import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.utils import parse_utc

from course_lib.errors import CourseError
from course_lib.files import write_atomically
from course_lib.grading.sources.project import db_url, load_config, nbgrader_messages

RULES = "late.json"
"""Beside the gradebook: assignment -> rule."""

_FORM = re.compile(
    r"(?P<amount>\d+(\.\d+)?)\s*(?P<unit>%|points?)\s+(a|per)\s+(?P<period>day|hour)"
    r"(,\s*none\s+after\s+(?P<last>\d+)\s+(?P<span>day|hour)s?)?"
)
_SECONDS = {"hour": 3600, "day": 86400}


@dataclass(frozen=True)
class Rule:
    """A late policy.

    Attributes:
        amount: how much a period costs.
        percent: whether that is per cent of the points reached, not points.
        period: seconds of one period; one that has begun counts as whole.
        limit: seconds after which nothing counts; None if there is no such limit.
    """

    amount: float
    percent: bool
    period: int
    limit: int | None

    def deduction(self, score: float, seconds_late: float) -> float:
        """The points that a delay costs; never more than there are."""
        if self.limit is not None and seconds_late > self.limit:
            return score
        periods = math.ceil(seconds_late / self.period)
        cost = self.amount * periods * (score / 100 if self.percent else 1)
        return min(score, round(cost, 4))


def parse_rule(text: str) -> Rule | None:
    """A policy such as "10% a day, none after 5 days" or "1 point per hour"; None for "none".

    Raises:
        CourseError: it is written in another way.
    """
    plain = " ".join(text.casefold().split()).rstrip(".")
    if plain in {"", "none"}:
        return None
    match = _FORM.fullmatch(plain)
    if match is None:
        raise CourseError(
            f"Not a rule for late submissions: {text!r}. Write it like '10% a day, none after 5"
            " days', '1 point per hour' or 'none'."
        )
    last = match["last"]
    return Rule(
        amount=float(match["amount"]),
        percent=match["unit"] == "%",
        period=_SECONDS[match["period"]],
        limit=None if last is None else int(last) * _SECONDS[match["span"]],
    )


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
    """Whether nbgrader can read a timestamp.txt: one that it cannot would stop the grading."""
    try:
        return parse_utc(path.read_text(encoding="utf-8")[:200].strip()) is not None
    except (ValueError, OverflowError, TypeError, AttributeError):
        return False


def delay(seconds: float) -> str:
    """A delay in words: "26 hours late"."""
    minutes = max(round(seconds) // 60, 1)
    hours = minutes // 60
    if hours < 2:
        return f"{minutes} minute{'' if minutes == 1 else 's'} late"
    if hours < 48:
        return f"{hours} hours late"
    return f"{hours // 24} days and {hours % 24} hours late"


def set_policy(root: Path, place: Path, name: str, due: str | None, rule: str | None) -> None:
    """Write the due date into the gradebook and the rule beside it; None leaves what is there.

    Raises:
        CourseError: one of the two cannot be read.
    """
    if due is not None:
        when = parse_time(due)
        course_id = load_config(root).CourseDirectory.course_id
        with nbgrader_messages(), Gradebook(db_url(place), course_id) as gradebook:
            gradebook.update_or_create_assignment(name, duedate=when)
    if rule is not None:
        parse_rule(rule)
        rules = _rules(place)
        rules[name] = rule
        write_atomically(place / RULES, json.dumps(rules, indent=2) + "\n")


def rule_of(root: Path, place: Path, name: str) -> str:
    """The rule in force for an assignment, as it was written."""
    return _rules(place).get(name, str(load_config(root).LatePolicy.rule))


def settle(root: Path, place: Path, name: str, students: list[str]) -> None:
    """Work out every deduction anew: points by hand, rule or due date may be new."""
    rule = parse_rule(rule_of(root, place, name))
    with nbgrader_messages(), Gradebook(db_url(place)) as gradebook:
        for student in students:
            with contextlib.suppress(MissingEntry):  # nothing of theirs is in the gradebook
                deduct(gradebook, rule, name, student)


def deduct(gradebook: Gradebook, rule: Rule | None, name: str, student: str) -> None:
    """Record what handing in late costs a student.

    Raises:
        MissingEntry: nothing of the student's is in the gradebook.
    """
    notebook = gradebook.find_submission_notebook(name, name, student)
    seconds = notebook.assignment.total_seconds_late
    penalty = rule.deduction(notebook.score, seconds) if rule and seconds > 0 else None
    notebook.late_submission_penalty = penalty
    gradebook.db.commit()


def _rules(place: Path) -> dict[str, str]:
    path = place / RULES
    return dict(json.loads(path.read_text())) if path.is_file() else {}
