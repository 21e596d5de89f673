"""`course grade NAME --demo` from the zip to the report, as `make grade` runs it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

NAME = "attention_by_hand"


@pytest.mark.slow
def test_it_collects_grades_and_compares_a_class_of_twelve() -> None:
    command = [str(Path(sys.executable).with_name("course")), "grade", NAME, "--demo"]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    assert f"12 submissions for {NAME}" in shown.stderr
    assert "All 12 made-up students got exactly the marks they deserve." in shown.stderr
    assert "100%" in shown.stderr
    assert "it took too long" in shown.stdout
    assert "2 files were handed in" in shown.stdout
    assert "points taken away" in shown.stdout
    place = re.search(r"cd (\S+) && jupyter lab", shown.stdout)
    assert place, shown.stdout
    assert len([*Path(place[1]).glob(f"feedback/*/{NAME}/{NAME}.html")]) == 12
    assert (Path(place[1]) / "report" / "index.html").is_file()
