"""Made-up answers are data: what nobody would read is refused in one line that says where."""

from pathlib import Path

import pytest

from course_lib.errors import CourseError
from course_lib.grading.authoring.demonstration import entries


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("answers: [{name: a, loses: [], does: x", "is no YAML"),
        ("answers: [{loses: []}]", r"\$\.answers\[0\]: 'name' is a required property"),
        ("answers: [{name: a}]", "'loses' is a required property"),
        ("answers: [{name: a, loses: nothing}]", r"loses: 'nothing' is not valid"),
        ("answers: [{name: a, loses: [], lose: [b]}]", "'lose' was unexpected"),
        ("students: [{name: a, loses: [], cells: {x: 1}}]", r"cells\.x: 1 is not of type"),
        ("[]", "is not of type 'object'"),
    ],
)
def test_what_is_written_otherwise_is_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "variants.yaml"
    path.write_text(text)
    with pytest.raises(CourseError, match=message) as caught:
        entries(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)
