"""Other names: the same for a class, different for another, and complete."""

import stat
from pathlib import Path

import pytest

from course_lib.errors import CourseError
from course_lib.grading.reporting.pseudonyms import TABLE, pseudonyms


def test_names_stay_the_same_in_a_class_and_say_nothing_without_its_list(tmp_path: Path) -> None:
    class_a, class_b = tmp_path / "a", tmp_path / "b"
    for place in (class_a, class_b):
        place.mkdir()
    first = pseudonyms(class_a, ["ada", "bela"])
    assert pseudonyms(class_a, ["zoe", "bela", "ada"]).items() >= first.items()
    assert not set(first.values()) & set(pseudonyms(class_b, ["ada", "bela"]).values())
    assert "ada," in (class_a / TABLE).read_text()
    assert stat.S_IMODE((class_a / TABLE).stat().st_mode) == 0o600


def test_a_large_class_has_no_two_of_one_name(tmp_path: Path) -> None:
    students = [f"student{number}" for number in range(1000)]
    assert len(set(pseudonyms(tmp_path, students).values())) == 1000


@pytest.mark.parametrize(
    "text",
    [
        "nothing",
        "ada,x\nbo,y\n",
        "student,pseudonym\nada\n",
        "student,pseudonym\nada,x,y\n",
        "student,pseudonym\nada,x\nbo,x\n",
    ],
)
def test_a_damaged_list_is_said_and_not_replaced(text: str, tmp_path: Path) -> None:
    (tmp_path / TABLE).write_text(text)
    with pytest.raises(CourseError, match="damaged"):
        pseudonyms(tmp_path, ["ada"])
    assert (tmp_path / TABLE).read_text() == text
