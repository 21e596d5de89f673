"""Unlucky and hostile submissions, graded for real among honest ones.

They stand in `attacks/`: what each does, what it loses, what is said about it. The book's page
of attempts names the test of each by its name there.
"""

import copy
import html
import json
import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Literal

import nbformat
import psutil
import pytest
import yaml
from bs4 import BeautifulSoup
from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.dataclasses import dataclass

from course_lib.assignments.slips import FILE, unpacked
from course_lib.grading.authoring.demonstration import (
    EVERYTHING,
    Student,
    answered,
    automatic_parts,
)
from course_lib.grading.running.classroom import ClassReport, Report, grade_class
from course_lib.grading.sources.project import source_of
from course_lib.grading.sources.release import source_notebook
from tests.conftest import ROOT
from tests.grading.tiny import cell_of

NAME = "attention_by_hand"
SOURCE = source_notebook(source_of(ROOT, NAME))
RELEASED = nbformat.read(ROOT / "exercises" / NAME / f"{NAME}.ipynb", as_version=4)
POINTS = automatic_parts(SOURCE)
LEFT_BEHIND = "86397.75"  # seconds that nobody else would sleep

KINDS = {
    "patience": "c.ContainedExecute.timeout = 6\nc.ContainedExecute.patience_seconds = 20",
    "bomb": "",
    "further": "",
}
"""Those that are graded apart, among the slow proofs, with these settings: what runs into a limit
of time, what takes what the machine has, and what is of a kind that is tried already."""


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Attack(Student):
    """One submission, and what should come of it; `attacks/honest.yaml` says more."""

    kind: Literal["", "patience", "bomb", "further"] = ""
    says: list[str] | None = None
    feedback: list[str] = Field(default_factory=list)


def read_attacks() -> dict[str, Attack]:
    files = sorted((Path(__file__).parent / "attacks").glob("*.yaml"))
    written = [entry for path in files for entry in yaml.safe_load(path.read_text("utf-8"))]
    attacks = TypeAdapter(list[Attack]).validate_python(written)
    named = {one.name: one for one in attacks}
    assert len(named) == len(attacks)
    assert set().union(*(one.loses for one in attacks)) <= {*POINTS, EVERYTHING}
    return named


ATTACKS = read_attacks()
CLASSES = {
    kind: [
        *(one.name for one in ATTACKS.values() if one.kind == kind),
        *(["honest"] if kind else []),
    ]
    for kind in ("", *KINDS)
}
"""Who is graded together; an honest one is among them."""
UNREADABLE = {"missing", "cut-off", "deep-json", "borrowed-folder"}


def hand_in(attack: Attack, submitted: Path) -> None:
    """Make the submission."""
    folder = submitted / attack.name / NAME
    folder.mkdir(parents=True)
    path = folder / f"{NAME}.ipynb"
    notebook = answered(attack, SOURCE, RELEASED)

    def filled(code: str) -> str:
        places = {"course": str(ROOT), "place": str(submitted.parent), "sleep": LEFT_BEHIND}
        for word, place in places.items():
            code = code.replace(f"{{{word}}}", place)
        return code

    for each in notebook.cells:
        each.source = filled(each.source)
    before = copy.deepcopy(notebook)
    path.write_text(json.dumps(notebook))
    known = {"folder": folder, "path": path, "notebook": notebook, "copy": copy}
    known["cell"] = partial(cell_of, notebook)
    exec(filled(attack.files), known)
    if notebook != before:
        path.write_text(json.dumps(notebook))


def graded(kind: str, place: Path) -> ClassReport:
    """Grade these submissions in a course like ours, with other settings."""
    course = place / "course"
    course.mkdir()
    for folder in ("solutions", "exercises"):
        (course / folder).symlink_to(ROOT / folder)
    ours = (ROOT / "nbgrader_config.py").read_text(encoding="utf-8")
    settings = f"{ours}\n{KINDS.get(kind, '')}\n"
    (course / "nbgrader_config.py").write_text(settings, encoding="utf-8")
    for name in CLASSES[kind]:
        hand_in(ATTACKS[name], place / "submitted")
    for _ in range(5):  # as its remark asks, where other tests had the processors
        result = grade_class(course, NAME, submitted=place / "submitted", jobs=2)
        if all(one.graded or one.student in UNREADABLE for one in result.reports):
            break
    return result


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], ClassReport]]:
    """What came of each class; it is graded when first asked for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADER_SECRET", "a SECRET of the instructor's")
        yield cache(lambda kind: graded(kind, tmp_path_factory.mktemp("class")))


@pytest.fixture
def quick(classes: Callable[[str], ClassReport]) -> ClassReport:
    """Of those that come to an end by themselves, one of each kind at least."""
    return classes("")


def report_of(result: ClassReport, name: str) -> Report:
    return next(report for report in result.reports if report.student == name)


def check(report: Report, attack: Attack) -> None:
    lost = {mark.part for mark in report.marks if mark.automatic and mark.score == 0}
    full = {mark.part for mark in report.marks if mark.automatic and mark.score == mark.points}
    said = " | ".join(report.remarks)
    loses = set(POINTS) if EVERYTHING in attack.loses else attack.loses
    assert (lost, full) == (loses, set(POINTS) - loses), said
    for words in attack.says or []:
        assert words in said
    if attack.says is None:
        assert report.remarks == []
    assert report.graded is (attack.name not in UNREADABLE)
    assert report.feedback is not None
    page = text_of(report.feedback)
    for words in attack.feedback:
        assert words in page


def text_of(page: Path) -> str:
    """What a page says, without its markup and its line ends."""
    bare = re.sub(r"<[^>]*>", "", page.read_text(encoding="utf-8"))
    return " ".join(html.unescape(bare).split())


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        pytest.param(kind, name, id=name, marks=[pytest.mark.slow] if kind else [])
        for kind, names in CLASSES.items()
        for name in names
    ],
)
def test_attack(kind: str, name: str, classes: Callable[[str], ClassReport]) -> None:
    check(report_of(classes(kind), name), ATTACKS[name])


def running(page: str) -> list[str]:
    """What a browser would run or fetch."""
    found = []
    for element in BeautifulSoup(page, "html.parser").find_all(True):
        if element.name in {"script", "iframe", "object", "embed", "base", "form"}:
            found.append(element.name)
        for name, value in element.attrs.items():
            address = str(value).strip().lower()
            active = name.startswith("on") or address.startswith(("javascript:", "vbscript:"))
            if active or (name == "src" and not address.startswith("data:image/")):
                found.append(f"{element.name} {name}={value}")
    return found


@pytest.mark.parametrize("name", ["wild-display", "wild-text", "wild-names", "leak"])
def test_pages_run_and_fetch_nothing(name: str, quick: ClassReport) -> None:
    report = report_of(quick, name)
    assert report.feedback is not None
    assert running(report.feedback.read_text(encoding="utf-8")) == []
    kept = nbformat.read(quick.place / "autograded" / name / NAME / f"{NAME}.ipynb", as_version=4)
    kinds = {
        kind
        for cell in kept.cells
        for output in cell.get("outputs", [])
        for kind in output.get("data", {})
    }
    assert kinds <= {"text/plain", "image/png", "image/jpeg"}
    written = json.dumps(kept.cells, ensure_ascii=False)
    assert not re.search("[\x00-\x08\x0b-\x1a\u202a-\u202e\u2066-\u2069]", written)


def test_no_page_has_a_line_of_a_hidden_test(quick: ClassReport) -> None:
    whole = "\n".join(cell.source for cell in SOURCE.cells)
    regions = re.findall(r"### BEGIN HIDDEN TESTS(.*?)### END HIDDEN TESTS", whole, re.DOTALL)
    given_out = {line.strip() for cell in RELEASED.cells for line in cell.source.split("\n")}
    slips = unpacked((ROOT / "exercises" / NAME / FILE).read_text(encoding="utf-8"))
    given_out |= {line.strip() for slip in slips for line in slip.code.split("\n")}
    # The made-up students hand in the solution's own lines.
    answers = re.findall(r"### BEGIN SOLUTION(.*?)### END SOLUTION", whole, re.DOTALL)
    given_out |= {line.strip() for answer in answers for line in answer.split("\n")}
    lines = {line.strip() for region in regions for line in region.split("\n")} - given_out
    hidden = [
        line for line in lines if len(line) >= 12 and not any(line in given for given in given_out)
    ]
    assert len(hidden) > 40
    for report in quick.reports:
        assert report.feedback is not None
        page = text_of(report.feedback)
        assert "HIDDEN TESTS" not in page
        assert [line for line in hidden if " ".join(line.split()) in page] == []
    wrong = report_of(quick, "emptied-tests").feedback
    assert wrong is not None
    assert "Add s_0 to h_j, take the tanh" in text_of(wrong)


def test_a_page_can_be_opened_whatever_was_put_out(quick: ClassReport) -> None:
    for report in quick.reports:
        assert report.feedback is not None
        assert report.feedback.stat().st_size < 2 * 1024**2


def test_what_was_handed_in_and_the_gradebook_are_as_they_were(quick: ClassReport) -> None:
    assert (quick.place / "gradebook.db").stat().st_size > 0
    honest = nbformat.read(
        quick.place / "submitted" / "honest" / NAME / f"{NAME}.ipynb", as_version=4
    )
    assert (
        honest.cells
        == nbformat.from_dict(
            answered(Student("honest", loses=frozenset()), SOURCE, RELEASED)
        ).cells
    )
    assert not (quick.place / "touched").exists()


def test_nothing_is_left_behind(quick: ClassReport) -> None:
    running = [process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"])]
    assert [command for command in running if LEFT_BEHIND in command] == []
    folders = [path for path in Path("/tmp").glob("g-*/submitted/*") if path.name in ATTACKS]
    assert folders == []
