"""The made-up class as Canvas would give it out: one zip of all submissions, and a roster."""

import csv
import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

from course_lib.grading.intake.roster import plain

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
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as opened:
        file = 70_000
        for number, student in enumerate(students, FIRST_NUMBER):
            rows.append([student, str(number), "", student, "Demonstration"])
            prefix = f"{plain(student)}_{number}"
            if student in earlier:
                opened.writestr(f"{prefix}_{file}_{name}.zip", _packed(name, earlier[student]))
                file += 1
            notebook = (handed_in / student / name / f"{name}.ipynb").read_bytes()
            again = "-1" if student in earlier else ""
            opened.writestr(f"{prefix}_{file}_{name}{again}.zip", _packed(name, notebook))
            file += 1
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    roster.write_text(text.getvalue(), encoding="utf-8")


def _packed(name: str, notebook: bytes) -> bytes:
    """What `course submit` makes."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as opened:
        opened.writestr(f"{name}.ipynb", notebook)
    return data.getvalue()
