"""Packing what a student hands in."""

import io
import json
import re
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from course_lib.assignments import inspection, predictions
from course_lib.assignments.inspection import LARGEST_DATA
from course_lib.errors import CourseError
from course_lib.files import write_atomically
from course_lib.grading.intake.notebooks import LARGEST_NOTEBOOK, Unfit, loaded, read_notebook
from course_lib.training.run_directory import BEST, CONFIG, VOCABULARY

_RUN = re.compile(r"""^RUN = (["'])(?P<folder>.+?)\1""", re.MULTILINE)


class Package(NamedTuple):
    """A zip ready to be uploaded, and the files in it."""

    path: Path
    contents: list[str]


def find_notebook(name: str) -> Path:
    """A student's notebook for an assignment: NAME.ipynb here, or in the course's exercises folder.

    Raises:
        CourseError: it is in neither place.
    """
    here = Path(f"{name}.ipynb")
    if here.is_file():
        return here
    folder = Path.cwd()
    for above in (folder, *folder.parents):
        # a student's copy of the course has no solutions, so this is not `project_root`
        released = above / "exercises" / name / f"{name}.ipynb"
        if released.is_file():
            return released
    raise CourseError(
        f"There is no {name}.ipynb here or in exercises/{name}/. Change into the folder of your"
        " notebook and try again."
    )


def pack_submission(notebook: Path, name: str) -> Package:
    """Write NAME.zip into the current folder: the notebook, and the files that belong to it.

    The notebook is packed without its outputs, which the grader makes anew: a loop that prints is
    larger than all that anybody writes.

    Raises:
        CourseError: the notebook cannot be read, or files that the assignment asks for are not
            beside it, or are more than the grader takes.
    """
    written = _without_outputs(notebook)
    folder = notebook.resolve().parent
    if name == inspection.ASSIGNMENT and (absent := inspection.missing(folder)):
        more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
        raise CourseError(
            f"There is no {absent[0]}{more} in {folder}. {inspection.REMEDY}, in this folder, and"
            " pack again; without the files, hand in the notebook alone."
        )
    files = belonging(notebook, name)
    if len(written) > LARGEST_NOTEBOOK:
        raise CourseError(
            f"{notebook.name} has {len(written) / 1024**2:.0f} MB without its outputs;"
            f" {LARGEST_NOTEBOOK // 1024**2} MB can be handed in. Take out the large cells."
        )
    size = sum(path.stat().st_size for path in files.values())
    if size > LARGEST_DATA:
        raise CourseError(
            f"The files have {size / 1024**2:.0f} MB together; {LARGEST_DATA // 1024**2} MB can be"
            " handed in. Train a smaller model, with the sizes that the notebook gives."
        )
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{name}.ipynb", written)
        for inside, path in files.items():
            archive.writestr(inside, path.read_bytes())
    target = Path(f"{name}.zip")
    write_atomically(target, data.getvalue())
    return Package(target, [f"{name}.ipynb", *files])


def _without_outputs(notebook: Path) -> bytes:
    """A notebook as it is, without what its cells put out."""
    try:
        raw, _ = loaded(notebook.read_bytes())
        for cell in raw.get("cells", ()) if isinstance(raw, dict) else ():
            if isinstance(cell, dict) and cell.get("cell_type") == "code":
                cell.update(outputs=[], execution_count=None)
        text = json.dumps(raw, ensure_ascii=False, indent=1, sort_keys=True)
    except (ValueError, RecursionError) as error:
        raise CourseError(f"{notebook} is damaged. Save it again in Jupyter.") from error
    return f"{text}\n".encode("utf-8", "replace")


def belonging(notebook: Path, name: str) -> dict[str, Path]:
    """The files that are handed in with a notebook: name in the zip -> path.

    Raises:
        CourseError: the notebook names a run that is not beside it.
    """
    trained = name == inspection.ASSIGNMENT
    run = files_beside(notebook, inspection.wanted()) if trained else _named_run(notebook)
    return files_beside(notebook, [predictions.FILE]) | run


def files_beside(notebook: Path, patterns: Iterable[str]) -> dict[str, Path]:
    """The files beside a notebook that fit one of these: name from its folder -> path."""
    folder = notebook.resolve().parent
    return {
        path.relative_to(folder).as_posix(): path
        for pattern in patterns
        for path in sorted(folder.glob(pattern))
        if path.is_file()
    }


def _named_run(notebook: Path) -> dict[str, Path]:
    """The run directory that a notebook names in a cell with `RUN = "..."`, if it does."""
    try:
        cells = read_notebook(notebook)[0].cells
    except Unfit as error:
        raise CourseError(f"{notebook} {error}") from error
    matches = [_RUN.search(cell.source) for cell in cells if cell.cell_type == "code"]
    named = next((match["folder"] for match in matches if match), None)
    if named is None:
        return {}
    folder = notebook.resolve().parent / named
    if folder.parent != notebook.resolve().parent or not (folder / CONFIG).is_file():
        raise CourseError(
            f"The notebook names the run {named}, and there is no such run directory beside it."
            " Copy the run there, and name its folder."
        )
    return files_beside(notebook, [f"{named}/{file}" for file in (CONFIG, VOCABULARY, BEST)])
