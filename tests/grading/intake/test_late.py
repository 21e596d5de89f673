"""What being late costs: the rule, and what nbgrader then takes away."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_notebook
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory

from course_lib.errors import CourseError
from course_lib.grading.intake.late import (
    RULES,
    delay,
    parse_time,
    read_rule,
    rule_of,
    set_policy,
    settle,
)
from course_lib.grading.intake.staging import stage
from course_lib.grading.sources.project import db_url, nbgrader_messages
from course_lib.grading.sources.release import generate
from tests.conftest import ROOT
from tests.grading.tiny import NAME as TINY
from tests.grading.tiny import write_course

NAME = "attention_by_hand"
HOUR, DAY = 3600, 86400


@pytest.mark.parametrize(
    ("text", "late", "cost"),
    [
        ("{percent: 10, until: 5 days}", 0, 0),
        ("{percent: 10, until: 5 days}", 1, 2),
        ("{percent: 10, until: 5 days}", DAY, 2),
        ("{percent: 10, until: 5 days}", DAY + 1, 4),
        ("{percent: 10, until: 5 days}", 5 * DAY, 10),
        ("{percent: 10, until: 5 days}", 5 * DAY + 1, 20),
        ("{percent: 10, until: 1 days 12:00:00}", 36 * HOUR + 1, 20),
        ("{percent: 30, per: day}", 9 * DAY, 20),
        ("{points: 0.5, per: hour}", 90 * 60, 1),
        ("{points: 2, percent: 5, per: day}", 3 * DAY, 9),
        ("{}", 9 * DAY, 0),
    ],
)
def test_a_rule_costs_what_it_says(text: str, late: float, cost: float) -> None:
    assert read_rule(text).deduction(20.0, late) == pytest.approx(cost)


@pytest.mark.parametrize(
    "text",
    [
        *("10% a day", "none", "", "[]", "{percent: 10", "{percent: -1}", "{points: .inf}"),
        *("{percent: 10, per: week}", "{points: 1, until: soon}", "{percents: 10}"),
        *("{percent: 10, until: 5}", "{points: 1, per: hour, until: '2'}"),
    ],
)
def test_what_is_no_rule_is_refused(text: str) -> None:
    with pytest.raises(CourseError, match=r"Give one like --late '\{percent"):
        read_rule(text)


def test_a_rule_is_said_in_words() -> None:
    rules = "{percent: 10, until: 5 days}", "{points: 0.5, percent: 1, per: hour}", "{}"
    assert [str(read_rule(text)) for text in rules] == [
        "10% per day, all after day 5",
        "1% and 0.5 points per hour",
        "nothing",
    ]


def test_a_remembered_rule_that_cannot_be_read_stops_before_grading(tmp_path: Path) -> None:
    (tmp_path / RULES).write_text(f'{{"{NAME}": "10% a day"}}')
    with pytest.raises(CourseError, match="Give one like --late"):
        set_policy(ROOT, tmp_path, NAME, None, None)
    set_policy(ROOT, tmp_path, NAME, None, "{percent: 10}")
    assert str(rule_of(ROOT, tmp_path, NAME)) == "10% per day"


def test_a_rule_that_cannot_be_read_leaves_the_due_date_as_it_was(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="Give one like --late"):
        set_policy(ROOT, tmp_path, NAME, "2026-05-05", "a lot")
    assert not (tmp_path / "gradebook.db").exists()


def test_times_without_a_zone_are_this_machines() -> None:
    assert parse_time("2026-05-04 23:59").tzinfo is not None
    assert parse_time("2026-05-04T21:59Z") == datetime(2026, 5, 4, 21, 59, tzinfo=UTC)
    with pytest.raises(CourseError, match="Write it like"):
        parse_time("next Monday")


def test_delays_are_said_in_words() -> None:
    said = [delay(seconds) for seconds in (1, 60 * 90, 26 * HOUR, 3 * DAY + 5 * HOUR)]
    assert said == ["1 minute late", "90 minutes late", "26 hours late", "3 days and 5 hours late"]


@pytest.mark.parametrize(
    ("text", "fine"),
    [
        ("2026-05-05T23:03:00+02:00\n", True),
        ("2026-05-05 13:00:00 UTC", True),
        ("2026-05-05T13:00:00Z", True),
        ("2026-05-05 13:00:00.923948 America/Los_Angeles", True),
        ("2026-05-05 13:00:00", False),  # in which zone?
        ("2026-05-05 13:00:00 +0200", False),  # nbgrader takes 200 for seconds
        ("2026-05-05 13:00:00 +02:00", False),
        ("2026-05-05 13:00:00 CEST", False),
        ("yesterday, honestly", False),
        ("", False),
        ("9" * 400, False),
        ("2026-05-05 13:00:00 Middle/Earth/Shire nothing", False),
    ],
)
def test_a_timestamp_that_would_stop_nbgrader_is_noticed_and_left_out(
    tmp_path: Path, text: str, fine: bool
) -> None:
    handed_in, released = tmp_path / "handed_in", new_notebook()
    handed_in.mkdir()
    nbformat.write(released, handed_in / "x.ipynb")
    (handed_in / "timestamp.txt").write_text(text)
    staged = stage(handed_in, "x", released, tmp_path / "staged", "ada")
    assert (tmp_path / "staged" / "timestamp.txt").exists() is fine
    assert staged.notebook_found
    assert any("does not say a time" in remark for remark in staged.remarks) is not fine
    course = CourseDirectory(root=str(tmp_path))
    assert (course.get_existing_timestamp(str(tmp_path / "staged")) is not None) is fine


def test_nbgrader_deducts_by_the_rule_and_anew_when_rule_or_points_change(tmp_path: Path) -> None:
    write_course(tmp_path, answer="number = 42", test="assert number == 42")
    generate(tmp_path, TINY, db_url(tmp_path))
    set_policy(tmp_path, tmp_path, TINY, "2026-05-04T12:00Z", "{percent: 10, until: 5 days}")
    due = datetime(2026, 5, 4, 12, 0)
    times = {"early": -HOUR, "night": 8 * HOUR, "days": 2 * DAY + HOUR, "weeks": 20 * DAY}
    with nbgrader_messages(), Gradebook(db_url(tmp_path), "looking_back") as gradebook:
        for student, seconds in times.items():
            gradebook.update_or_create_student(student)
            gradebook.update_or_create_submission(
                TINY, student, timestamp=due + timedelta(seconds=seconds)
            )
            gradebook.find_grade("part", TINY, TINY, student).auto_score = 3
            gradebook.find_grade("why", TINY, TINY, student).manual_score = 2
        gradebook.update_or_create_student("no-time")
        gradebook.update_or_create_submission(TINY, "no-time")
        gradebook.db.commit()

    def deducted() -> dict[str, float | None]:
        settle(tmp_path, tmp_path, TINY, [*times, "no-time", "unknown"])
        with nbgrader_messages(), Gradebook(db_url(tmp_path)) as gradebook:
            return {
                student: gradebook.find_submission_notebook(
                    TINY, TINY, student
                ).late_submission_penalty
                for student in (*times, "no-time")
            }

    expected = {"early": None, "night": 0.5, "days": 1.5, "weeks": 5.0, "no-time": None}
    assert deducted() == pytest.approx(expected)
    with nbgrader_messages(), Gradebook(db_url(tmp_path)) as gradebook:
        gradebook.find_grade("why", TINY, TINY, "night").manual_score = 3
        gradebook.db.commit()
    assert deducted() == pytest.approx({**expected, "night": 0.6})
    set_policy(tmp_path, tmp_path, TINY, None, "{points: 1}")
    assert rule_of(tmp_path, tmp_path, TINY) == read_rule("{points: 1, per: day}")
    assert deducted() == pytest.approx(
        {"early": None, "night": 1.0, "days": 3.0, "weeks": 5.0, "no-time": None}
    )
    set_policy(tmp_path, tmp_path, TINY, "2026-06-04T12:00Z", None)
    assert set(deducted().values()) == {None}
