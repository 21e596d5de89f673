"""Record the picture in the guide for instructors: the report of the made-up class."""

import subprocess
import sys
import tempfile
from pathlib import Path

from course_lib.files import sha256_of
from course_lib.training.provenance import git_commit
from experiments.browser import write_picture
from experiments.recording import Part, Read, Records

NAME = "attention_by_hand"
PICTURE = Path(__file__).parents[2] / "book" / "images" / "class-report.png"
WIDE, PARTS_SHOWN, STUDENTS_SHOWN = 760, 2, 5
CUT = """([parts, students]) => {
  const kept = {"Points": Infinity, "Part by part": parts, "Students": students};
  for (const head of document.querySelectorAll("main h2")) {
    const rows = kept[head.textContent];
    for (let one = head.nextElementSibling; one && one.tagName !== "H2";) {
      const next = one.nextElementSibling;
      if (!rows) one.remove();
      one.querySelectorAll("tbody tr").forEach((row, k) => { if (k >= rows) row.remove(); });
      one = next;
    }
    if (!rows) head.remove();
  }
  return [document.querySelector("main").getBoundingClientRect().bottom, null];
}"""
"""Leaves how the points spread, and the first parts and students."""


def report() -> Records:
    """Grade the made-up class and write PICTURE."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["grade", NAME, "--demo", "--report", folder]
        subprocess.run([sys.executable, "-m", "course_lib", *command], check=True)
        shown = [PARTS_SHOWN, STUDENTS_SHOWN]
        write_picture(Path(folder) / f"{NAME}.html", PICTURE, WIDE, CUT, shown)
    yield "class-report", {"git_commit": git_commit(), "picture_sha256": sha256_of(PICTURE)}


def check(read: Read) -> None:
    """The picture is the recorded one."""
    assert read("class-report")["picture_sha256"] == sha256_of(PICTURE)


PARTS = {"report": Part(report, "a minute")}
