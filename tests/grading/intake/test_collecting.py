"""Zips as Canvas and Moodle make them, with what students put into them."""

import io
import zipfile
from pathlib import Path

import pytest

from course_lib.errors import CourseError
from course_lib.grading.intake.collecting import Collected, collect
from course_lib.grading.intake.roster import Roster, read_roster
from course_lib.grading.intake.staging import COLLECTED, collected_remarks

NAME = "attention_by_hand"
CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section
"Lovelace, Ada",1042,,ada,A
"Noether, Emmy",1043,,emmy,A
"""
MOODLE = """\
Identifier,Full name,Email address,Grade,Last modified (submission),Feedback comments
Participant 501,Ada Lovelace,ada@uni.example,,"Tuesday, 5 May 2026, 11:03 PM",
Participant 502,Emmy Noether,emmy@uni.example,,-,
"""


def zipped(files: dict[str, bytes | str]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


def archive(folder: Path, files: dict[str, bytes | str], name: str = "all.zip") -> Path:
    path = folder / name
    path.write_bytes(zipped(files))
    return path


def roster(folder: Path, text: str) -> Roster:
    (folder / "roster.csv").write_text(text)
    return read_roster(folder / "roster.csv")


def there(submitted: Path) -> dict[str, str]:
    return {
        path.relative_to(submitted).as_posix(): path.read_text()
        for path in sorted(submitted.rglob("*"))
        if path.is_file() and path.name != COLLECTED
    }


def by_student(collected: list[Collected]) -> dict[str, Collected]:
    return {one.student: one for one in collected}


def test_canvas_zips_and_notebooks_go_to_the_students_of_the_roster(tmp_path: Path) -> None:
    made = archive(
        tmp_path,
        {
            f"lovelaceada_1042_70_{NAME}.zip": zipped({f"{NAME}.ipynb": "ada", "run/a.json": "1"}),
            f"noetheremmy_LATE_1043_71_{NAME}-2.ipynb": "emmy",
            "noetheremmy_LATE_1043_72_notes.csv": "a,b",
        },
    )
    submitted = tmp_path / "submitted"
    collected = by_student(collect(NAME, [made], submitted, roster(tmp_path, CANVAS)))
    assert there(submitted) == {
        f"ada/{NAME}/{NAME}.ipynb": "ada",
        f"ada/{NAME}/run/a.json": "1",
        f"emmy/{NAME}/{NAME}.ipynb": "emmy",
        f"emmy/{NAME}/notes.csv": "a,b",
    }
    assert collected["ada"].state == "new"
    assert collected["ada"].remarks == []
    assert "Canvas marks it as late" in collected["emmy"].remarks[0]
    assert collected_remarks(submitted / "emmy" / NAME) == collected["emmy"].remarks


def test_moodle_folders_and_plain_names_and_the_time_of_the_worksheet(tmp_path: Path) -> None:
    made = archive(
        tmp_path,
        {
            f"Ada Lovelace_501_assignsubmission_file_/{NAME}.zip": zipped(
                {f"{NAME}/{NAME}.ipynb": "ada", "__MACOSX/x": "", f"{NAME}/.DS_Store": ""}
            ),
            f"Emmy Noether_502_assignsubmission_file_{NAME}.ipynb": "emmy",
            "Emmy Noether_502_assignsubmission_onlinetext_/onlinetext.html": "<p>",
        },
    )
    submitted = tmp_path / "submitted"
    collect(NAME, [made], submitted, roster(tmp_path, MOODLE))
    found = there(submitted)
    assert found.pop(f"ada@uni.example/{NAME}/timestamp.txt").startswith("2026-05-05T23:03:00")
    assert found == {
        f"ada@uni.example/{NAME}/{NAME}.ipynb": "ada",
        f"emmy@uni.example/{NAME}/{NAME}.ipynb": "emmy",
    }


def test_without_a_roster_names_and_numbers_of_the_zip_do(tmp_path: Path) -> None:
    made = archive(tmp_path, {f"lovelaceada_1042_70_{NAME}.ipynb": "ada"})
    (one,) = collect(NAME, [made], tmp_path / "submitted")
    assert one.student == "lovelaceada-1042"
    assert not one.remarks


def test_whoever_is_not_in_the_roster_is_collected_and_named(tmp_path: Path) -> None:
    made = archive(tmp_path, {f"curiemarie_1044_70_{NAME}.ipynb": "marie"})
    (one,) = collect(NAME, [made], tmp_path / "submitted", roster(tmp_path, CANVAS))
    assert "The roster does not have this student." in one.remarks


def test_of_several_attempts_the_last_counts_and_it_says_so(tmp_path: Path) -> None:
    first = archive(
        tmp_path,
        {
            f"lovelaceada_1042_80_{NAME}-1.ipynb": "second",
            f"lovelaceada_1042_79_{NAME}.zip": zipped({f"{NAME}.ipynb": "first"}),
            "lovelaceada_1042_99_scratch.ipynb": "not this",
        },
    )
    second = archive(tmp_path, {f"lovelaceada_1042_12_{NAME} (2).ipynb": "third"}, "later.zip")
    (one,) = collect(NAME, [first], tmp_path / "a", roster(tmp_path, CANVAS))
    assert there(tmp_path / "a") == {f"ada/{NAME}/{NAME}.ipynb": "second"}
    assert one.remarks == [f"3 files were handed in; the last, {NAME}-1.ipynb, counts."]
    collect(NAME, [first, second], tmp_path / "b", roster(tmp_path, CANVAS))
    assert there(tmp_path / "b") == {f"ada/{NAME}/{NAME}.ipynb": "third"}


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    submitted, known = tmp_path / "submitted", roster(tmp_path, CANVAS)

    def again(content: str) -> Collected:
        made = archive(tmp_path, {f"lovelaceada_1042_70_{NAME}.ipynb": content})
        return collect(NAME, [made], submitted, known)[0]

    assert again("one").state == "new"
    assert again("one").state == "unchanged"
    assert again("two").kept == submitted / "ada" / f"{NAME}.1"
    assert again("three").kept == submitted / "ada" / f"{NAME}.2"
    assert there(submitted) == {
        f"ada/{NAME}/{NAME}.ipynb": "three",
        f"ada/{NAME}.1/{NAME}.ipynb": "one",
        f"ada/{NAME}.2/{NAME}.ipynb": "two",
    }


def test_what_a_zip_would_do_to_others_it_does_not_do(tmp_path: Path) -> None:
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as opened:
        opened.writestr(f"{NAME}.ipynb", b"0" * 50_000_000)
    link = zipfile.ZipInfo(f"{NAME}.ipynb")
    link.external_attr = 0o120777 << 16
    links = io.BytesIO()
    with zipfile.ZipFile(links, "w") as opened:
        opened.writestr(link, "/etc/passwd")
    made = archive(
        tmp_path,
        {
            f"a_1_1_{NAME}.zip": bomb.getvalue(),
            f"b_2_2_{NAME}.zip": links.getvalue(),
            f"c_3_3_{NAME}.zip": zipped({"../../d-4/x.ipynb": "no", f"{NAME}.ipynb": "yes"}),
            f"d_4_4_{NAME}.zip": b"no zip at all",
            f"e_5_5_{NAME}.zip": zipped(
                {f"{NAME}.ipynb": "e", "timestamp.txt": "1999-01-01", COLLECTED: '["praise"]'}
            ),
        },
    )
    submitted = tmp_path / "submitted"
    collected = by_student(collect(NAME, [made], submitted))
    assert there(submitted) == {f"c-3/{NAME}/{NAME}.ipynb": "yes", f"e-5/{NAME}/{NAME}.ipynb": "e"}
    for student, said in (
        ("a-1", "unpacks to more than"),
        ("b-2", "is a link"),
        ("c-3", "leads out of its folder"),
        ("d-4", "damaged or no zip"),
        ("e-5", "timestamp.txt was handed in; it was left out."),
    ):
        assert said in " ".join(collected[student].remarks), student
        assert said in " ".join(collected_remarks(submitted / student / NAME))
    assert "praise" not in " ".join(collected["e-5"].remarks)
    assert sorted(path.name for path in submitted.iterdir()) == ["a-1", "b-2", "c-3", "d-4", "e-5"]


@pytest.mark.parametrize("text", [CANVAS, None])
def test_a_file_named_as_a_neighbours_stays_its_owners(tmp_path: Path, text: str | None) -> None:
    made = archive(
        tmp_path,
        {
            f"noetheremmy_1043_70_{NAME}.ipynb": "emmy",
            "lovelaceada_1042_71_Emmy Noether_1043_assignsubmission_file_x.ipynb": "ada",
            "lovelaceada_1042_72_noetheremmy_1043_99_x.ipynb": "ada",
        },
    )
    collect(NAME, [made], tmp_path / "submitted", roster(tmp_path, text) if text else None)
    emmy = "emmy" if text else "noetheremmy-1043"
    assert there(tmp_path / "submitted")[f"{emmy}/{NAME}/{NAME}.ipynb"] == "emmy"


def test_a_moodle_file_named_as_canvas_would_stays_its_owners(tmp_path: Path) -> None:
    made = archive(
        tmp_path, {"Ada Lovelace_501_assignsubmission_file_/emmynoether_502_9_x.ipynb": "ada"}
    )
    (one,) = collect(NAME, [made], tmp_path / "submitted")
    assert one.student == "adalovelace-501"


def test_an_archive_that_no_platform_made_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="named as Canvas or Moodle"):
        collect(NAME, [archive(tmp_path, {"x.ipynb": ""})], tmp_path / "submitted")
    with pytest.raises(CourseError, match="There is no"):
        collect(NAME, [tmp_path / "nothing.zip"], tmp_path / "submitted")
