"""Zips as Canvas and Moodle make them, with what students put into them.

Two classes are written as the platforms write them (Canvas' `content_zipper`, Moodle's `downloader`
of assignments): each row is a student, what they handed in, and where it has to end.
"""

import io
import json
import re
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from course_lib.errors import CourseError
from course_lib.grading.intake.collecting import (
    Collected,
    Collection,
    collect,
    group_of,
    recorded,
)
from course_lib.grading.intake.roster import Roster, read_roster
from course_lib.grading.intake.staging import COLLECTED, collected_remarks

NAME = "attention_by_hand"
CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section
    Points Possible,,,,
"Lovelace, Ada",1042,,ada,A
"Noether, Emmy",1043,,emmy,A
"""


def notebook(whose: str) -> str:
    return json.dumps({"cells": [], "whose": whose})


NOTEBOOK = notebook("mine")
Content = str | bytes
Files = Mapping[str, Content]


def zipped(files: Files) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


def encrypted(files: Files) -> bytes:
    data = bytearray(zipped(files))
    data[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


def tarred(files: Files) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(str(content).encode()))
    return data.getvalue()


def archive(folder: Path, files: Files, name: str = "all.zip") -> Path:
    path = folder / name
    path.write_bytes(zipped(files))
    return path


def roster(folder: Path, text: str) -> Roster:
    (folder / "roster.csv").write_text(text, encoding="utf-8")
    return read_roster(folder / "roster.csv")


def there(submitted: Path) -> dict[str, str]:
    return {
        path.relative_to(submitted).as_posix(): path.read_text()
        for path in sorted(submitted.rglob("*"))
        if path.is_file() and path.name != COLLECTED
    }


def by_student(collected: Collection) -> dict[str, Collected]:
    return {one.student: one for one in collected.students}


TAKEN, ASIDE, ASKED, NOTHING = "taken", "put aside", "asked about", "nothing"
BIG = json.dumps({"cells": [{"cell_type": "code", "outputs": ["0.5\n" * 3_000_000]}]})


class Row(NamedTuple):
    """One student: the name as Canvas sorts it, the login, what they uploaded, where it ends."""

    name: str
    login: str
    files: Files
    end: str
    why: str = ""
    late: str = ""
    group: str = ""


CANVAS_CLASS = [
    Row("Lovelace, Ada", "ada", {f"{NAME}.ipynb": NOTEBOOK}, TAKEN),
    Row("Noether, Emmy", "emmy", {f"{NAME}.zip": zipped({f"{NAME}.ipynb": NOTEBOOK})}, TAKEN),
    Row("Curie, Marie", "marie", {f"{NAME}-2.ipynb": NOTEBOOK}, TAKEN, late="LATE_"),
    Row("van_Bergann, Zoë", "zoe", {f"{NAME}.ipynb": NOTEBOOK}, TAKEN),
    Row("Team_2", "team", {f"{NAME}.ipynb": NOTEBOOK}, TAKEN),
    Row("4711", "number", {"2024_05_06_homework.ipynb": NOTEBOOK}, TAKEN),
    Row("Großmann, Käthe", "kaethe", {f"{NAME}.ipynb": NOTEBOOK}, TAKEN),
    Row("王, 小明", "ming", {"作业.ipynb": NOTEBOOK}, TAKEN),
    Row("O'Brien, Pat", "o'brien", {f"{NAME}.ipynb": NOTEBOOK}, TAKEN),
    Row("Berg, Eva", "UNI\\eva", {f"{NAME}.ipynb": NOTEBOOK}, TAKEN),
    Row("Müller, Eva", "eva müller", {f"{NAME}.ipynb": NOTEBOOK}, TAKEN),
    Row("Berg, Eve", "eve", {"text.html": "<p>"}, ASIDE, "a web page, and no notebook"),
    Row("Adams, Fay", "fay", {"link.html": "<p>"}, ASIDE, "a web page, and no notebook", "LATE_"),
    Row("Gray, Gus", "gus", {"attention.pdf": b"%PDF-1.7"}, ASIDE, "a PDF, and no notebook"),
    Row("Hill, Hal", "hal", {"answer.docx": zipped({"a": "b"})}, ASIDE, "an Office document"),
    Row("Ives, Ida", "ida", {"all.7z": b"7z\xbc\xaf\x27\x1c"}, ASIDE, "a 7z archive"),
    Row("Jones, Jo", "jo", {f"{NAME}.ipynb": NOTEBOOK, "notes.csv": "a,b"}, TAKEN),
    Row("King, Kim", "kim", {f"{NAME}.ipynb": "{}", f"{NAME}-1.ipynb": NOTEBOOK}, TAKEN),
    Row("Lee, Lou", "lou", {"week5.zip": zipped({f"a/b/{NAME}.ipynb": NOTEBOOK})}, TAKEN),
    Row("May, Max", "max", {"a.zip": zipped({"b.zip": zipped({"x.ipynb": NOTEBOOK})})}, TAKEN),
    Row("Nash, Nan", "nan", {"attention 👩‍💻.ipynb": NOTEBOOK}, TAKEN),
    Row("Orr, Oda", "oda", {f"{NAME}\u200e.ipynb": NOTEBOOK}, TAKEN),
    Row("Poe, Pia", "pia", {f"{NAME}.ipynb.txt": NOTEBOOK}, TAKEN),
    Row("Quin, Quy", "quy", {f"{NAME}.ipynb": zipped({f"{NAME}.ipynb": NOTEBOOK})}, TAKEN),
    Row("Ray, Rex", "rex", {f"{NAME}.zip": b"PK\x03\x04 cut off"}, ASIDE, "damaged or no zip"),
    Row("Sun, Sue", "sue", {"x.zip": encrypted({"x.ipynb": NOTEBOOK})}, ASIDE, "is encrypted"),
    Row("Tan, Tom", "tom", {f"{NAME}.ipynb": ""}, ASIDE, "empty, and no notebook"),
    Row("Ude, Una", "una", {f"{NAME}.zip": zipped({f"{NAME}.ipynb": BIG})}, TAKEN),
    Row("Voss, Val", "val", {"x.zip": zipped({"__MACOSX/x": "", "x/x.ipynb": NOTEBOOK})}, TAKEN),
    Row("Wu, Wei", "wei", {"x.zip": zipped({f"homework\\{NAME}.ipynb": NOTEBOOK})}, TAKEN),
    Row("Xu, Xia", "xia", {"x.tar.gz": tarred({f"{NAME}.ipynb": NOTEBOOK})}, TAKEN),
    Row("Yang, Yi", "yi", {"lovelaceada_1001_7_x.ipynb": NOTEBOOK}, TAKEN),
    Row("Zorn, Zac", "zac", {"export.html": "<html>"}, ASIDE, "a web page, and no notebook"),
    Row("Abel, Amy", "amy", {"homework": NOTEBOOK}, TAKEN),
    Row("Bell, Bea", "bea", {f"{NAME}.ipynb": NOTEBOOK}, TAKEN, group="Team_A"),
    Row("Cole, Cem", "cem", {}, TAKEN, group="Team_A"),
    Row("Dorn, Dan", "dan", {}, NOTHING),
    Row("Müller, Anna", "anna", {}, NOTHING),
    Row("Ende, Eli", "eli", {f"{NAME}.ipynb": "no notebook"}, ASIDE, "a file, and no notebook"),
    Row("Frey, Flo", "flo", {"main.py": "print(1)"}, ASIDE, "a Python file, and no notebook"),
]
"""Forty; the namesake of the one before the last but two is in another section."""


def canvas_name(row: Row) -> str:
    """What Canvas makes of a name: word characters, small, and no number between underscores."""
    sortable = re.sub(r"_(\d+)_", r"\1", row.group or row.name).lower()
    return re.sub(r"\W", "", sortable)


def canvas_entries(row: Row, number: int) -> dict[str, Content]:
    prefix = f"{canvas_name(row)}_{row.late}{number}"
    return {
        f"{prefix}_{name}" if name in ("text.html", "link.html") else f"{prefix}_{file}_{name}": one
        for file, (name, one) in enumerate(row.files.items(), 77_000)
    }


def test_a_class_of_forty_on_canvas(tmp_path: Path) -> None:
    assert len(CANVAS_CLASS) == 40
    lines = ["Student,ID,SIS User ID,SIS Login ID,Section,Group", "    Points Possible,,,,,"]
    wanted: dict[str, Row] = {}
    entries: dict[str, Content] = {"mülleranna_2002_77999_x.ipynb": NOTEBOOK}
    for number, row in enumerate(CANVAS_CLASS, 1001):
        lines.append(f'"{row.name}",{number},,{row.login},A,{row.group}')
        for entry, content in canvas_entries(row, number).items():
            entries[entry] = content
            wanted[entry] = row
    known = roster(tmp_path, "\n".join(lines))
    students = {row.login: one.student for row, one in zip(CANVAS_CLASS, known.people, strict=True)}
    assert students["o'brien"] == "o-brien"
    submitted = tmp_path / "submitted"
    result = collect(NAME, [archive(tmp_path, entries)], submitted, known)

    ends = {entry.name: entry for entry in result.entries}
    assert ends.keys() == entries.keys()
    for name, row in wanted.items():
        mine = students[row.login]
        assert (ends[name].end, mine in ends[name].students) == (row.end, True), name
        assert row.why in ends[name].why
        folder = submitted / mine / NAME
        found = [path for path in folder.rglob("*") if path.is_file()]
        whole = [path for path in found if '"cells"' in path.read_text("utf-8", "replace")]
        assert found, name
        assert bool(whole) is (row.end == TAKEN), name
    stranger = ends["mülleranna_2002_77999_x.ipynb"]
    assert (stranger.end, stranger.students) == (ASKED, [])
    assert "mülleranna (2002) is not in the roster" in stranger.why
    assert [path.name for path in (tmp_path / "put_aside" / NAME).iterdir()] == [stranger.name]
    assert [one.student for one in result.absent] == ["dan", "anna"]
    assert recorded(tmp_path, NAME) == result.entries

    told = by_student(result)
    assert told["bea"].remarks == ["Handed in for a group, with cem."]
    assert group_of(tmp_path, NAME, "cem") == ["bea"]
    assert group_of(tmp_path, NAME, "ada") == []
    assert "Canvas marks it as late" in told["marie"].remarks[0]
    assert told["jo"].remarks == told["kim"].remarks == []
    assert {one.state for one in result.students} == {"new"}


GERMAN = (
    'ID,"Vollständiger Name",E-Mail-Adresse,Status,Gruppe,Bewertung,Bestwertung,'
    '"Bewertung kann geändert werden","Zuletzt geändert (Abgabe)","Zuletzt geändert (Bewertung)",'
    '"Feedback als Kommentar"'
)
FILE, TEXT = "assignsubmission_file", "assignsubmission_onlinetext"
IN_TIME = "Montag, 4. Mai 2026, 23:59"
MOODLE_CLASS: list[tuple[str, str, str, Files, str]] = [
    ("Ada Lovelace", "", IN_TIME, {f"{FILE}/{NAME}.ipynb": NOTEBOOK}, TAKEN),
    ("Emmy Noether", "", IN_TIME, {f"{FILE}_/{NAME}.ipynb": NOTEBOOK}, TAKEN),
    ("Marie Curie", "", IN_TIME, {f"{FILE}_{NAME}.ipynb": NOTEBOOK}, TAKEN),
    ("Eva Berg", "", IN_TIME, {f"{TEXT}/onlinetext.html": "<p>"}, ASIDE),
    (
        *("Gus Gray", "", IN_TIME),
        *({f"{FILE}/x.ipynb": NOTEBOOK, f"{TEXT}/onlinetext.html": "<p>"}, TAKEN),
    ),
    ("Pat O'Brien-Lee", "", IN_TIME, {f"{FILE}/a/b/{NAME}.ipynb": NOTEBOOK}, TAKEN),
    ("Zoë van der Berg", "", IN_TIME, {f"{FILE}/emmynoether_502_9_x.ipynb": NOTEBOOK}, TAKEN),
    ("Bea Bell", "Team A", IN_TIME, {}, TAKEN),
    ("Cem Cole", "Team A", IN_TIME, {}, TAKEN),
    ("Dan Dorn", "", "-", {}, NOTHING),
    ("Flo Frey", "", IN_TIME, {}, "stated"),
    ("Hal Hill", "", "am Tag danach", {f"{FILE}/{NAME}.ipynb": NOTEBOOK}, TAKEN),
    ("小明 王", "", IN_TIME, {f"{FILE}/{NAME}.zip": zipped({"作业.ipynb": NOTEBOOK})}, TAKEN),
    ("Ida Ives", "", IN_TIME, {f"{FILE}/attention.pdf": b"%PDF-"}, ASIDE),
]
"""Name, group, time, files, and where these end."""


def test_a_class_of_fourteen_on_a_german_moodle(tmp_path: Path) -> None:
    assert len(MOODLE_CLASS) == 14
    lines, entries, ends = [GERMAN], {}, {}
    for number, (name, group, time, files, end) in enumerate(MOODLE_CLASS, 501):
        address = f"p{number}@uni.example"
        lines.append(
            f'Teilnehmer/in{number},"{name}",{address},"Zur Bewertung",{group},,"30,00",Ja,"{time}"'
            ",-,"
        )
        for file, content in files.items():
            entries[f"{name}_{number}_{file}"] = content
            ends[f"{name}_{number}_{file}"] = (end, [address])
    entries[f"Team A_501_{FILE}/{NAME}.ipynb"] = NOTEBOOK  # the group's number is nobody's
    ends[f"Team A_501_{FILE}/{NAME}.ipynb"] = (TAKEN, ["p508@uni.example", "p509@uni.example"])
    entries[f"Standard-Gruppe_{FILE}/x.ipynb"] = NOTEBOOK
    ends[f"Standard-Gruppe_{FILE}/x.ipynb"] = (ASKED, [])
    submitted = tmp_path / "submitted"
    known = roster(tmp_path, "\n".join(lines))
    result = collect(NAME, [archive(tmp_path, entries)], submitted, known)
    assert {entry.name: (entry.end, entry.students) for entry in result.entries} == ends
    absent = {one.student: one.handed_in for one in result.absent}
    assert {student: bool(time) for student, time in absent.items()} == {
        "p510@uni.example": False,
        "p511@uni.example": True,
    }
    told = by_student(result)
    assert [one.remarks for one in result.students if one.student == "p501@uni.example"] == [[]]
    stamp = submitted / "p501@uni.example" / NAME / "timestamp.txt"
    assert stamp.read_text().startswith("2026-05-04T23:59:00")
    assert "'am Tag danach', cannot be read" in told["p512@uni.example"].remarks[0]
    assert not (submitted / "p512@uni.example" / NAME / "timestamp.txt").exists()
    assert (submitted / "p505@uni.example" / NAME / "typed onlinetext.html").is_file()


def test_where_a_list_has_no_numbers_names_decide_if_one_has_it(tmp_path: Path) -> None:
    people = "First name,Last name,Email address\nAda,Lovelace,a@x.org\nEva,Berg,e@x.org\n"
    known = roster(tmp_path, people + "Eva,Berg,f@x.org\n")
    made = archive(
        tmp_path,
        {
            f"Ada Lovelace_501_{FILE}/x.ipynb": NOTEBOOK,
            f"Eva Berg_502_{FILE}/x.ipynb": NOTEBOOK,
            "stray.txt": "?",
        },
    )
    result = collect(NAME, [made], tmp_path / "submitted", known)
    assert [
        (one.end, one.students) for one in sorted(result.entries, key=lambda one: one.name)
    ] == [
        (TAKEN, ["a@x.org"]),
        (ASKED, []),
        (ASKED, []),
    ]


def test_a_group_without_a_list_of_groups_is_asked_about(tmp_path: Path) -> None:
    made = archive(tmp_path, {f"team_a_1042_70_{NAME}.ipynb": NOTEBOOK})
    result = collect(NAME, [made], tmp_path / "submitted", roster(tmp_path, CANVAS))
    (remark,) = by_student(result)["ada"].remarks
    assert "'team_a'" in remark
    assert "column Group" in remark


@pytest.mark.parametrize("name", [f"anon_aB3dE_7002_{NAME}.ipynb", "LATE_anon_aB3dE_text.html"])
def test_hidden_names_are_asked_about_with_the_remedy(tmp_path: Path, name: str) -> None:
    made = archive(tmp_path, {name: NOTEBOOK})
    (entry,) = collect(NAME, [made], tmp_path / "submitted", roster(tmp_path, CANVAS)).entries
    assert (entry.end, entry.name) == (ASKED, name)
    assert "anonymous grading" in entry.why


def test_a_number_that_may_be_two_peoples_is_asked_about(tmp_path: Path) -> None:
    made = archive(tmp_path, {f"team_1043_1042_70_{NAME}.ipynb": NOTEBOOK})
    (entry,) = collect(NAME, [made], tmp_path / "submitted", roster(tmp_path, CANVAS)).entries
    assert (entry.end, entry.why) == (ASKED, "it may be from 1043 or 1042: nobody can tell")


def test_the_later_of_two_counts(tmp_path: Path) -> None:
    submitted, known = tmp_path / "submitted", roster(tmp_path, CANVAS)
    monday = archive(tmp_path, {f"lovelaceada_1042_70_{NAME}.ipynb": notebook("mon")}, "mon.zip")
    tuesday = archive(tmp_path, {"lovelaceada_1042_12_final.ipynb": notebook("tue")}, "tue.zip")
    wednesday = archive(tmp_path, {"lovelaceada_1042_text.html": "sorry"}, "wed.zip")
    (one,) = collect(NAME, [monday, tuesday], submitted, known).students
    assert (one.state, one.kept) == ("replaced", submitted / "ada" / f"{NAME}.1")
    assert there(submitted)[f"ada/{NAME}/final.ipynb"] == notebook("tue")
    # without a notebook it is put aside, as often as it is collected
    for _ in range(2):
        (one,) = collect(NAME, [wednesday], submitted, known).students
        assert (one.state, one.kept) == ("kept", submitted / "ada" / f"{NAME}.2")
    assert f"ada/{NAME}/final.ipynb" in there(submitted)


def test_of_two_notebooks_under_one_name_the_later_keeps_it(tmp_path: Path) -> None:
    submitted, known = tmp_path / "submitted", roster(tmp_path, CANVAS)
    both = {
        f"lovelaceada_1042_70_{NAME}.ipynb": notebook("first"),
        f"lovelaceada_1042_71_{NAME}-1.ipynb": notebook("second"),
    }
    collect(NAME, [archive(tmp_path, both)], submitted, known)
    assert there(submitted)[f"ada/{NAME}/{NAME}.ipynb"] == notebook("second")
    assert there(submitted)[f"ada/{NAME}/1 {NAME}.ipynb"] == notebook("first")


def test_what_is_nobodys_is_kept_beside_what_was_there_under_its_name(tmp_path: Path) -> None:
    known, asked = roster(tmp_path, CANVAS), f"strange_7_70_{NAME}.ipynb"
    mine = {f"lovelaceada_1042_70_{NAME}.ipynb": NOTEBOOK}
    for content in ("one", "two", "two"):
        made = archive(tmp_path, {**mine, asked: notebook(content)})
        collect(NAME, [made], tmp_path / "submitted", known)
    kept = sorted((tmp_path / "put_aside" / NAME).iterdir())
    assert [path.read_text() for path in kept] == [notebook("two"), notebook("one")]


def test_two_zips_of_one_name_are_both_on_record(tmp_path: Path) -> None:
    known = roster(tmp_path, CANVAS)
    for name in (f"lovelaceada_1042_70_{NAME}.ipynb", "noetheremmy_1043_9_x"):
        collect(NAME, [archive(tmp_path, {name: NOTEBOOK})], tmp_path / "submitted", known)
    assert {entry.name: entry.students for entry in recorded(tmp_path, NAME)} == {
        f"lovelaceada_1042_70_{NAME}.ipynb": ["ada"],
        "noetheremmy_1043_9_x": ["emmy"],
    }


def test_no_students_zip_stops_the_others(tmp_path: Path) -> None:
    """Names that the unpacking itself uses, a time that no clock shows."""
    inside = zipped({"a/.a.moving": "", f"a/{NAME}.ipynb": NOTEBOOK})
    late = io.BytesIO()
    with tarfile.open(fileobj=late, mode="w", format=tarfile.PAX_FORMAT) as packed:
        entry = tarfile.TarInfo(f"{NAME}.ipynb")
        entry.size, entry.pax_headers = len(NOTEBOOK), {"mtime": str(2**80)}
        packed.addfile(entry, io.BytesIO(NOTEBOOK.encode()))
    files = {
        "lovelaceada_1042_70_x.zip": inside,
        "noetheremmy_1043_71_x.tar": late.getvalue(),
    }
    submitted = tmp_path / "submitted"
    collect(NAME, [archive(tmp_path, files)], submitted, roster(tmp_path, CANVAS))
    assert len([name for name in there(submitted) if name.endswith(f"{NAME}.ipynb")]) == 2


def test_nothing_is_overwritten_and_a_time_by_hand_stays(tmp_path: Path) -> None:
    submitted, known = tmp_path / "submitted", roster(tmp_path, CANVAS)

    def again(content: str) -> Collected:
        made = archive(tmp_path, {f"lovelaceada_1042_70_{NAME}.ipynb": notebook(content)})
        return collect(NAME, [made], submitted, known).students[0]

    assert again("one").state == "new"
    stamp = submitted / "ada" / NAME / "timestamp.txt"
    stamp.write_text("2026-05-05 12:00:00 UTC")
    assert again("one").state == "unchanged"
    assert stamp.exists()
    assert again("two").kept == submitted / "ada" / f"{NAME}.1"
    assert again("three").kept == submitted / "ada" / f"{NAME}.2"
    assert not stamp.exists()
    assert [json.loads(text)["whose"] for name, text in there(submitted).items() if "ipynb" in name]
    assert there(submitted)[f"ada/{NAME}/{NAME}.ipynb"] == notebook("three")


def test_what_a_zip_would_do_to_others_it_does_not_do(tmp_path: Path) -> None:
    link = zipfile.ZipInfo(f"{NAME}.ipynb")
    link.external_attr = 0o120777 << 16
    links = io.BytesIO()
    with zipfile.ZipFile(links, "w") as opened:
        opened.writestr(link, "/etc/passwd")
    ours = {f"{NAME}.ipynb": NOTEBOOK, "timestamp.txt": "1999-01-01", COLLECTED: '["praise"]'}
    made = archive(
        tmp_path,
        {
            f"lovelaceada_1042_1_{NAME}.zip": links.getvalue(),
            f"noetheremmy_1043_2_{NAME}.zip": zipped({"../../ada/x.ipynb": "no", **ours}),
        },
    )
    submitted = tmp_path / "submitted"
    told = by_student(collect(NAME, [made], submitted, roster(tmp_path, CANVAS)))
    assert "is a link" in told["ada"].remarks[0]
    assert "timestamp.txt was handed in; it counts for nothing." in told["emmy"].remarks
    assert there(submitted) == {
        f"emmy/{NAME}/ada/x.ipynb": "no",
        f"emmy/{NAME}/{NAME}.ipynb": NOTEBOOK,
        f"emmy/{NAME}/handed in collected.json": '["praise"]',
        f"emmy/{NAME}/handed in timestamp.txt": "1999-01-01",
    }
    assert not any("praise" in line for line in collected_remarks(submitted / "emmy" / NAME))


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"x.ipynb": ""}, "Nothing in .* is named as Canvas names"),
        (
            {f"Ada Lovelace_501_{FILE}/x.ipynb": ""},
            "named as Moodle names .* the roster is Canvas'",
        ),
    ],
)
def test_an_archive_that_this_platform_did_not_make_is_refused(
    tmp_path: Path, files: Files, said: str
) -> None:
    with pytest.raises(CourseError, match=said):
        collect(NAME, [archive(tmp_path, files)], tmp_path / "submitted", roster(tmp_path, CANVAS))
    with pytest.raises(CourseError, match="is a folder"):
        collect(NAME, [tmp_path], tmp_path / "submitted", roster(tmp_path, CANVAS))
    good = archive(tmp_path, {f"lovelaceada_1042_70_{NAME}.ipynb": NOTEBOOK}, "good.zip")
    missing = [good, tmp_path / "none.zip"]
    with pytest.raises(CourseError, match="There is no"):
        collect(NAME, missing, tmp_path / "submitted", roster(tmp_path, CANVAS))
    assert not list((tmp_path / "submitted").glob("ada"))
