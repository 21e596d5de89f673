"""The book's page of threats: every row names what proves it, and every attack has a row."""

import re
from pathlib import Path

import pytest
import yaml

from course_lib.grading.sources.project import project_root

HERE = Path(__file__).parent
PROOF = re.compile(r"`([\w-]+)`|\*(\w+):\* ([\w ]+)")
"""An attack by its name, or a test by its file and its name in words."""
PAGE = project_root(HERE) / "book" / "threats.md"


def attacks() -> set[str]:
    files = sorted((HERE / "attacks").glob("*.yaml"))
    return {entry["name"] for path in files for entry in yaml.safe_load(path.read_text("utf-8"))}


def rows() -> list[list[str]]:
    """The folded table's rows, without its heading and the rows that are headings."""
    table = PAGE.read_text(encoding="utf-8").split("{answer} All attempts")[1].split("::::")[0]
    cells = [
        [cell.strip() for cell in line.strip("|\n").split("|")]
        for line in table.splitlines()
        if line.startswith("| ")
    ]
    return [row for row in cells[2:] if any(row[1:])]


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


def test_every_attack_has_a_row() -> None:
    proofs = " ".join(row[2] for row in rows())
    assert attacks() == {name for name in re.findall(r"`([\w-]+)`", proofs)}


def test_nothing_is_not_promised_but_whose_idea_an_answer_was() -> None:
    section = (
        PAGE.read_text(encoding="utf-8").split("## What is not promised\n")[1].split("\n## ")[0]
    )
    assert re.findall(r"\*\*(.+?)\*\*", section) == ["whose idea an answer was"]
    assert "\n- " not in section
