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
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import nbformat
from nbformat import NotebookNode

from course_lib.assignments import owner
from course_lib.assignments.inspection import LARGEST_DATA
from course_lib.errors import CourseError
from course_lib.grading.intake.late import says_a_time
from course_lib.grading.sources.marked_cells import grade_id, is_solution
from course_lib.grading.wording import TURNING, is_picture, visible

COLLECTED = ".collected.json"
"""What collecting a submission had to say about it. What a student hands in under this name is left
out."""
LARGEST_NOTEBOOK = 20 * 1024**2
"""Bytes. More than that is no homework."""
LONGEST_CELL = 200_000
LONGEST_TEXT = 20_000
"""Characters of a cell of code, and of one of text: pages are made of them, which takes time."""
MOST_CELLS = 1000
DEEPEST = 20
"""How many folders a file may lie in."""
MOST_FILES = 1000
MOST_REMARKS = 20
MOST_PICTURES = 20
"""Pasted into one cell."""


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


def stage(handed_in: Path, name: str, released: NotebookNode, target: Path, student: str) -> Staged:
    """Put a submission in order, as nbgrader expects it: its notebook, and its files in `target`.

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
    remarks = [*collected_remarks(handed_in), *remarks]
    data_files: dict[str, Path] = {}
    if notebook is None:
        graded = copy.deepcopy(released)
    else:
        graded, repaired = repair(notebook, released)
        remarks += repaired
        data_files, skipped = _copy_data(handed_in, target)
        remarks += skipped
    path = data_files[owner.FILE] = target / owner.FILE
    path.write_text(f"{student}\n", encoding="utf-8")
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
    if path.is_symlink() or not path.is_file() or path.stat().st_size > LONGEST_TEXT:
        return []
    try:
        return [visible(str(line), 300) for line in json.loads(path.read_text("utf-8"))]
    except (ValueError, TypeError):
        return []


def repair(notebook: NotebookNode, released: NotebookNode) -> tuple[NotebookNode, list[str]]:
    """The submission with every cell that nbgrader knows in order, and what had to be done for it.

    The released notebook decides which cells are graded, what they are worth and what the tests
    say; the submission contributes the answers and whatever cells were added.
    """
    known = {part: cell for cell in released.cells if (part := grade_id(cell))}
    result, remarks, seen = copy.deepcopy(notebook), [], set()
    result.metadata = copy.deepcopy(released.metadata)
    for cell in result.cells:
        part = grade_id(cell)
        if part in known and part not in seen:
            seen.add(part)
            original = known[part]
            same = cell.cell_type == original.cell_type and cell.source == original.source
            if not is_solution(original) and not same:
                remarks.append(f"The cell {part} had been changed; the original was used.")
                cell.source = original.source
            elif cell.cell_type != original.cell_type:
                remarks.append(f"The cell {part} was of another type; it was changed back.")
            # everything but source and pictures is the released one's
            own = {key: cell[key] for key in ("source", "attachments") if key in cell}
            cell.clear()
            cell.update(copy.deepcopy(original) | own)
        else:
            if part in seen:
                remarks.append(f"There is a copy of the cell {part}; it ran as one more cell.")
            cell.metadata = NotebookNode()
        if cell.cell_type == "raw":  # nbconvert hands raw cells through as they are
            cell.cell_type = "markdown"
            cell.source = "\n".join(f"    {line}" for line in cell.source.split("\n"))
        # nbgrader's own marks in a student's text would make it take that for a test
        if grade_id(cell) is None or is_solution(cell):
            cell.source = cell.source.replace("HIDDEN TESTS", "HIDDEN_TESTS")
    previous = None
    for part, original in known.items():
        places = [grade_id(cell) for cell in result.cells]
        at = places.index(previous) + 1 if previous else 0
        if part not in seen:
            remarks.append(f"The cell {part} was missing; it was put back as released.")
            result.cells.insert(at, copy.deepcopy(original))
        elif places.index(part) < at:
            remarks.append(f"The cell {part} had been moved; it was put back in its place.")
            result.cells.insert(at - 1, result.cells.pop(places.index(part)))
        previous = part
    return result, remarks


def _literal(remark: str) -> str:
    """A remark as Markdown: a file's name in it is no markup."""
    return re.sub(r"([\\`*\[\]<>&$~#|])", r"\\\1", remark)


def _read(handed_in: Path, name: str) -> tuple[NotebookNode | None, list[str]]:
    """The notebook, or None with the reason."""
    path, remarks = handed_in / f"{name}.ipynb", []
    if handed_in.is_symlink() or handed_in.parent.is_symlink():
        return None, ["The folder is a link to another. Hand in the files themselves."]
    others = sorted(other for other in handed_in.glob("*.ipynb") if other != path)
    if not os.path.lexists(path):
        if len(others) != 1:
            there = f"but {len(others)} others" if others else "nor any other notebook"
            return None, [f"There is no {name}.ipynb, {there}. Hand in one notebook of that name."]
        path = others[0]
        remarks.append(f"The notebook is called {visible(path.name)}; it should be {name}.ipynb.")
    elif others:
        listed = ", ".join(visible(other.name) for other in others[:3])
        remarks.append(f"There is more than one notebook; {name}.ipynb counts, not {listed}.")
    shown = visible(path.name)
    if path.is_symlink() or not path.is_file():
        return None, [*remarks, f"{shown} is not a plain file. Hand in the notebook itself."]
    if path.stat().st_size > LARGEST_NOTEBOOK:
        size = path.stat().st_size / 1024**2
        limit = LARGEST_NOTEBOOK // 1024**2
        return None, [*remarks, f"{shown} has {size:.0f} MB; the limit is {limit} MB."]
    try:
        notebook, noticed = _parse(path.read_bytes())
    except Exception as error:  # a damaged file fails in as many ways as there are files
        kind = str(error) if isinstance(error, Unfit) else type(error).__name__
        return None, [*remarks, f"{shown} is damaged and cannot be read as a notebook ({kind})."]
    return notebook, [*remarks, *(f"{shown} {one}" for one in noticed)]


class Unfit(ValueError):
    """Readable, and no notebook that can be graded. The text says why."""


def _parse(data: bytes) -> tuple[NotebookNode, list[str]]:
    """A notebook's cells, without their outputs, and what is unusual about the file.

    Only what a submission contributes is looked at, so that an odd output, or metadata of some
    program nobody here knows, is no reason to refuse the rest.
    """
    noticed = []
    encoding = json.detect_encoding(data)  # one of Unicode's; others have no way to say so
    if encoding not in {"utf-8", "utf-8-sig"}:
        noticed.append(f"is not in UTF-8 but in {encoding}; it was converted.")
    raw = json.loads(data.decode(encoding))
    if not isinstance(raw, dict):
        raise Unfit("not an object")
    version = raw.get("nbformat", 4)
    if version != 4:
        if version not in (1, 2, 3):
            raise Unfit(f"of an unknown format, {visible(str(version), 10)}")
        noticed.append(f"is in an old format (nbformat {version}); it was converted.")
        raw = nbformat.convert(nbformat.from_dict(raw), 4)
    cells = raw["cells"]
    if not isinstance(cells, list):
        raise Unfit("without cells")
    if len(cells) > MOST_CELLS:
        raise Unfit(f"{len(cells)} cells; the limit is {MOST_CELLS}")
    notebook = nbformat.v4.new_notebook(cells=[_cell(cell) for cell in cells])
    for cell in notebook.cells:
        del cell["id"]  # they are given out anew
    for place in ("language_info", "kernelspec"):
        stated = (raw.get("metadata") or {}).get(place) or {}
        language = stated.get("name" if place == "language_info" else "language", "python")
        if not str(language).lower().startswith(("python", "ipython")):
            noticed.append(f"is written for {visible(str(language), 30)}; it was run as Python.")
            break
    return notebook, noticed


def _cell(raw: dict[str, Any]) -> NotebookNode:
    """A cell with nothing but its type, its source, nbgrader's metadata and its pictures."""
    kind, source = raw["cell_type"], raw["source"]
    text = source if isinstance(source, str) else "".join(source)
    # half a pair of surrogates can be written in JSON, and in no file
    text = text.encode("utf-8", "replace").decode()
    # written out, they are seen; in a string of Python they mean the same
    text = re.sub(f"[{TURNING}]", lambda found: f"\\u{ord(found[0]):04x}", text)
    limit = LONGEST_CELL if kind == "code" else LONGEST_TEXT
    if len(text) > limit:
        raise Unfit(f"a cell of {len(text)} characters; the limit is {limit}")
    make = {
        "code": nbformat.v4.new_code_cell,
        "markdown": nbformat.v4.new_markdown_cell,
        "raw": nbformat.v4.new_raw_cell,
    }[kind]
    cell = make(text)
    metadata = raw.get("metadata")
    if isinstance(metadata, dict) and isinstance(metadata.get("nbgrader"), dict):
        cell.metadata["nbgrader"] = nbformat.from_dict(metadata["nbgrader"])
    if kind == "markdown" and (pasted := _pictures(raw.get("attachments"))):
        cell["attachments"] = pasted
    return cell


def _pictures(attachments: Any) -> dict[str, dict[str, str]]:
    """Of what was pasted into a cell the pictures that pages show."""
    kept: dict[str, dict[str, str]] = {}
    for name, formats in attachments.items() if isinstance(attachments, dict) else ():
        shown = formats.items() if isinstance(formats, dict) else ()
        pictures = {kind: data for kind, data in shown if is_picture(kind, data)}
        if pictures and len(kept) < MOST_PICTURES:
            kept[name] = pictures
    return kept


def _copy_data(handed_in: Path, target: Path) -> tuple[dict[str, Path], list[str]]:
    """Copies of the plain files beside the notebook, and what was left out."""
    copied: dict[str, Path] = {}
    remarks: list[str] = []
    total = 0
    for name in _names(handed_in, remarks):
        path = handed_in / name
        shown = visible(name)
        if len(copied) == MOST_FILES:
            remarks.append(f"{shown} and what follows it was left out: over {MOST_FILES} files.")
            break
        if not path.is_file() or path.suffix == ".ipynb":
            continue
        if path.suffix in {".py", ".so", ".pyc"}:
            remarks.append(f"{shown} is a Python module; the notebook has to work without it.")
            continue
        if name == "timestamp.txt" and not says_a_time(path):
            remarks.append(f"{shown} does not say a time; it was left out.")
            continue
        total += path.stat().st_size
        if total > LARGEST_DATA:
            remarks.append(f"{shown} and what follows it was left out: over 100 MB of files.")
            break
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        try:
            shutil.copyfile(path, target / name)
        except OSError as error:
            remarks.append(f"{shown} cannot be read ({type(error).__name__}); it was left out.")
            continue
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
                if visible(name, len(name)) != name:
                    remarks.append(f"{visible(name)} has invisible characters; it was left out.")
                else:
                    yield name
        folders[:] = [one for one in folders if not one.startswith(".")]
