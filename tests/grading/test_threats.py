"""The book's pages of threats: every row of the attempts names what proves it, every attack has
a row, and the other page promises all but one thing."""

import re
from pathlib import Path

import pytest
import yaml

from course_lib.assignments import checks
from course_lib.grading.running import workers
from course_lib.grading.sandbox import limits
from course_lib.grading.sources.project import project_root

HERE = Path(__file__).parent
PROOF = re.compile(r"`([\w-]+)`|\*(\w+):\* ([\w ]+)")
"""An attack by its name, or a test by its file and its name in words."""
BOOK = project_root(HERE) / "book"


def attacks() -> set[str]:
    files = sorted((HERE / "attacks").glob("*.yaml"))
    return {entry["name"] for path in files for entry in yaml.safe_load(path.read_text("utf-8"))}


def rows() -> list[list[str]]:
    """The rows of the page's tables, without their headings."""
    page = (BOOK / "teaching" / "attempts.md").read_text(encoding="utf-8")
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in page.splitlines()
        if line.startswith("| ") and not line.startswith(("| Tried", "| ---"))
    ]


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_every_row_names_what_proves_it(row: list[str]) -> None:
    tried, happens, proof = row
    assert tried
    assert happens
    assert PROOF.sub("", proof).strip("`;, ") == ""
    for attack, file, test in PROOF.findall(proof):
        if attack:
            assert attack in attacks()
        else:
            [path] = HERE.parent.rglob(f"test_{file}.py")
            text = path.read_text(encoding="utf-8")
            assert re.search(rf"^def test_{test.replace(' ', '_')}\(", text, re.MULTILINE), test


def test_the_attack_that_is_told_in_full_is_as_told() -> None:
    page = (BOOK / "teaching" / "attempts.md").read_text(encoding="utf-8")
    told = " ".join(page.split("\n## ")[0].split())
    entries = yaml.safe_load((HERE / "attacks" / "notebooks.yaml").read_text("utf-8"))
    [edited] = [entry for entry in entries if entry["name"] == "edited-tests"]
    assert edited["loses"] == ["energies", "function_example"]
    assert f"`{edited['cells']['energies_answer'].strip()}`" in told
    assert f"*{edited['says'][0]}*" in told
    assert 'cell("energies").source = "pass"' in edited["files"]
    assert 'cell("function_example").metadata.nbgrader.points = 1000' in edited["files"]


def test_the_limits_on_the_pages_are_those_of_the_grader() -> None:
    pages = {
        name: (BOOK / "teaching" / f"{name}.md").read_text(encoding="utf-8")
        for name in ("threats", "attempts", "instructors")
    }
    minutes, memory = workers.LONGEST / 60, workers.MOST_MEMORY / 1024**3
    assert f"ended after {minutes:g} minutes, and may take {memory:g} GB" in pages["threats"]
    assert limits.LOOK_SECONDS == 0.1
    assert all("ten times a second" in pages[name] for name in ("threats", "attempts"))
    assert f"stopped after {checks.SECONDS} seconds" in pages["attempts"]
    most = limits.DEFAULT.memory / 1024**3
    assert f"a submission is stopped at {most:g} GB" in pages["instructors"]


def test_every_attack_has_a_row() -> None:
    proofs = " ".join(row[2] for row in rows())
    assert attacks() == {name for name in re.findall(r"`([\w-]+)`", proofs)}
