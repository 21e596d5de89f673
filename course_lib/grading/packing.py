"""Packing what a student hands in."""

import io
import zipfile
from dataclasses import dataclass
from pathlib import Path

from course_lib.errors import CourseError
from course_lib.files import write_atomically
from course_lib.grading.project import project_root


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
    """Write NAME.zip into the current folder, with the notebook in it under its proper name."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{name}.ipynb", notebook.read_bytes())
    target = Path(f"{name}.zip")
    write_atomically(target, data.getvalue())
    return Package(target, len(data.getvalue()), [f"{name}.ipynb"])
