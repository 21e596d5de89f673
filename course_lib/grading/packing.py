"""Packing what a student hands in."""

import io
import zipfile
from dataclasses import dataclass
from pathlib import Path

from course_lib.errors import CourseError
from course_lib.files import write_atomically
from course_lib.grading.inspection import INSPECTORS, missing
from course_lib.grading.project import project_root
from course_lib.grading.submissions import LARGEST_DATA


@dataclass(frozen=True)
class Package:
    """A zip ready to be uploaded."""

    path: Path
    size: int
    contents: list[str]


def find_notebook(name: str) -> Path:
    """A student's notebook for an assignment: NAME.ipynb here, or in the course's exercises folder.

    Raises:
        CourseError: it is in neither place.
    """
    here = Path(f"{name}.ipynb")
    if here.is_file():
        return here
    try:
        released = project_root() / "exercises" / name / f"{name}.ipynb"
    except CourseError:
        released = here
    if not released.is_file():
        raise CourseError(
            f"There is no {name}.ipynb here or in exercises/{name}/. Change into the folder of"
            " your notebook and try again."
        )
    return released


def pack(notebook: Path, name: str) -> Package:
    """Write NAME.zip into the current folder: the notebook, and the files that belong to it.

    Raises:
        CourseError: files that the assignment asks for are not beside the notebook, or are more
            than the grader takes.
    """
    files = {f"{name}.ipynb": notebook}
    if name in INSPECTORS:
        files |= _wanted(notebook.resolve().parent, name)
    size = sum(path.stat().st_size for path in files.values())
    if size > LARGEST_DATA:
        raise CourseError(
            f"The files have {size / 1024**2:.0f} MB together; {LARGEST_DATA // 1024**2} MB can be"
            " handed in. Train a smaller model, with the sizes that the notebook gives."
        )
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for inside, path in files.items():
            archive.writestr(inside, path.read_bytes())
    target = Path(f"{name}.zip")
    write_atomically(target, data.getvalue())
    return Package(target, len(data.getvalue()), list(files))


def _wanted(folder: Path, name: str) -> dict[str, Path]:
    """The files of an assignment besides its notebook: name in the zip -> path."""
    inspector = INSPECTORS[name]
    if absent := missing(name, folder):
        more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
        raise CourseError(
            f"There is no {absent[0]}{more} in {folder}. {inspector.remedy}, in this folder, and"
            " pack again."
        )
    return {
        path.relative_to(folder).as_posix(): path
        for pattern in inspector.files
        for path in sorted((folder / inspector.folder).glob(pattern))
        if path.is_file()
    }
