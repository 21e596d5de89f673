"""A class whose grading is stopped, killed and begun again: the gradebook ends as if undisturbed.

The assignment is a tiny one. Its class is graded on the workers of a scheduler that was started
apart, except where the command itself is killed.
"""

import itertools
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import psutil
import pytest
from distributed import LocalCluster
from nbgrader.api import Gradebook

from course_lib.assignments import owner
from course_lib.grading.running import journal
from course_lib.grading.running.classroom import ClassReport, grade_class
from course_lib.grading.running.execution import ContainedExecute
from course_lib.grading.running.submission import grade
from course_lib.grading.sandbox import scratch
from course_lib.grading.sources.project import db_url, nbgrader_messages
from tests.conftest import PATIENCE
from tests.grading.tiny import NAME, hand_in, job_of, write_course

STUDENTS = ("ada", "ben", "eve")
ANSWERS = {"ada": "6 * 7", "ben": "41", "eve": "'?'"}
ASK = """
from course_lib.assignments import owner
print(owner.owner())
try:
    open(owner.FILE, "w").write("mallory")
except OSError:
    print("refused")
"""


def course(folder: Path, students: tuple[str, ...] = STUDENTS) -> Path:
    """A course with this assignment, and what its class has handed in."""
    write_course(folder, answer="number = 42", test="assert number == 42")
    for number, student in enumerate(students):
        answers(folder, student, list(ANSWERS.values())[number % len(ANSWERS)])
    return folder


def answers(folder: Path, student: str, answer: str) -> None:
    handed_in = hand_in(folder, student, f"number = {answer}\n{ASK}")
    (handed_in / owner.FILE).write_text("mallory")


def printed(folder: Path, student: str) -> list[str]:
    """The lines that the answer of a graded notebook put out."""
    path = folder / "autograded" / student / NAME / f"{NAME}.ipynb"
    outputs = [
        output
        for cell in nbformat.read(path, as_version=4).cells
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "part_answer"
        for output in cell.outputs
    ]
    return "".join(output.text for output in outputs).splitlines()


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """The address of a scheduler with workers of its own, as a cluster has it."""
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
    ) as cluster:
        yield cluster.scheduler_address


def scores(result: ClassReport) -> dict[str, float]:
    return {report.student: report.score for report in result.reports}


def rows(folder: Path) -> dict[str, list[Any]]:
    """Everything in the gradebook but the ids that nbgrader draws at random."""
    database = sqlite3.connect(folder / "gradebook.db")
    names = [
        name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type='table'")
    ]
    found = {}
    for name in sorted(names):
        table = database.execute(f"SELECT * FROM {name}")
        kept = [
            place
            for place, column in enumerate(table.description)
            if column[0] != "id" and not column[0].endswith("_id") and column[0] != "timestamp"
        ]
        found[name] = sorted(repr([row[place] for place in kept]) for row in table)
    database.close()
    with nbgrader_messages(), Gradebook(db_url(folder)) as gradebook:
        for submission in gradebook.assignment_submissions(NAME):
            [notebook] = submission.notebooks
            found[f"grades of {submission.student_id}"] = sorted(
                (one.name, one.auto_score, one.manual_score, one.needs_manual_grade)
                for one in notebook.grades
            )
            found[f"comments of {submission.student_id}"] = sorted(
                (one.name, one.auto_comment) for one in notebook.comments
            )
    return found


def pages(folder: Path) -> dict[str, str]:
    """The graded notebooks and feedback pages."""
    return {
        str(path.relative_to(folder)): path.read_text()
        for kind in ("autograded", "feedback")
        for path in sorted((folder / kind).rglob("*.*"))
    }


def stamps(folder: Path) -> dict[str, int]:
    """When each graded notebook was written."""
    return {
        path.parts[-3]: path.stat().st_mtime_ns for path in (folder / "autograded").rglob("*.ipynb")
    }


def start(folder: Path) -> "subprocess.Popen[str]":
    command = [str(Path(sys.executable).with_name("course")), "grade", NAME, "--jobs", "2"]
    return subprocess.Popen(
        command,
        cwd=folder,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def of_session(session: int) -> list[psutil.Process]:
    """What still runs of a command that was started as a session of its own, boxes included."""
    mark = f"{scratch.TOP}/{scratch.PREFIX}"
    return [
        process
        for process in psutil.process_iter(["pid", "cmdline"])
        if process.pid != os.getpid() and _session(process.pid) == session
    ] + [
        process
        for process in psutil.process_iter(["cmdline", "ppid"])
        if mark in " ".join(process.info["cmdline"] or []) and process.info["ppid"] == 1
    ]


def _session(process: int) -> int | None:
    try:
        return os.getsid(process)
    except ProcessLookupError:
        return None


def wait_until_gone(session: int) -> list[psutil.Process]:
    deadline = time.monotonic() + PATIENCE
    while (left := of_session(session)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return left


@pytest.fixture(scope="module")
def undisturbed(
    tmp_path_factory: pytest.TempPathFactory, scheduler: str
) -> tuple[Path, ClassReport]:
    """A class graded in one go."""
    folder = course(tmp_path_factory.mktemp("undisturbed"))
    return folder, grade_class(folder, NAME, scheduler=scheduler)


def test_a_scheduler_that_runs_elsewhere_grades_the_class(
    undisturbed: tuple[Path, ClassReport],
) -> None:
    folder, result = undisturbed
    assert scores(result) == {"ada": 2, "ben": 0, "eve": 0}
    assert result.complete
    assert rows(folder)["grades of ada"] == [("part", 2, None, False), ("why", None, None, True)]


def test_a_kernel_finds_the_owner_of_what_it_runs_and_cannot_change_it(
    undisturbed: tuple[Path, ClassReport],
) -> None:
    for student in STUDENTS:
        assert printed(undisturbed[0], student) == [student, "refused"]


def test_what_is_graded_and_has_not_changed_is_not_run_again(
    undisturbed: tuple[Path, ClassReport], tmp_path: Path, scheduler: str
) -> None:
    folder = tmp_path / "class"
    shutil.copytree(undisturbed[0], folder)
    before, table = stamps(folder), rows(folder)
    # nobody answers there: nobody is needed
    assert scores(grade_class(folder, NAME, scheduler="tcp://127.0.0.1:9")) == scores(
        undisturbed[1]
    )
    assert stamps(folder) == before

    answers(folder, "ben", "42")
    assert scores(grade_class(folder, NAME, scheduler=scheduler))["ben"] == 2
    after = stamps(folder)
    assert {name for name in after if after[name] != before[name]} == {"ben"}

    grade_class(folder, NAME, scheduler=scheduler, regrade=True)
    last = stamps(folder)
    assert {name for name in last if last[name] != after[name]} == set(STUDENTS)
    assert {name: len(found) for name, found in rows(folder).items()} == {
        name: len(found) for name, found in table.items()
    }


def test_points_given_by_hand_are_kept_and_reach_the_feedback(
    undisturbed: tuple[Path, ClassReport], tmp_path: Path, scheduler: str
) -> None:
    folder = tmp_path / "class"
    shutil.copytree(undisturbed[0], folder)
    before = stamps(folder)
    with nbgrader_messages(), Gradebook(db_url(folder)) as gradebook:
        grade = gradebook.find_grade("why", NAME, NAME, "eve")
        grade.manual_score, grade.needs_manual_grade = 2.5, False
        gradebook.db.commit()
    page = folder / "feedback" / "eve" / NAME / f"{NAME}.html"
    old = page.read_text()
    assert scores(grade_class(folder, NAME, scheduler=scheduler))["eve"] == 2.5
    assert stamps(folder) == before  # no kernel was started
    assert "2.5" in page.read_text()
    assert page.read_text() != old
    result = grade_class(folder, NAME, scheduler=scheduler, only=["eve"])
    assert scores(result)["eve"] == 2.5
    assert stamps(folder)["eve"] != before["eve"]


def test_what_the_journal_says_has_to_be_borne_out(
    undisturbed: tuple[Path, ClassReport], tmp_path: Path, scheduler: str
) -> None:
    """Here by a graded notebook that is gone, an entry that is gone, and a page that is gone."""
    folder = tmp_path / "class"
    shutil.copytree(undisturbed[0], folder)
    shutil.rmtree(folder / "autograded" / "ada")
    journal.path_of(folder, NAME, "ben").unlink()
    shutil.rmtree(folder / "feedback" / "eve")
    assert scores(grade_class(folder, NAME, scheduler=scheduler)) == scores(undisturbed[1])
    assert rows(folder) == rows(undisturbed[0])
    assert pages(folder).keys() == pages(undisturbed[0]).keys()
    assert journal.read(folder, NAME, "ben") is not None


def test_the_gradebook_is_opened_twice_and_never_while_answers_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, events = course(tmp_path), []
    job = job_of(folder, "ada", boxed=False)
    opened, run = Gradebook.__init__, ContainedExecute.preprocess

    def noted_opening(self: Gradebook, *arguments: Any) -> None:
        events.append("gradebook")
        opened(self, *arguments)

    def noted_run(self: ContainedExecute, *arguments: Any) -> Any:
        events.append("answers run")
        made = run(self, *arguments)
        events.append("and have ended")
        return made

    monkeypatch.setattr(Gradebook, "__init__", noted_opening)
    monkeypatch.setattr(ContainedExecute, "preprocess", noted_run)
    assert grade(job).graded
    # once to mark, and once by nbgrader's own step that makes the page
    assert events == ["answers run", "and have ended", "gradebook", "gradebook"]
    # the owner's name lies there without a sandbox too, where root may write what it likes
    assert printed(folder, "ada")[0] == "ada"


def killed_when(folder: Path, condition: Callable[[], bool]) -> bool:
    """Kill the command as soon as this holds; whether it was still running."""
    process = start(folder)
    try:
        while process.poll() is None:
            if condition():
                process.kill()  # the command alone: the processes it started have to notice
                return True
            time.sleep(0.005)
        return False
    finally:
        process.communicate()
        assert wait_until_gone(process.pid) == []


def uninterrupted(folder: Path) -> None:
    process = start(folder)
    said, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, said


def finished(folder: Path) -> int:
    return len(list((folder / "grading" / "journal" / NAME).glob("*.json")))


def test_a_killed_run_is_gone_on_with(
    undisturbed: tuple[Path, ClassReport], tmp_path: Path, scheduler: str
) -> None:
    """Killed when the first submission has been finished and the next ones are at work."""
    folder = course(tmp_path)
    assert killed_when(folder, lambda: finished(folder) >= 1)
    assert 1 <= finished(folder) < len(STUDENTS)
    kept = stamps(folder)
    done = {path.stem for path in (folder / "grading" / "journal" / NAME).glob("*.json")}
    assert grade_class(folder, NAME, scheduler=scheduler).complete
    assert rows(folder) == rows(undisturbed[0])
    assert {name: stamps(folder)[name] for name in done} == {name: kept[name] for name in done}


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_done_and_says_so(tmp_path: Path) -> None:
    folder = course(tmp_path)
    # Tests that a script started in the background ignore Ctrl-C, and so would the command.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = start(folder)
    signal.signal(signal.SIGINT, before)
    while finished(folder) < 1 and process.poll() is None:
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does, to everyone
    said, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, said
    assert "goes on from there" in said
    assert "Traceback" not in said
    assert 1 <= finished(folder) <= len(STUDENTS)
    assert wait_until_gone(process.pid) == []
    assert rows(folder)["student"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_killed_at_any_moment_and_again_the_gradebook_ends_the_same(
    seed: int, tmp_path: Path
) -> None:
    """Up to twenty kills each, anywhere between the start and the last mark."""
    students = tuple(f"student-{number}" for number in range(6))
    calm, stormy = course(tmp_path / "calm", students), course(tmp_path / "stormy", students)
    begun = time.monotonic()
    uninterrupted(calm)
    whole = time.monotonic() - begun
    draw = random.Random(seed)
    for _ in range(20):
        until = time.monotonic() + draw.uniform(0.2, 1.2) * whole
        if not killed_when(stormy, lambda until=until: time.monotonic() > until):
            break
    uninterrupted(stormy)
    assert rows(stormy) == rows(calm)
    assert pages(stormy).keys() == pages(calm).keys()
    assert finished(stormy) == len(students)


def test_an_entry_tells_every_change_apart(tmp_path: Path) -> None:
    handed_in = tmp_path / "submitted"
    (handed_in / "folder").mkdir(parents=True)
    file = handed_in / "folder" / "notes"
    file.write_text("a")
    keys = [journal.key_of({}, "ada", handed_in)]
    os.utime(file, (1, 1))
    assert journal.key_of({}, "ada", handed_in) == keys[0]
    file.write_text("b")
    keys.append(journal.key_of({}, "ada", handed_in))
    file.rename(handed_in / "notes")
    keys.append(journal.key_of({}, "ada", handed_in))
    (handed_in / "link").symlink_to("/etc/passwd")
    keys.append(journal.key_of({}, "ada", handed_in))
    keys += [journal.key_of({}, "ben", handed_in)]
    assert all(journal.why(one, other) for one, other in itertools.combinations(keys, 2))
    root = course(tmp_path / "course")
    before = journal.common_key(root, NAME, "released", True)
    unboxed = journal.common_key(root, NAME, "released", False)
    assert journal.why(before, unboxed) == journal.CHANGED["settings"]
    (root / "solutions" / NAME / "data.txt").write_text("more")
    now = journal.common_key(root, NAME, "released", True)
    assert journal.why(before, now) == journal.CHANGED["assignment"]
    assert journal.why(now, now) == ""


def test_half_an_entry_is_none(tmp_path: Path) -> None:
    outcome = journal.Outcome("ada", True, 1.0, ["a remark"])
    entry = journal.Entry({"handed in": "x"}, "marks", outcome, {"why": "y"})
    journal.write(tmp_path, NAME, entry)
    assert journal.read(tmp_path, NAME, "ada") == entry
    path = journal.path_of(tmp_path, NAME, "ada")
    path.write_text(path.read_text()[:-10])
    assert journal.read(tmp_path, NAME, "ada") is None
    assert journal.read(tmp_path, NAME, "ben") is None


def test_scratch_folders_of_killed_processes_go_and_of_living_ones_stay() -> None:
    code = (
        "import time\nfrom course_lib.grading.sandbox.scratch import scratch_folder\n"
        "with scratch_folder() as folder:\n    print(folder, flush=True)\n    time.sleep(600)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    folder = Path(process.stdout.readline().strip())
    with scratch.scratch_folder() as mine:
        scratch.remove_leftovers()
        assert folder.is_dir()
        process.kill()
        process.communicate()
        scratch.remove_leftovers()
        assert not folder.exists()
        assert mine.is_dir()
    assert not mine.exists()


def test_nobody_clears_away_a_folder_that_is_being_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process looks between its making and its locking."""
    lock, looked = scratch.fcntl.flock, []

    def and_meanwhile(file: Any, how: int) -> None:
        if how == scratch.fcntl.LOCK_EX and len(looked) < 2:
            looked.append(file.name)
            with monkeypatch.context() as other:
                other.setattr(scratch.fcntl, "flock", lock)
                scratch.remove_leftovers()
        lock(file, how)

    monkeypatch.setattr(scratch.fcntl, "flock", and_meanwhile)
    with scratch.held_folder() as folder:
        assert len(looked) == 2
        assert (folder / scratch.MARK).is_file()
        scratch.remove_leftovers()
        assert folder.is_dir()
