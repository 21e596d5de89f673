"""What a class handed in, made fit for nbgrader before any of it is run.

nbgrader trusts the cells' metadata, and one submission it does not understand stops all that
follow. So each submission is copied to a place of its own, with the test cells put right: whatever
a student's folder holds, nbgrader sees one well-formed notebook under its proper name.
"""

import copy
import shutil
import warnings
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from course_lib.errors import CourseError
from course_lib.grading import owner

LARGEST_NOTEBOOK = 20 * 1024**2
LARGEST_DATA = 100 * 1024**2
"""Bytes. More than that is no homework."""


@dataclass(frozen=True)
class Staged:
    """A submission as the grader sees it."""

    notebook_found: bool
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


def stage(
    handed_in: Path,
    name: str,
    released: NotebookNode,
    target: Path,
    *,
    student: str | None = None,
) -> Staged:
    """Copy a submission to `target` as nbgrader expects it.

    Args:
        handed_in: the student's folder for this assignment.
        name: the assignment, and the notebook's proper name.
        released: the notebook the students were given.
        target: a new folder.
        student: who it came from; the test cells find the name with `owner.owner`.

    Without a readable notebook the released one takes its place: every part then has a defined
    score, and the feedback says why.
    """
    target.mkdir(parents=True)
    notebook, remarks = _read(handed_in, name)
    data_files: dict[str, Path] = {}
    if notebook is None:
        graded = copy.deepcopy(released)
    else:
        graded, repaired = repair(notebook, released)
        remarks += repaired
        data_files, skipped = _copy_data(handed_in, target)
        remarks += skipped
    if student is not None:
        data_files[owner.FILE] = _write_owner(target, student)
    if remarks:
        listed = "\n".join(f"- {remark}" for remark in remarks)
        cell = nbformat.v4.new_markdown_cell(f"**Remarks of the grader**\n\n{listed}")
        graded.cells.insert(0, cell)
    for place, cell in enumerate(graded.cells):
        cell["id"] = f"cell-{place}"
    graded.nbformat, graded.nbformat_minor = 4, 5
    nbformat.write(graded, target / f"{name}.ipynb")
    return Staged(notebook is not None, data_files, remarks)


def repair(notebook: NotebookNode, released: NotebookNode) -> tuple[NotebookNode, list[str]]:
    """The submission with every cell that nbgrader knows in order, and what had to be done for it.

    The released notebook decides which cells are graded, what they are worth and what the tests
    say; the submission contributes the answers and whatever cells were added.
    """
    known = {_grade_id(cell): cell for cell in released.cells if _grade_id(cell)}
    result, remarks, seen = copy.deepcopy(notebook), [], set()
    for cell in result.cells:
        grade_id = _grade_id(cell)
        if grade_id in known and grade_id not in seen:
            seen.add(grade_id)
            original = known[grade_id]
            cell.metadata = copy.deepcopy(original.metadata)
            if not original.metadata.nbgrader.solution and cell.source != original.source:
                remarks.append(f"The cell {grade_id} had been changed; the original was used.")
                cell.source = original.source
        else:
            if grade_id in seen:
                remarks.append(f"There is a copy of the cell {grade_id}; only the first counts.")
            cell.metadata.pop("nbgrader", None)
    previous = None
    for grade_id, original in known.items():
        if grade_id not in seen:
            remarks.append(f"The cell {grade_id} was missing; it was put back as released.")
            places = [_grade_id(cell) for cell in result.cells]
            at = places.index(previous) + 1 if previous else 0
            result.cells.insert(at, copy.deepcopy(original))
        previous = grade_id
    return result, remarks


def _grade_id(cell: NotebookNode) -> str | None:
    metadata = cell.metadata.get("nbgrader")
    grade_id = metadata.get("grade_id") if isinstance(metadata, dict) else None
    return grade_id if isinstance(grade_id, str) else None


def _read(handed_in: Path, name: str) -> tuple[NotebookNode | None, list[str]]:
    """The notebook, or None with the reason."""
    path, remarks = handed_in / f"{name}.ipynb", []
    if not path.exists():
        others = sorted(other for other in handed_in.glob("*.ipynb"))
        if len(others) != 1:
            found = f"but {len(others)} others" if others else "nor any other notebook"
            return None, [f"There is no {name}.ipynb, {found}. Hand in one notebook of that name."]
        path = others[0]
        remarks.append(f"The notebook is called {path.name}; it should be {name}.ipynb.")
    if path.is_symlink() or not path.is_file():
        return None, [*remarks, f"{path.name} is not a plain file. Hand in the notebook itself."]
    if path.stat().st_size > LARGEST_NOTEBOOK:
        size = path.stat().st_size / 1024**2
        limit = LARGEST_NOTEBOOK // 1024**2
        return None, [*remarks, f"{path.name} has {size:.0f} MB; the limit is {limit} MB."]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of missing cell ids: they are given out anew anyway
            notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
            for cell in notebook.cells:
                cell.pop("id", None)
            notebook.nbformat_minor = 4
            nbformat.validate(notebook)
    except Exception as error:  # a damaged file fails in as many ways as there are files
        kind = type(error).__name__
        return None, [
            *remarks,
            f"{path.name} is damaged and cannot be read as a notebook ({kind}).",
        ]
    return notebook, remarks


def _write_owner(target: Path, student: str) -> Path:
    path = target / owner.FILE
    path.write_text(f"{student}\n", encoding="utf-8")
    path.chmod(0o444)
    return path


def _copy_data(handed_in: Path, target: Path) -> tuple[dict[str, Path], list[str]]:
    copied, remarks, total = {}, [], 0
    for path in sorted(handed_in.rglob("*")):
        name = str(path.relative_to(handed_in))
        if path.is_symlink():
            remarks.append(f"{name} is a link; it was left out.")
            continue
        hidden = any(part.startswith(".") for part in path.relative_to(handed_in).parts)
        if not path.is_file() or path.suffix == ".ipynb" or hidden:
            continue
        total += path.stat().st_size
        if total > LARGEST_DATA:
            remarks.append(f"{name} and what follows it was left out: over 100 MB of files.")
            break
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target / name)
        copied[name] = target / name
    return copied, remarks
