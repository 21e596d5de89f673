"""What a class handed in, made fit for nbgrader before any of it is run.

nbgrader trusts the cells' metadata, and one submission it does not understand stops all that
follow. So each submission is copied to a place of its own, with the test cells put right: whatever
a student's folder holds, nbgrader sees one well-formed notebook under its proper name.
"""

import copy
import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import nbformat
from nbformat import NotebookNode

from course_lib.assignments import owner
from course_lib.assignments.inspection import LARGEST_DATA
from course_lib.errors import CourseError
from course_lib.grading.intake.late import says_a_time
from course_lib.grading.intake.notebooks import (
    Unfit,
    belongs,
    could_be_notebook,
    kind_of,
    read_notebook,
    repair,
)
from course_lib.grading.untrusted import visible

COLLECTED = ".collected.json"
"""What collecting a submission had to say about it. What a student hands in under this name is left
out."""
FOR_THE_EXCHANGE = ("timestamp.txt", "submission_secret.txt")
"""What nbgrader's own exchange puts beside a notebook; `nbgrader release_feedback` reads it beside
a page."""
DEEPEST = 20
"""How many folders a file may lie in."""
MOST_FILES = 1000
MOST_REMARKS = 20


class Staged(NamedTuple):
    """A submission in order, ready to be run.

    Attributes:
        notebook: the student's with its cells put right, or the released one if there is none.
        notebook_found: whether it is the student's.
        folder: where copies of its files are.
        data_files: the files to run it with, name relative to the notebook -> path.
        remarks: what had to be put in order, a line each.
    """

    notebook: NotebookNode
    notebook_found: bool
    folder: Path
    data_files: dict[str, Path]
    remarks: list[str]


def find_students(submitted: Path, name: str) -> list[str]:
    """Who has handed in something for this assignment: `submitted`/STUDENT/NAME/.

    Raises:
        CourseError: nobody has.
    """
    students = sorted(
        folder.name
        for folder in (submitted.iterdir() if submitted.is_dir() else ())
        if not folder.name.startswith(".") and (folder / name).is_dir()
    )
    if not students:
        raise CourseError(
            f"Nothing is submitted for {name}: expected {submitted}/STUDENT/{name}/{name}.ipynb."
            " Put the notebooks there, or name their folder with --submitted."
        )
    return students


def unusable(student: str) -> str | None:
    """Why a folder's name cannot be a student's id, as a remark; None if it can."""
    if set(student) & set("*?[]<>&\"'\\") or visible(student, 100) != student:
        return (
            f"The folder's name, {visible(student)}, has a character in it that nbgrader or a web"
            " page cannot take, or is too long. Rename it."
        )
    return None


def stage(
    handed_in: Path,
    name: str,
    released: NotebookNode,
    target: Path,
    student: str,
    group: Iterable[str] = (),
) -> Staged:
    """Put a submission in order, as nbgrader expects it: its notebook, and its files in `target`.

    Args:
        handed_in: the student's folder for this assignment.
        name: the assignment, and the notebook's proper name.
        released: the notebook the students were given.
        target: a new folder.
        student: who it came from; the test cells find the name with `owner.owner`.
        group: who else handed it in; what lies in the folder cannot say so.

    Without a readable notebook the released one takes its place: every part then has a defined
    score, and the feedback says why.
    """
    target.mkdir(parents=True)
    notebook, folder, remarks = _read(handed_in, name, released)
    remarks = [*collected_remarks(handed_in), *remarks]
    data_files: dict[str, Path] = {}
    if notebook is None:
        graded = copy.deepcopy(released)
    else:
        graded, repaired = repair(notebook, released)
        remarks += repaired
        data_files, skipped = _copy_data(folder, target)
        remarks += skipped
    for beside in FOR_THE_EXCHANGE:  # a page is handed back with them, whatever was handed in
        path = handed_in / beside
        if path.is_symlink() or not path.is_file():
            continue
        if beside == "timestamp.txt" and not says_a_time(path):
            remarks.append(
                f"{beside} does not say a time and its zone, like 2026-05-05 12:00:00 UTC; it was"
                " left out."
            )
            continue
        data_files[beside] = Path(shutil.copyfile(path, target / beside))
    path = data_files[owner.FILE] = target / owner.FILE
    path.write_text("\n".join([student, *group]) + "\n", encoding="utf-8")
    path.chmod(0o444)
    if len(remarks) > MOST_REMARKS:
        remarks = [
            *remarks[:MOST_REMARKS],
            f"There are {len(remarks) - MOST_REMARKS} more remarks.",
        ]
    if remarks:
        listed = "\n".join(f"- {_literal(remark)}" for remark in remarks)
        cell = nbformat.v4.new_markdown_cell(f"**Remarks of the grader**\n\n{listed}")
        graded.cells.insert(0, cell)
    for place, cell in enumerate(graded.cells):
        cell["id"] = f"cell-{place}"
    graded.nbformat, graded.nbformat_minor = 4, 5
    return Staged(graded, notebook is not None, target, data_files, remarks)


def collected_remarks(handed_in: Path) -> list[str]:
    """What collecting had to say about a submission."""
    path = handed_in / COLLECTED
    if path.is_symlink() or not path.is_file() or path.stat().st_size > 100_000:
        return []
    try:
        return [visible(str(line), 300) for line in json.loads(path.read_text("utf-8"))]
    except (ValueError, TypeError):
        return []


def _literal(remark: str) -> str:
    """A remark as Markdown: a file's name in it is no markup."""
    return re.sub(r"([\\`*\[\]<>&$~#|])", r"\\\1", remark)


def _read(
    handed_in: Path, name: str, released: NotebookNode
) -> tuple[NotebookNode | None, Path, list[str]]:
    """The notebook and the folder it lies in, or None with the reason.

    It may lie in any folder and have any name. Of several that of this assignment counts, before
    one that is as it was given out, before one of another name, before an older one.
    """
    if handed_in.is_symlink() or handed_in.parent.is_symlink():
        return None, handed_in, ["The folder is a link to another. Hand in the files themselves."]
    remarks: list[str] = []
    found: list[tuple[tuple[bool, bool, bool, int, str], NotebookNode, list[str]]] = []
    links: list[str] = []
    files = [path for one in _names(handed_in, links) if (path := handed_in / one).is_file()]
    for path in files:
        shown = visible(str(path.relative_to(handed_in)))
        named = path.suffix.lower() == ".ipynb"
        try:
            if not (named or could_be_notebook(path)):
                continue
            notebook, noticed = read_notebook(path)
        except Unfit as error:
            if named:
                remarks.append(f"{shown} {error}")
            continue
        proper = path.name == f"{name}.ipynb"
        order = *belongs(notebook, released), proper, path.stat().st_mtime_ns, str(path)
        found.append((order, notebook, [f"{shown} {one}" for one in noticed]))
    if not found:
        others = [
            f"{visible(path.name)} ({kind_of(path) or 'a file'})"
            for path in files
            if path.suffix.lower() != ".ipynb" and path.name not in FOR_THE_EXCHANGE
        ]
        there = f" Handed in: {', '.join(others[:3])}." if others else ""
        if there or not remarks:
            remarks.append(
                f"There is no {name}.ipynb, nor any other notebook. Hand in one notebook of that"
                f" name.{there}"
            )
        return None, handed_in, [*links, *remarks]
    found.sort(key=lambda one: one[0])
    (own, _, proper, _, chosen), notebook, noticed = found.pop()
    shown = visible(str(Path(chosen).relative_to(handed_in)))
    if found:
        others = [visible(Path(order[-1]).name) for order, *_ in found[:3]]
        remarks.append(f"There is more than one notebook; {shown} counts, not {', '.join(others)}.")
    elif not proper:
        remarks.append(f"The notebook is called {shown}; it should be {name}.ipynb.")
    if not own:
        remarks.append(
            f"{shown} has next to nothing of {name} in it: it may be another assignment's."
        )
    return notebook, Path(chosen).parent, [*remarks, *noticed]


def _copy_data(folder: Path, target: Path) -> tuple[dict[str, Path], list[str]]:
    """Copies of the plain files beside the notebook, and what was left out."""
    copied: dict[str, Path] = {}
    remarks: list[str] = []
    total = 0
    for name in _names(folder, remarks):
        path = folder / name
        shown = visible(name)
        if len(copied) == MOST_FILES:
            remarks.append(f"{shown} and what follows it was left out: over {MOST_FILES} files.")
            break
        if not path.is_file() or path.suffix == ".ipynb" or name in FOR_THE_EXCHANGE:
            continue
        if visible(name, len(name)) != name:
            remarks.append(f"{shown} has invisible characters; it was left out.")
            continue
        if path.suffix in {".py", ".so", ".pyc"}:
            remarks.append(f"{shown} is a Python module; the notebook has to work without it.")
            continue
        total += path.stat().st_size
        if total > LARGEST_DATA:
            remarks.append(f"{shown} and what follows it was left out: over 100 MB of files.")
            break
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target / name)
        copied[name] = target / name
    return copied, remarks


def laid_over(
    handed_in: Mapping[str, Path], given_out: Mapping[str, Path]
) -> tuple[dict[str, Path], list[str]]:
    """The files a submission is graded with: its own, and those given out in their own places.

    A notebook needs what was given out with it, and most submissions are the notebook alone; a
    file of that name that came along counts for nothing, whatever is in it.

    Args:
        handed_in: copies of the submission's files, relative name -> path; a copy that stands where
            a file or a folder was given out is deleted.
        given_out: the files of the release, relative name -> path.

    Returns:
        the files, and a remark for each that is not the one given out.
    """
    files, remarks = dict(handed_in), []
    folders = {str(parent) for name in given_out for parent in PurePosixPath(name).parents}
    for name, path in handed_in.items():
        inside = [str(parent) for parent in PurePosixPath(name).parents]
        if name in given_out and path.read_bytes() == given_out[name].read_bytes():
            continue
        if name in given_out or name in folders or any(parent in given_out for parent in inside):
            del files[name]
            path.unlink()
            remarks.append(
                f"{name} is given out with the assignment and had been changed; the original was"
                " used."
            )
    return files | dict(given_out), remarks


def levels(handed_in: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """What `os.walk` says of a folder, down to a depth that has an end."""
    for folder, folders, files in os.walk(handed_in):
        yield folder, folders, files
        if len(Path(folder).relative_to(handed_in).parts) >= DEEPEST - 1:
            folders.clear()


def _names(handed_in: Path, remarks: list[str]) -> Iterator[str]:
    """Files of a folder, hidden ones and links left out."""
    for folder, folders, files in levels(handed_in):
        folders.sort()
        if folders and len(Path(folder).relative_to(handed_in).parts) == DEEPEST - 1:
            remarks.append(f"Folders in more than {DEEPEST} folders were left out.")
        for one in sorted([*folders, *files]):
            path = Path(folder, one)
            name = str(path.relative_to(handed_in))
            if path.is_symlink():
                remarks.append(f"{visible(name)} is a link; it was left out.")
            elif one in files and not one.startswith("."):
                yield name
        folders[:] = [one for one in folders if not one.startswith(".")]
