"""Judging files that a student hands in, before the notebook is run.

What is to be found out about files (is this model's score its own?) is found out once, by the
library alone, in a process of its own: boxed in like a kernel, without a network, with the corpora
to read and the submission's folder, and nothing else. What it finds lies beside the notebook in a
file that hidden tests read with `facts`.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from course_lib.assignments.inspection import (
    ASSIGNMENT,
    FILE,
    FOLDER,
    LARGEST_DATA,
    PARTS,
    WEIGHTY,
)
from course_lib.corpora import multi30k, own_text, python_docs
from course_lib.corpora.corpus import Corpus
from course_lib.corpora.registry import CORPORA, chosen, load_corpus
from course_lib.errors import CourseError
from course_lib.files import sha256_of
from course_lib.grading.sandbox import bubblewrap
from course_lib.grading.sources.project import load_config

MODULE = "course_lib.grading.runs.comparison"
"""Run as `python -m MODULE FOLDER STUDENT [CORPUS PAIR]`, prints facts and remarks as JSON."""
WALL_SECONDS = 900  # a busy machine; the processor time is limited to a third of that
LARGEST_REPORT = 4 * 1024**2
FETCHED = (("multi30k", "en-de"), ("python-docs", "en-es"))
"""What the task offers that has to be on this machine first."""
UNIQUE = ("model.safetensors", "metrics.jsonl", "result.json")
"""The files of a training that no other training writes the same."""


def named_corpus(root: Path) -> tuple[str, str] | None:
    """The corpus and pair, or the text and pair, that nbgrader_config.py names for comparisons.

    A text's path is one from the course's folder.
    """
    named = load_config(root).ComparedRuns
    corpus, pair = str(named.get("corpus", "")), named.get("pair")
    if not corpus:
        return None
    return (corpus, pair or "en-de") if corpus in CORPORA else chosen(str(root / corpus), pair)


def prepare(root: Path, assignment: str, handed_in: Iterable[Path]) -> None:
    """Fetch what it takes to judge what a class handed in.

    What cannot be fetched costs no more than the submissions that name it: they are not graded.

    Raises:
        CourseError: the text that the instructor names cannot be used.
    """
    if assignment != ASSIGNMENT:
        return
    named = named_corpus(root)
    if named is not None:
        _check_size(load_corpus(*named))
    wanted = {f"corpus: {name}".encode(): (name, pair) for name, pair in FETCHED}
    for folder in handed_in:
        for path in sorted(folder.glob("**/comparison/*/config.yaml")):
            if path.is_symlink() or not path.is_file():
                continue
            with path.open("rb") as file:
                text = file.read(64 * 1024)
            for asked in [line for line in wanted if line in text]:
                with suppress(CourseError):
                    load_corpus(*wanted.pop(asked))  # once, for all of them


def _check_size(corpus: Corpus) -> None:
    from course_lib.grading.runs.comparison import MOST_SENTENCES  # imports torch: seconds

    for split, most in MOST_SENTENCES.items():
        sizes = [len(part) for name, part in corpus.splits.items() if name.startswith(split)]
        if not sizes or sizes[0] > most:  # without its training pairs it is a stream
            raise CourseError(
                f"{corpus.name} has over {most:,} pairs in {split}: more could not be checked in "
                "the time there is. Take fewer."
            )


def inspect(
    root: Path, assignment: str, folder: Path, student: str, *, boxed: bool
) -> dict[str, Any] | None:
    """What can be found out about the files of a submission; None if the assignment has none.

    Args:
        root: the course's folder.
        assignment: its name.
        folder: the copy of the submission that is graded. Files that the notebook has no use for
            are deleted there, and the findings are added, to be read and not to be changed.
        student: who handed it in; a group has an id a line.
        boxed: whether it runs in the sandbox.

    Returns:
        `facts` and `remarks`. Whatever the files hold, it is defined: where the inspection itself
        does not come to an end, every part has that as its problem.

    Raises:
        CourseError: this machine lacks the corpus, so that nothing can be said.
    """
    if assignment != ASSIGNMENT:
        return None
    report = _run(folder.resolve(), student, named_corpus(root), boxed)
    for path in folder.rglob(f"*{WEIGHTY}"):
        path.unlink()
    path = folder / FILE
    path.write_text(json.dumps(report), encoding="utf-8")
    path.chmod(0o444)
    return report


def _run(folder: Path, student: str, named: tuple[str, str] | None, boxed: bool) -> dict[str, Any]:
    program = [sys.executable, "-P", "-m", MODULE, str(folder), student, *(named or ())]
    text = Path(named[0]) if named and named[0] not in CORPORA else None
    command = bubblewrap.reader(program, *_readable(folder, text)) if boxed else program
    try:
        done = subprocess.run(
            command,
            # inside, the first process shows what bubblewrap was started with
            env=bubblewrap.environment() if boxed else {**os.environ, "OMP_NUM_THREADS": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=WALL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return _no_end(f"that took longer than {WALL_SECONDS} seconds")
    if done.returncode != 0 or len(done.stdout) > LARGEST_REPORT:
        return _no_end(f"it ended with status {done.returncode}")
    try:
        report: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        return _no_end("it reported nothing")
    if "unavailable" in report:
        raise CourseError(report["unavailable"])
    return report


def _readable(folder: Path, text: Path | None) -> tuple[list[Path], dict[str, str]]:
    """What the inspection may read, and the variables that say where the corpora lie."""
    cache = multi30k.cache_folder()
    readable = [folder, cache, python_docs.cache_folder()]
    variables = {"XDG_CACHE_HOME": str(cache.parents[1])}
    if text is not None:
        readable += [text, own_text.cache_folder()]
    if data := os.environ.get("COURSE_DATA"):
        readable += [Path(data).resolve() / name for name in ("multi30k", "python-docs-es")]
        variables["COURSE_DATA"] = str(Path(data).resolve())
    return [path for path in readable if path.exists()], variables


def _no_end(why: str) -> dict[str, Any]:
    """The findings where there are none: a defined result, for a person to look at."""
    remark = f"The files could not be inspected: {why}."
    return {
        "facts": {"problems": {part: [remark] for part in PARTS}, "runs": {}},
        "remarks": [remark],
    }


def same_files(
    submitted: Path,
    assignment: str,
    students: Iterable[str],
    group_of: Callable[[str], Iterable[str]] = lambda _: (),
) -> dict[str, list[str]]:
    """Which files of a training stand in two submissions byte for byte: remarks for each of them.

    Two trainings never write the same: their seeds and their seconds differ. A group hands in one.
    """
    if assignment != ASSIGNMENT:
        return {}
    having: dict[tuple[str, str], list[str]] = {}
    for student in students:
        folder = submitted.resolve() / student / assignment
        for path in sorted(folder.glob(f"{FOLDER}/*/*")):
            plain = path.resolve() == path and path.is_file()  # no link on the way
            if path.name not in UNIQUE or not plain or path.stat().st_size > LARGEST_DATA:
                continue
            name = path.relative_to(folder).as_posix()
            having.setdefault((name, sha256_of(path)), []).append(student)
    remarks: dict[str, list[str]] = {}
    for (name, _), owners in sorted(having.items()):
        for student in owners:
            together = {student, *group_of(student)}
            if others := [other for other in owners if other not in together]:
                remarks.setdefault(student, []).append(
                    f"{name} is byte for byte the file of {', '.join(others)}."
                )
    return remarks
