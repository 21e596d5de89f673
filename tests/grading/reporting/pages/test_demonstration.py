"""`course grade NAME --demo` from the zip to the report, as `make grade` runs it."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT

NAME = "attention_by_hand"


def course(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("course")), *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def shown() -> subprocess.CompletedProcess[str]:
    return course("grade", NAME, "--demo")


@pytest.fixture(scope="module")
def place(shown: subprocess.CompletedProcess[str]) -> Path:
    """Where the class lies, as the command says it."""
    found = re.search(r"cd (\S+) && jupyter lab", shown.stdout)
    assert found, shown.stderr
    return Path(found[1])


@pytest.mark.slow
def test_it_collects_grades_and_compares_a_class_of_twelve(
    shown: subprocess.CompletedProcess[str],
) -> None:
    assert shown.returncode == 0, shown.stderr
    assert f"12 submissions for {NAME}" in shown.stderr
    assert "All 12 made-up students got exactly the marks they deserve." in shown.stderr
    assert "100%" in shown.stderr
    assert "it took too long" in shown.stdout
    assert "There is more than one notebook" in shown.stdout
    assert "points taken away" in shown.stdout


@pytest.mark.slow
def test_every_page_works_offline_for_everybody(
    place: Path, visit: Callable[[Path], object]
) -> None:
    feedback = {path.parts[-3]: path for path in place.glob(f"feedback/*/{NAME}/{NAME}.html")}
    assert len(feedback) == 12
    report = place / "report" / "index.html"
    for page in (report, feedback["test-tamperer"], feedback["endless"], feedback["blank"]):
        seen = visit(page)
        assert (seen.requests, seen.errors, seen.grave, seen.sideways) == ([], [], [], 0), page
    for page in feedback.values():
        assert "HIDDEN TESTS" not in page.read_text()
