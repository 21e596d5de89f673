"""Made-up answers are data: what nobody would read is refused in one line that says where."""

from pathlib import Path

import pytest

from course_lib.errors import CourseError
from course_lib.grading.authoring.demonstration import MadeUp
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
