"""The made-up class as Canvas would give it out: one zip of all submissions, and a roster."""

import csv
import io
import itertools
import zipfile
from collections.abc import Mapping
from pathlib import Path

from course_lib.grading.intake.roster import plain_name

FIRST_NUMBER = 1001


def write_canvas_zip(
    handed_in: Path, name: str, archive: Path, roster: Path, earlier: Mapping[str, bytes]
) -> None:
    """Pack `handed_in`/STUDENT/NAME/ into one zip under Canvas' names.

    Args:
        handed_in: folder of the students' folders.
        name: the assignment.
        archive: the zip to write.
        roster: Canvas' gradebook to write, as CSV.
        earlier: student -> a notebook handed in before the one that counts.
    """
    students = sorted(folder.name for folder in handed_in.iterdir() if (folder / name).is_dir())
    rows = [["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]]
    rows.append(["    Points Possible", "", "", "", ""])
    files = itertools.count(70_000)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as opened:
        for number, student in enumerate(students, FIRST_NUMBER):
            rows.append([student, str(number), "", student, "Demonstration"])
            notebooks = [(handed_in / student / name / f"{name}.ipynb").read_bytes()]
            if student in earlier:
                notebooks.insert(0, earlier[student])
            for again, notebook in zip(("", "-1"), notebooks, strict=False):
                packed = f"{plain_name(student)}_{number}_{next(files)}_{name}{again}.zip"
                opened.writestr(packed, _packed(name, notebook))
    with roster.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows(rows)


def _packed(name: str, notebook: bytes) -> bytes:
    """What `course submit` makes."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as opened:
        opened.writestr(f"{name}.ipynb", notebook)
    return data.getvalue()
