"""The lists that platforms export, and who they say is in the class."""

from datetime import datetime
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from course_lib.errors import CourseError
from course_lib.grading.intake.roster import enrol, read_roster
from course_lib.grading.sources.project import db_url, nbgrader_messages

CANVAS = """\
\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Attention by hand (1207),Final Score
    Points Possible,,,,,25,(read only)
"Lovelace, Ada",1042,S17,ada@uni.example,Group 1,,
Émilie du Châtelet,1043,,emilie,Group 1,,
"Student, Test",1099,,test,Group 1,,
"""
WORKSHEET = """\
Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,\
Last modified (submission),Last modified (grade),Feedback comments
Participant 501,Ada Lovelace,ada@uni.example,Submitted,,25.00,Yes,"Tuesday, 5 May 2026, 11:03 PM",-,
Participant 502,Émilie du Châtelet,emilie@uni.example,No submission,,25.00,Yes,-,-,
"""
PARTICIPANTS = "First name;Last name;ID number;Email address\nAda;Lovelace;S17;ada@uni.example\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "roster.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_canvas_gradebook(tmp_path: Path) -> None:
    roster = read_roster(written(tmp_path, CANVAS))
    assert roster.platform == "Canvas"
    assert [one.student for one in roster.people] == ["ada@uni.example", "emilie"]
    ada, emilie = roster.people
    assert (ada.first, ada.last, ada.email, ada.number) == (
        "Ada",
        "Lovelace",
        "ada@uni.example",
        "1042",
    )
    assert roster.find("1043", "nobody") is emilie
    assert roster.find("", "lovelaceada") is roster.find("7", "ADA Lovelace") is ada
    assert roster.find("", "Emilie Du-Chatelet") is emilie
    assert roster.find("", "nobody") is None


def test_moodle_worksheet_knows_when(tmp_path: Path) -> None:
    roster = read_roster(written(tmp_path, WORKSHEET))
    assert roster.platform == "Moodle"
    ada, emilie = roster.people
    assert (ada.student, ada.number) == ("ada@uni.example", "501")
    assert ada.handed_in == datetime(2026, 5, 5, 23, 3).astimezone()
    assert emilie.handed_in is None
    assert emilie.last == "Châtelet"


def test_moodle_participants_with_semicolons(tmp_path: Path) -> None:
    (ada,) = read_roster(written(tmp_path, PARTICIPANTS)).people
    assert (ada.student, ada.first, ada.last) == ("S17", "Ada", "Lovelace")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name,points\nada,3\n", "neither Canvas"),
        (PARTICIPANTS + "Bela;L;S17;b@x\n", "one id to two students: S17"),
        (PARTICIPANTS.replace("S17", "..").replace("ada@uni.example", ""), "No id can be made"),
        ("", "neither Canvas"),
    ],
)
def test_a_list_that_will_not_do_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(CourseError, match=said):
        read_roster(written(tmp_path, text))


def test_names_and_addresses_reach_the_gradebook(tmp_path: Path) -> None:
    enrol(read_roster(written(tmp_path, CANVAS)), db_url(tmp_path), "looking_back")
    with nbgrader_messages(), Gradebook(db_url(tmp_path)) as gradebook:
        ada = gradebook.find_student("ada@uni.example")
        assert (ada.first_name, ada.last_name, ada.lms_user_id) == ("Ada", "Lovelace", "1042")
