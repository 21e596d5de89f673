"""The lists that platforms export, and who they say is in the class."""

from datetime import datetime
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from course_lib.errors import CourseError
from course_lib.grading.intake.dates import read_times
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
    assert roster.whose("1043", "nobody") == [emilie]
    # a namesake of another section has another number
    assert roster.whose("7", "lovelaceada") == roster.whose("", "lovelaceada") == []


def test_moodle_worksheet_knows_when(tmp_path: Path) -> None:
    roster = read_roster(written(tmp_path, WORKSHEET))
    assert roster.platform == "Moodle"
    ada, emilie = roster.people
    assert (ada.student, ada.number) == ("ada@uni.example", "501")
    assert ada.handed_in == datetime(2026, 5, 5, 23, 3).astimezone()
    assert emilie.handed_in is None
    assert emilie.last == "Châtelet"


def test_moodle_participants_with_semicolons(tmp_path: Path) -> None:
    roster = read_roster(written(tmp_path, PARTICIPANTS))
    (ada,) = roster.people
    assert (ada.student, ada.first, ada.last) == ("S17", "Ada", "Lovelace")
    assert roster.whose("501", "ADA Lovelace") == roster.whose("", "lovelaceada") == [ada]


OTHERS = {
    "Canvas with two columns of names": "LastName,FirstName,ID,SIS Login ID\nLovelace,Ada,7,ada\n",
    "German": (
        "ID,Vollständiger Name,E-Mail-Adresse,Anmeldename\n"
        "Teilnehmer/in7,Ada Lovelace,a@x.org,ada\n"
    ),
    "French": (
        "Identifiant,Nom complet,Adresse de courriel,Nom d'utilisateur\n"
        "Participant 7,Ada Lovelace,a@x.org,ada\n"
    ),
    "a language that nobody here knows": (
        "Auðkenni,Fullt nafn,Póstur\nÞátttakandi7,Ada Lovelace,ada@x\n"
    ),
    "a spreadsheet's": "Student\tID\tSIS Login ID\nLovelace, Ada\t7\tada\n",
}


@pytest.mark.parametrize("text", OTHERS.values(), ids=OTHERS)
def test_lists_in_other_columns_and_languages(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, text)
    if "\t" in text:
        path.write_bytes(text.encode("utf-16"))
    (ada,) = read_roster(path).people
    assert (ada.student.removesuffix("@x"), ada.number) == ("ada", "7")
    assert (ada.first, ada.last) == ("Ada", "Lovelace")


def test_logins_that_would_be_one_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="one id to two students"):
        read_roster(written(tmp_path, PARTICIPANTS + "Bela;L;s17;b@x\n"))


TUESDAY = "2026-05-05T23:03"


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Tuesday, 5 May 2026, 11:03 PM", TUESDAY),
        ("Dienstag, 5. Mai 2026, 23:03", TUESDAY),
        ("mardi 5 mai 2026, 23:03", TUESDAY),
        ("martes, 5 de mayo de 2026, 23:03", TUESDAY),
        ("martedì, 5 maggio 2026, 23:03", TUESDAY),
        ("dinsdag, 5 mei 2026, 23:03", TUESDAY),
        ("terça-feira, 5 de maio de 2026 às 23:03", TUESDAY),
        ("wtorek, 5 maja 2026, 23:03", TUESDAY),
        ("вторник, 5 мая 2026, 23:03", TUESDAY),
        ("2026年 05月 5日(火曜日) 23:03", TUESDAY),
        ("2026年05月5日 星期二 下午11:03", TUESDAY),
        ("2026-05-05 23:03", TUESDAY),
        ("05.05.2026, 23:03", TUESDAY),
        ("04.05.2026, 23:59", "2026-05-04T23:59"),
        ("25/05/2026, 23:59", "2026-05-25T23:59"),
        ("04/05/2026, 23:59", None),  # the 4th of May, or the 5th of April
        ("Monday, 5 May 2026, 11:03 PM", None),  # it was a Tuesday
        ("Tuesday, 5 May 2026, 11:03 PM CEST", None),
        ("5 listopada 2026, 12:00", None),  # in Poland November, in Croatia October
        ("yesterday", None),
    ],
)
def test_a_time_is_read_in_any_language_or_not_at_all(text: str, read: str | None) -> None:
    (time,) = read_times([text])
    assert (time is None) if read is None else time == datetime.fromisoformat(read).astimezone()


def test_one_time_of_a_list_can_tell_how_the_others_are_meant() -> None:
    british, plain = "25/05/2026, 23:59", "04/05/2026, 23:59"
    assert read_times([plain, british])[0] == datetime(2026, 5, 4, 23, 59).astimezone()
    assert read_times([plain, "05/25/2026, 23:59"])[0] == datetime(2026, 4, 5, 23, 59).astimezone()
    assert read_times([plain, british, "05/25/2026, 23:59"])[0] is None


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
