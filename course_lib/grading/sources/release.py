"""From an instructor's text to the students' notebook, through nbgrader's own converter."""

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import jupytext
import nbformat
from nbformat import NotebookNode
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import is_locked

from course_lib.assignments import inspection
from course_lib.errors import CourseError
from course_lib.files import write_atomically
from course_lib.grading.sources.project import (
    assignment_names,
    load_config,
    nbgrader_messages,
    reason,
    source_of,
)
from course_lib.opening import first_cell, repository_url

HANDED_IN = "handed_in"
"""A folder beside a source, with what the instructor's own solution hands in; never released."""

MADE_UP = ("demonstration.yaml", "variants.yaml")
"""Made-up answers beside a source, never released either."""


@dataclass(frozen=True)
class Difference:
    """One file of a release that is not what the sources give."""

    path: Path
    kind: str  # "missing", "different" or "left over"


def source_notebook(source: Path) -> NotebookNode:
    """The notebook a text source describes, solutions and hidden tests included.

    Text has no cell ids, and new ones would be drawn at random each time: each cell is given its
    grade id, or its place, so that the same text always makes the same bytes.
    """
    notebook = jupytext.read(source)
    notebook.metadata.pop("jupytext", None)
    for place, cell in enumerate(notebook.cells):
        cell["id"] = cell.metadata.get("nbgrader", {}).get("grade_id") or f"cell-{place:03d}"
    return notebook


def generate(root: Path, name: str, db_url: str | None = None) -> dict[str, bytes]:
    """The release of one assignment: file name -> bytes.

    Args:
        root: the course's folder.
        name: the assignment.
        db_url: the gradebook that is to know the assignment; None where nothing is graded.

    Raises:
        CourseError: there is no such assignment, or nbgrader refuses its source.
    """
    source = source_of(root, name)
    with tempfile.TemporaryDirectory(prefix="release-") as folder:
        stage = Path(folder)
        made = stage / "solutions" / name
        made.mkdir(parents=True)
        notebook = source_notebook(source)
        # what a student runs first: on a machine without the course it fetches it
        code = first_cell(repository_url(root), f"exercises/{name}")
        notebook.cells.insert(0, nbformat.v4.new_code_cell(code, id="opening"))
        nbformat.write(notebook, made / f"{name}.ipynb")
        copy_files(data_files(source), made)
        config = load_config(root)
        config.CourseDirectory.root = str(stage)
        if db_url is None:
            config.GenerateAssignment.no_database = True
            config.SaveCells.enabled = False
        else:
            config.CourseDirectory.db_url = db_url
        course = CourseDirectory(config=config)
        course.assignment_id = name
        with nbgrader_messages() as messages:
            try:
                GenerateAssignment(coursedir=course, config=config).start()
            except NbGraderException as error:
                raise CourseError(
                    f"nbgrader does not take {source.relative_to(root)}: {reason(messages)}."
                    " If older submissions are in the gradebook, move gradebook.db aside."
                ) from error
        released = stage / config.CourseDirectory.release_directory / name
        return {
            str(path.relative_to(released)): path.read_bytes()
            for path in sorted(released.rglob("*"))
            if path.is_file()
        }


def release(root: Path, names: list[str]) -> list[Path]:
    """Write the releases of these assignments (of all, if none is named) into exercises/."""
    written = []
    for name in names or assignment_names(root):
        folder = root / "exercises" / name
        files = generate(root, name)
        for file, data in files.items():
            write_atomically(folder / file, data)
            written.append(folder / file)
        for old in _present(folder) - files.keys():
            (folder / old).unlink()
    return written


def differences(root: Path, names: list[str]) -> list[Difference]:
    """What in exercises/ is not what solutions/ gives; empty when they are in step."""
    differing = []
    for name in names or assignment_names(root):
        folder = root / "exercises" / name
        files, present = generate(root, name), _present(folder)
        for file, data in files.items():
            if file not in present:
                differing.append(Difference(folder / file, "missing"))
            elif (folder / file).read_bytes() != data:
                differing.append(Difference(folder / file, "different"))
        superfluous = sorted(present - files.keys())
        differing += [Difference(folder / old, "left over") for old in superfluous]
    if not names:
        known = assignment_names(root)
        differing += [
            Difference(path, "left over")
            for path in sorted((root / "exercises").glob("*"))
            if path.name not in known
        ]
    return differing


def data_files(source: Path) -> dict[str, Path]:
    """Files that go with the notebook: all that lies beside the source but texts of ours.

    Returns:
        names relative to the notebook -> paths.
    """
    return {
        path.relative_to(source.parent).as_posix(): path
        for path in sorted(source.parent.rglob("*"))
        if path.is_file()
        and path.suffix not in {".md", ".ipynb", ".pyc"}
        and path.name not in MADE_UP
        and ".ipynb_checkpoints" not in path.parts
        and not path.is_relative_to(source.parent / HANDED_IN)
    }


def copy_files(files: Mapping[str, Path], folder: Path) -> None:
    """Copies of files below a folder: relative name -> path."""
    for name, path in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, folder / name)


def whole_tests(source: Path) -> dict[str, str]:
    """Cells that a student cannot change, hidden tests included: grade id -> text."""
    return {
        cell.metadata.nbgrader.grade_id: cell.source
        for cell in source_notebook(source).cells
        if is_locked(cell)
    }


def handed_in(source: Path) -> dict[str, Path]:
    """Files that the instructor's own solution hands in beside the notebook.

    Returns:
        names relative to the notebook -> paths.
    """
    folder = source.parent / HANDED_IN
    return {
        path.relative_to(folder).as_posix(): path
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _present(folder: Path) -> set[str]:
    """The files of a release; what somebody made there to hand in is not part of it."""
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file()
        and ".ipynb_checkpoints" not in path.parts
        and not path.is_relative_to(folder / inspection.FOLDER)
    }
