"""Made-up answers are data: what nobody would read is refused in one line that says where."""

from pathlib import Path

import pytest

from course_lib.errors import CourseError
from course_lib.grading.authoring.demonstration import MadeUp, Student, disagreements
from course_lib.grading.running.classroom import ClassReport, Report
from course_lib.grading.sources.data import read_data


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("answers: [{name: a, loses: [], does: x", "is no YAML"),
        ("answers: [{loses: []}]", r"answers\.0\.name: Field required"),
        ("answers: [{name: a}]", r"answers\.0\.loses: Field required"),
        ("answers: [{name: a, loses: nothing}]", r"loses: Input should be a valid frozenset"),
        (
            "answers: [{name: a, loses: [], lose: [b]}]",
            r"0\.lose: Unexpected keyword",
        ),
        (
            "students: [{name: a, loses: [], cells: {x: 1}}]",
            r"cells\.x: Input should be a valid",
        ),
        ("[]", r"the file: Input should be a dictionary or an instance"),
    ],
)
def test_what_is_written_otherwise_is_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "variants.yaml"
    path.write_text(text)
    with pytest.raises(CourseError, match=message) as caught:
        read_data(path, MadeUp)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


def test_who_has_no_marks_is_named_with_what_the_grader_said_of_it(tmp_path: Path) -> None:
    """On a busy machine one that is stopped gets none, and a person has to know what to do."""
    said = ["It was stopped.", "Run the command again."]
    report = Report("ada", False, [], said, 1.0, None)
    result = ClassReport("tiny", tmp_path, "none", [report])
    ada = Student(name="ada", loses=frozenset())
    assert disagreements(result, [ada]) == [f"ada: nothing is recorded. {' '.join(said)}"]
