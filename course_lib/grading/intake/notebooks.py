"""A notebook that somebody handed in: read whatever wrote it, and put in order for nbgrader.

Colab, VS Code, Kaggle, Deepnote and programs that strip outputs write cells that Jupyter does not,
and lose what nbgrader wrote into them. A cell that cannot be read costs itself and no other; a cell
that has lost its mark is known by its id, by its text, or by the place it stands in.

Nothing here asks for nbgrader: what students run reads notebooks in the same way.
"""

import codecs
import copy
import itertools
import json
import re
from collections import Counter
from collections.abc import Callable
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from nbformat import NotebookNode

from course_lib.grading.sources.marked_cells import (
    checksum,
    grade_id,
    is_grade,
    is_solution,
    nbgrader_metadata,
)
from course_lib.grading.untrusted import TURNING, is_picture, visible

LARGEST_NOTEBOOK = 64 * 1024**2
"""Bytes, outputs included, which are not looked at."""
LONGEST_CELL = 400_000
"""Characters. Pages are made of cells, which takes time."""
MOST_CELLS = 2000
MOST_PICTURES = 20
"""Pasted into one cell."""
MOST_NAMED = 6
"""Cells that a remark names."""

_PICTURE = re.compile(r"data:(image/\w+);base64,([A-Za-z0-9+/=\s]+)")
# Counts have an end in these two: what is searched may be made to keep a search busy.
_IMAGE = re.compile(
    r"""<img\b[^<>]{0,500}?\bsrc\s?=\s?["'](attachment:[^"'<>]{1,200})["'][^<>]{0,500}>""",
    re.IGNORECASE,
)
_PROSE = re.compile(r"\b(?:[^\W\d_]{1,40}[ ,;:'’-]{1,3}){4}[^\W\d_]")
"""Five words in a row: what a cell of code has only where somebody writes to a reader."""
_SIGNS = {
    b"%PDF": "a PDF",
    b"PK\x03\x04": "a zip",
    b"PK\x05\x06": "an empty zip",
    b"7z\xbc\xaf": "a 7z archive",
    b"Rar!": "a RAR archive",
    b"\x1f\x8b": "a gzip archive",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"\xd0\xcf\x11\xe0": "an Office document",
}
_ENDINGS = {
    **dict.fromkeys((".docx", ".xlsx", ".pptx", ".odt", ".pages"), "an Office document"),
    **dict.fromkeys((".html", ".htm"), "a web page"),
    **dict.fromkeys((".txt", ".md", ".rtf"), "a text"),
    ".py": "a Python file",
}


_Key = Callable[[NotebookNode], object]


class Unfit(ValueError):
    """No notebook can be read from it. The text goes on from the file's name."""


def _as_windows(error: UnicodeError) -> tuple[str, int]:
    """Bytes that are no UTF-8 are what Windows and older editors write."""
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode("cp1252", "replace"), error.end


codecs.register_error("as windows", _as_windows)


def kind_of(path: Path) -> str:
    """What a file is that is no notebook: "a PDF", "a web page"; "" if nobody knows."""
    try:
        with path.open("rb") as file:
            start = file.read(8)
    except OSError:
        return ""
    if not start:
        return "empty"
    signed = next((name for sign, name in _SIGNS.items() if start.startswith(sign)), "")
    return _ENDINGS.get(path.suffix.lower(), signed)


def could_be_notebook(path: Path) -> bool:
    """Whether a file begins as notebooks do, whatever its name is."""
    with path.open("rb") as file:
        return file.read(64).lstrip(b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n").startswith(b"{")


def read_notebook(path: Path) -> tuple[NotebookNode, list[str]]:
    """A notebook's cells, without their outputs, and what is unusual about the file.

    Only what a submission contributes is looked at: text, pasted pictures, ids and nbgrader's
    marks. An odd output, or metadata of some program nobody here knows, changes nothing.

    Raises:
        Unfit: it is too large, or is no notebook.
    """
    if (size := path.stat().st_size) > LARGEST_NOTEBOOK:
        raise Unfit(
            f"has {size / 1024**2:.0f} MB; the limit is {LARGEST_NOTEBOOK // 1024**2} MB. Clear its"
            " outputs and hand it in again."
        )
    data = path.read_bytes()
    if not data.strip():
        raise Unfit("is empty.")
    try:
        raw, noticed = loaded(data)
    except (ValueError, RecursionError) as error:
        what = kind_of(path) or "damaged, or cut off"
        raise Unfit(f"cannot be read as a notebook: it is {what}.") from error
    if not isinstance(raw, dict):
        raise Unfit("has no cells: it is no notebook.")
    cells = raw.get("cells")
    if not isinstance(cells, list) and isinstance(raw.get("worksheets"), list):
        noticed.append(
            f"is in an old format (nbformat {_short(raw.get('nbformat'))}); it was converted."
        )
        sheets = [sheet for sheet in raw["worksheets"] if isinstance(sheet, dict)]
        cells = [cell for sheet in sheets for cell in sheet.get("cells") or ()]
    if not isinstance(cells, list):
        raise Unfit("has no cells: it is no notebook.")
    odd: Counter[str] = Counter()
    readable = [_cell(cell, odd) for cell in cells if isinstance(cell, dict)]
    odd["was no cell at all and was left out"] += len(cells) - len(readable)
    for what, count in (+odd).items():
        which = "an odd cell, which" if count == 1 else f"{count} odd cells, of which each"
        noticed.append(f"has {which} {what}.")
    return _notebook(readable), [*noticed, *_language(raw)]


def loaded(data: bytes) -> tuple[Any, list[str]]:
    """JSON in whatever encoding, and what is unusual about that.

    Raises:
        ValueError, RecursionError: it is no JSON.
    """
    noticed = []
    encoding = json.detect_encoding(data)
    if encoding in {"utf-8", "utf-8-sig"}:
        text = data.decode(encoding, "as windows")
        if text.encode() != data.removeprefix(codecs.BOM_UTF8):
            noticed.append("is not in UTF-8 throughout; other characters were read as Windows'.")
    else:
        noticed.append(f"is not in UTF-8 but in {encoding}; it was converted.")
        text = data.decode(encoding, "replace")
    # a number may have any length in JSON; none that counts here is long
    return json.loads(text, strict=False, parse_int=lambda digits: int(digits[:18])), noticed


def _language(raw: dict[str, Any]) -> list[str]:
    metadata = raw.get("metadata")
    for place, key in (("language_info", "name"), ("kernelspec", "language")):
        stated = metadata.get(place) if isinstance(metadata, dict) else None
        language = stated.get(key) if isinstance(stated, dict) else None
        if isinstance(language, str) and not language.lower().startswith(("python", "ipython")):
            return [f"is written for {visible(language, 30)}; it was run as Python."]
    return []


def _notebook(cells: list[NotebookNode]) -> NotebookNode:
    return NotebookNode(nbformat=4, nbformat_minor=5, metadata=NotebookNode(), cells=cells)


def _cell(raw: dict[str, Any], odd: Counter[str]) -> NotebookNode:
    """A cell with nothing but its type, text, id, nbgrader's mark and pasted pictures."""
    kind, source = raw.get("cell_type"), raw.get("source", raw.get("input"))
    lines = source if isinstance(source, list) else [source]
    text = "".join(str(line) for line in lines if isinstance(line, str | int))
    if not text and source not in ("", []):
        odd["has no text"] += 1
    if kind == "heading":  # until 2014
        kind, text = "markdown", f"## {text}"
    if kind not in ("code", "markdown", "raw"):
        odd[f"is of a kind that is not known here, {_short(kind)}; it is shown"] += 1
        kind = "raw"
    # half a pair of surrogates can be written in JSON, and in no file
    text = text.encode("utf-8", "replace").decode().replace("\r\n", "\n").replace("\r", "\n")
    # written out, they are seen; in a string of Python they mean the same
    text = re.sub(f"[{TURNING}]", lambda found: f"\\u{ord(found[0]):04x}", text)
    cell = NotebookNode(cell_type=kind, metadata=NotebookNode(), id=_short(raw.get("id")))
    if kind == "markdown":
        text, pictures, lost = _pictures(text, raw.get("attachments"))
        if lost:
            odd["has a picture that pages cannot show (too large, or of another format)"] += 1
        if pictures:
            cell["attachments"] = pictures
    if len(text) > LONGEST_CELL:
        cut = f"{len(text)} characters; the grader takes {LONGEST_CELL}"
        odd[f"has {cut}"] += 1
        if kind == "code":  # half of it would be an error
            text = f"# Left out by the grader: this cell had {cut}."
        else:
            text = f"{text[:LONGEST_CELL]}\n\n[Cut here by the grader: {cut}.]"
    cell["source"] = text
    metadata = raw.get("metadata")
    marks = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    if isinstance(marks, dict):
        plain = {key: one for key, one in marks.items() if isinstance(one, str | int | float)}
        cell.metadata["nbgrader"] = NotebookNode(plain)
    if kind == "code":
        cell.update(outputs=[], execution_count=None)
    return cell


def _short(value: object) -> str:
    """A word or number that somebody else wrote; "?" for what is neither."""
    return visible(str(value), 100) if isinstance(value, str | int | float) else "?"


def _pictures(text: str, attachments: Any) -> tuple[str, dict[str, dict[str, str]], bool]:
    """A cell's text with what was pasted into it as attachments, and whether some are lost.

    Colab writes pictures into the text itself; JupyterLab writes HTML when one is resized.
    """
    pasted = dict(attachments) if isinstance(attachments, dict) else {}

    def attached(found: re.Match[str]) -> str:
        name = f"picture-{len(pasted) + 1}"
        pasted[name] = {found[1]: found[2]}
        return f"attachment:{name}"

    text = _PICTURE.sub(attached, text)
    text = _IMAGE.sub(lambda found: f"![{unquote(found[1][11:])}]({found[1]})", text)
    kept: dict[str, dict[str, str]] = {}
    for name, formats in pasted.items():
        shown = formats.items() if isinstance(formats, dict) else ()
        pictures = {kind: data for kind, data in shown if is_picture(kind, data)}
        if pictures and len(kept) < MOST_PICTURES:
            kept[name] = pictures
    return text, kept, len(kept) < len(pasted)


def repair(notebook: NotebookNode, released: NotebookNode) -> tuple[NotebookNode, list[str]]:
    """The submission with every cell that nbgrader knows in order, and what had to be done for it.

    The released notebook decides which cells are graded, what they are worth and what the tests
    say; the submission contributes the answers and whatever cells were added.
    """
    known = {part: cell for cell in released.cells if (part := grade_id(cell))}
    origins = _origins(notebook.cells, released.cells)
    said: dict[str, list[str]] = {}
    cells: list[NotebookNode] = []
    for place, given in enumerate(notebook.cells):
        cell = copy.deepcopy(given)
        origin = released.cells[origins[place]] if place in origins else None
        part = grade_id(origin) if origin is not None else None
        if part is None:
            if (copied := grade_id(cell)) in known:
                said.setdefault("there twice; the copies ran as cells of their own", []).append(
                    str(copied)
                )
            # near an answer that was left as it was, what else was written is looked at
            changed = origin is None or _text(origin) != _text(cell)
            cell.metadata = NotebookNode({"beside": copied or True} if changed else {})
        else:
            for fault in _faults(given, known[part]):
                said.setdefault(fault, []).append(part)
            own = {key: cell[key] for key in ("source", "attachments") if key in cell}
            if not is_solution(known[part]):
                own.pop("source")
            # everything but source and pictures is the released one's
            cell = NotebookNode(copy.deepcopy(known[part]) | own)
        cells.append(cell)
    remarks = _shortened(cells)
    _in_order(cells, known, said)
    for cell in cells:
        if cell.cell_type == "raw":  # nbconvert hands raw cells through as they are
            cell.cell_type = "markdown"
            cell.source = "\n".join(f"    {line}" for line in cell.source.split("\n"))
        # nbgrader's own marks in a student's text would make it take that for a test
        if grade_id(cell) is None or is_solution(cell):
            cell.source = cell.source.replace("HIDDEN TESTS", "HIDDEN_TESTS")
    for place, cell in enumerate(cells):
        if is_grade(cell) and is_solution(cell) and _text(cell) == _text(known[_part(cell)]):
            _read_beside(cells, place, said)
    for cell in cells:
        cell.metadata.pop("beside", None)
    result = _notebook(cells)
    result.metadata = copy.deepcopy(released.metadata)
    return result, [*remarks, *(_remark(parts, what) for what, parts in said.items())]


def belongs(notebook: NotebookNode, released: NotebookNode) -> tuple[bool, bool]:
    """Whether a notebook is one of this assignment's, and whether anything is answered in it."""
    origins = _origins(notebook.cells, released.cells)
    graded = {at for at, cell in enumerate(released.cells) if grade_id(cell)}
    answered = any(
        is_solution(cell := released.cells[at]) and _text(cell) != _text(notebook.cells[place])
        for place, at in origins.items()
    )
    # Assignments have parts of one name, such as the slip's: up to four in ten.
    return len(graded & set(origins.values())) * 2 > len(graded), answered


def _origins(cells: list[NotebookNode], released: list[NotebookNode]) -> dict[int, int]:
    """Which cell of the release each cell of a submission is: its place -> the place there.

    nbgrader's mark decides, then the cell's id, then its text; an answer without any of them is
    known by standing between two cells that are known.
    """
    parts = {grade_id(cell) for cell in released} - {None}
    found: dict[int, int] = {}

    def match(key: _Key, given: _Key) -> None:
        wanted: dict[object, int] = {}
        for at, cell in enumerate(released):
            if at not in found.values() and (name := key(cell)):
                wanted.setdefault(name, at)
        for place, cell in enumerate(cells):
            if place not in found and (name := given(cell)) in wanted:
                found[place] = wanted.pop(name)

    def identity(cell: NotebookNode) -> object:
        return cell.get("id"), cell.cell_type

    match(grade_id, grade_id)
    match(grade_id, lambda cell: cell.get("id"))
    match(
        lambda cell: None if is_solution(cell) else _text(cell),
        lambda cell: None if grade_id(cell) in parts else _text(cell),
    )
    match(lambda cell: None if grade_id(cell) else identity(cell), identity)
    for at, answer in enumerate(released):
        if not is_solution(answer) or at in found.values():
            continue
        start = max((place for place, other in found.items() if other < at), default=-1)
        end = min((place for place, other in found.items() if other > at), default=len(cells))
        between = [
            place
            for place in range(start + 1, end)
            if place not in found
            and not grade_id(cells[place])
            and _text(cells[place])
            and (cells[place].cell_type == "code") == (answer.cell_type == "code")
        ]
        if between:
            found[max(between, key=lambda place: len(cells[place].source))] = at
    return found


def _text(cell: NotebookNode) -> str:
    return str(cell.source).strip()


def _part(cell: NotebookNode) -> str:
    return grade_id(cell) or ""


def _faults(given: NotebookNode, original: NotebookNode) -> list[str]:
    """What has to be put right in a cell of the release, as it was handed in."""
    faults = []
    if grade_id(given) is None:
        faults.append("without nbgrader's mark, known by their ids, texts or places")
    if given.cell_type != original.cell_type:
        faults.append("of another type, changed back")
    if not is_solution(original) and given.source != original.source:
        if _as_given_out(given):
            faults.append("of an earlier release; the present ones were used")
        else:
            faults.append("changed; the originals were used")
    return faults


def _as_given_out(cell: NotebookNode) -> bool:
    """Whether a cell is as some release had it: nbgrader's checksum says so."""
    try:
        return bool(nbgrader_metadata(cell)) and checksum(cell) == nbgrader_metadata(cell).get(
            "checksum"
        )
    except (KeyError, TypeError, ValueError):
        return False


def _shortened(cells: list[NotebookNode]) -> list[str]:
    """Leave out a student's own cells where there are too many, the last ones first."""
    own = [place for place, cell in enumerate(cells) if grade_id(cell) is None]
    surplus = own[len(own) - (len(cells) - MOST_CELLS) :] if len(cells) > MOST_CELLS else []
    if not surplus:
        return []
    total = len(cells)
    for place in reversed(surplus):
        del cells[place]
    return [
        f"There are {total} cells; the grader takes {MOST_CELLS}. The last {len(surplus)} of the"
        " student's own were left out."
    ]


def _in_order(
    cells: list[NotebookNode], known: dict[str, NotebookNode], said: dict[str, list[str]]
) -> None:
    """Put back what is missing or moved, each cell right before the one that follows it."""
    order = [part for cell in cells if (part := grade_id(cell))]
    blocks = SequenceMatcher(None, order, list(known), autojunk=False).get_matching_blocks()
    kept = {part for block in blocks for part in order[block.a : block.a + block.size]}
    moved = {_part(cell): cell for cell in cells if grade_id(cell) and _part(cell) not in kept}
    cells[:] = [cell for cell in cells if _part(cell) not in moved]
    at = len(cells)
    for part, original in reversed(known.items()):
        if part in kept:
            at = next(place for place, cell in enumerate(cells) if grade_id(cell) == part)
            continue
        cells.insert(at, moved.get(part) or copy.deepcopy(original))
    for part in known:
        if part in moved:
            said.setdefault("moved, put back in their places", []).append(part)
        elif part not in kept:
            said.setdefault("missing, put back as released", []).append(part)


def _read_beside(cells: list[NotebookNode], at: int, said: dict[str, list[str]]) -> None:
    """An answer that a person reads was left as it was: what stands around it is put before them.

    nbgrader gives 0 for a cell that is as it was released, and shows it to nobody.
    """
    answer = cells[at]

    def free(place: int) -> bool:
        return not grade_id(cells[place])

    around = {
        *itertools.takewhile(free, range(at - 1, -1, -1)),
        *itertools.takewhile(free, range(at + 1, len(cells))),
    }
    written = [
        cell
        for place, cell in enumerate(cells)
        if (beside := cell.metadata.get("beside"))
        and (place in around or beside == grade_id(answer))
        and _text(cell) not in ("", _text(answer))
        and (cell.cell_type != "code" or _PROSE.search(cell.source))
    ]
    if not written:
        return
    texts = "\n\n".join(cell.source for cell in written)
    answer.source += f"\n\n[Left as it was; this stands beside it:]\n\n{texts}"
    pictures = {name: one for cell in written for name, one in cell.get("attachments", {}).items()}
    if pictures:
        answer["attachments"] = pictures
    what = "left as they were; what was written beside them stands in them now, to be read"
    said.setdefault(what, []).append(_part(answer))


def _remark(parts: list[str], what: str) -> str:
    """One line for all cells of which the same is to be said."""
    parts = list(dict.fromkeys(parts))
    more = f" and {len(parts) - MOST_NAMED} more" if len(parts) > MOST_NAMED else ""
    listed = ", ".join(visible(part) for part in parts[:MOST_NAMED])
    return f"Cells {what}: {listed}{more}."
