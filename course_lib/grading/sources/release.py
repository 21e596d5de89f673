"""From an instructor's text to the students' notebook, through nbgrader's own converter."""

import contextlib
import hashlib
import itertools
import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import jupytext
import nbformat
from nbformat import NotebookNode
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory

from course_lib.assignments import inspection, instances, slips
from course_lib.errors import CourseError
from course_lib.files import copy_files, write_atomically
from course_lib.first_cell import first_cell, repository_url
from course_lib.grading.sources import tutor
from course_lib.grading.sources.data import CRITERIA, ORALS, criteria_of
from course_lib.grading.sources.marked_cells import grade_id
from course_lib.grading.sources.project import (
    assignment_names,
    load_config,
    nbgrader_messages,
    reason,
    source_of,
)
from course_lib.grading.sources.slip_code import RIGHT_CODE, SLIPS, right_code, versions_of

HANDED_IN = "handed_in"
"""A folder beside a source, with what the instructor's own solution hands in; never released."""

GRADED = (
    " If something is graded already: parts can be neither added, removed nor renamed then. Put the"
    " old ones back, and give one that is to count no longer 0 points. (A new gradebook would take"
    " any, and lose the points, comments and extensions that a person gave in every assignment.)"
)
"""What to do where a gradebook does not take an assignment."""

MADE_UP = ("demonstration.yaml", "variants.yaml")
"""Made-up answers beside a source, never released either."""


_CHOICE = re.compile(
    r"^(?:<!-- |### )BOOK(?: -->)?\n(?P<book>.*?)^(?:<!-- |### )OWN(?: -->)?\n(?P<own>.*?)"
    r"^(?:<!-- |### )END(?: -->)?(?:\n|\Z)",
    re.MULTILINE | re.DOTALL,
)
"""What a source says of the book's numbers, and what of numbers that are drawn for everybody."""


def source_notebook(source: Path) -> NotebookNode:
    """The notebook a text source describes, solutions, hidden tests and criteria included.

    Text has no cell ids, and new ones would be drawn at random each time: each cell is given its
    grade id, or its place, so that the same text always makes the same bytes.
    """
    notebook = jupytext.read(source)
    notebook.metadata.pop("jupytext", None)
    kind = "own" if source.with_name(instances.CLASS).is_file() else "book"
    for cell in notebook.cells:
        cell.source = _CHOICE.sub(lambda found: found[kind], cell.source).rstrip("\n")
    notebook.cells = [cell for cell in notebook.cells if cell.source]
    if code := right_code(source):
        for cell in notebook.cells:
            cell.source = cell.source.replace(RIGHT_CODE, code)
    criteria = criteria_of(source)
    for above, answer in itertools.pairwise(notebook.cells):
        if listed := criteria.get(grade_id(answer) or ""):
            above.source += "\n\n" + "\n".join(f"- {criterion}" for criterion in listed)
    for place, cell in enumerate(notebook.cells):
        cell["id"] = grade_id(cell) or f"cell-{place:03d}"
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
                    + (GRADED if db_url is not None else "")
                ) from error
        released = _files_below(stage / config.CourseDirectory.release_directory / name)
        files = {file: path.read_bytes() for file, path in released.items()}
        return files | {tutor.FILE: tutor.tutor(source_notebook(source)).encode()}


def release(root: Path, names: list[str]) -> list[Path]:
    """Write the releases of these assignments (of all, if none is named) into exercises/."""
    return [path for name in names or assignment_names(root) for path in _released(root, name)]


@contextlib.contextmanager
def drawn_with(root: Path, names: list[str], variants: str | None) -> Iterator[None]:
    """From now on numbers are drawn for every student, with this secret word of a class.

    What they are drawn with lies beside the source from then on, where grading finds it; None takes
    it away. If something fails in here, it is as before.
    """
    sources = [source_of(root, name) for name in names or assignment_names(root)]
    places = [source.with_name(instances.CLASS) for source in sources]
    before = {path: path.read_text(encoding="utf-8") for path in places if path.is_file()}
    now = None
    if variants is not None:
        salt = hashlib.sha256(variants.encode()).hexdigest()[:16]
        now = json.dumps({"salt": salt}) + "\n"
    try:
        _put({path: now for path in places})
        yield
    except BaseException:
        _put({path: before.get(path) for path in places})
        raise


def _put(texts: Mapping[Path, str | None]) -> None:
    for path, text in texts.items():
        if text is None:
            path.unlink(missing_ok=True)
        else:
            write_atomically(path, text)


def _released(root: Path, name: str) -> Iterator[Path]:
    source = source_of(root, name)
    if versions := versions_of(source):
        write_atomically(source.with_name(slips.FILE), slips.packed(versions))
    folder = root / "exercises" / name
    files = generate(root, name)
    for file, data in files.items():
        write_atomically(folder / file, data)
        yield folder / file
    for old in _present(folder) - files.keys():
        (folder / old).unlink()


def differences(root: Path, names: list[str]) -> dict[Path, str]:
    """What in exercises/ is not what solutions/ gives; empty when they are in step.

    Returns:
        file -> "missing", "different" or "left over".
    """
    differing = {}
    for name in names or assignment_names(root):
        folder = root / "exercises" / name
        files, present = generate(root, name), _present(folder)
        for file, data in files.items():
            if file not in present:
                differing[folder / file] = "missing"
            elif (folder / file).read_bytes() != data:
                differing[folder / file] = "different"
        differing |= {folder / old: "left over" for old in sorted(present - files.keys())}
    if not names:
        known = assignment_names(root)
        folders = sorted((root / "exercises").glob("*"))
        differing |= {path: "left over" for path in folders if path.name not in known}
    return differing


def data_files(source: Path) -> dict[str, Path]:
    """Files that go with the notebook: all that lies beside the source but texts of ours.

    Returns:
        names relative to the notebook -> paths.
    """
    return {
        name: path
        for name, path in _files_below(source.parent).items()
        if path.suffix not in {".md", ".ipynb", ".pyc"}
        and path.name not in {*MADE_UP, CRITERIA, ORALS, SLIPS}
        and not path.is_relative_to(source.parent / HANDED_IN)
    }


def handed_in(source: Path) -> dict[str, Path]:
    """Files that the instructor's own solution hands in beside the notebook.

    Returns:
        names relative to the notebook -> paths.
    """
    return _files_below(source.parent / HANDED_IN)


def _present(folder: Path) -> set[str]:
    """The files of a release; what somebody made there to hand in is not part of it."""
    made = folder / inspection.FOLDER
    return {name for name, path in _files_below(folder).items() if not path.is_relative_to(made)}


def _files_below(folder: Path) -> dict[str, Path]:
    """Relative name -> path, without what Jupyter keeps for itself."""
    return {
        path.relative_to(folder).as_posix(): path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".ipynb_checkpoints" not in path.parts
    }
