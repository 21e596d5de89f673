"""Looking for what only instructors may see in what everybody gets.

Secret are the regions of a source that nbgrader takes out (solutions, hidden tests, mark schemes)
and the made-up answers beside it. They must be in none of what students may read: a release, the
built site, the package, and all else of the repository but `KEPT_BACK`. A line alone may be
anybody's; three in a row are not, if each says something. In a release a single line of a region is
one too many.
"""

import html
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import course_lib
from course_lib.grading.authoring.demonstration import DEMONSTRATION, VARIANTS, MadeUp
from course_lib.grading.sources.data import read_data
from course_lib.grading.sources.project import assignment_names, source_of

_REGION = re.compile(r"### (?P<edge>BEGIN|END) (SOLUTION|HIDDEN TESTS|MARK SCHEME)$")
_TEXT = {
    *(".css", ".html", ".ipynb", ".js", ".json", ".md", ".mjs", ".py", ".txt", ".xml", ".yaml"),
}
_FOREIGN = {"mathjax", "vendor", "fontawesome", "__pycache__"}
_ROW = 3
KEPT_BACK = ("solutions", "tests")
"""The folders that students must not be able to read: tests hold answers in words of their own."""
_PUBLIC = ("book", "benchmarks", "experiments")
LIBRARY = Path(course_lib.__file__).parent
_SHORTEST = 13
"""Characters, without white space. What is shorter (`else:`, `return x`) says nothing."""


@dataclass(frozen=True)
class SourceLine:
    """A line that says something: without its white space, and where it stands, as "file:line"."""

    text: str
    where: str


def leaks(root: Path, names: list[str], package: Path = LIBRARY) -> list[str]:
    """Everything secret of these assignments (of all, if none is named) that is not: where.

    Args:
        root: the course's folder. The site is looked at if it has been built.
        names: the assignments.
        package: the folder of the library.
    """
    leaked: list[str] = []
    secret: dict[str, str] = {}
    for name in names or assignment_names(root):
        source = source_of(root, name)
        regions, shown = _parts(_lines(source, root))
        made_up = [
            [
                SourceLine(line, f"{path.relative_to(root)}, {entry.name}")
                for line in code.splitlines()
            ]
            for path in map(source.with_name, (VARIANTS, DEMONSTRATION))
            for entry in (read_data(path, MadeUp) or MadeUp()).all
            for code in (*entry.cells.values(), entry.files)
        ]
        release = _files([root / "exercises" / name])
        leaked += _search(release, root, _rows(regions, 1, but=_rows(shown, 1)), 1)
        leaked += _search(release, root, _rows(made_up, _ROW, but=_rows(shown, _ROW)), _ROW)
        secret |= _rows([*regions, *made_up], _ROW, but=_rows(shown, _ROW))
    public = [path for name in _PUBLIC for path in sorted((root / name).glob("*"))]
    places = [package, root / "book" / "_build" / "html", *public]
    leaked += _search(_files(path for path in places if path.name != "_build"), root, secret, _ROW)
    return leaked


def _parts(lines: Iterable[SourceLine]) -> tuple[list[list[SourceLine]], list[list[SourceLine]]]:
    """The regions that nbgrader takes out, one by one, and what stands outside."""
    inside: list[list[SourceLine]] = []
    outside: list[list[SourceLine]] = [[]]
    within = False
    for line in lines:
        if _REGION.match(line.text.strip()):
            within = not within
            (inside if within else outside).append([])
        else:
            (inside if within else outside)[-1].append(line)
    return inside, outside


def _rows(
    pieces: Iterable[list[SourceLine]], length: int, but: dict[str, str] | None = None
) -> dict[str, str]:
    """So many lines in a row that say something -> where the first of them stands."""
    rows: dict[str, str] = {}
    for piece in pieces:
        squeezed = (SourceLine(re.sub(r"\s+", "", line.text), line.where) for line in piece)
        telling = [line for line in squeezed if _says_something(line.text)]
        for start in range(len(telling) - length + 1):
            row = telling[start : start + length]
            rows.setdefault("\n".join(line.text for line in row), row[0].where)
    return {text: where for text, where in rows.items() if text not in (but or {})}


def _search(
    files: Iterable[Path], root: Path, secret: dict[str, str], length: int
) -> Iterator[str]:
    for path in files:
        for text, where in _rows([_lines(path, root)], length).items():
            if text in secret:
                yield f"{where} has what stands in {secret[text]}"


def _files(places: Iterable[Path]) -> list[Path]:
    return [
        path
        for place in places
        for path in ([place] if place.is_file() else sorted(place.rglob("*")))
        if path.suffix in _TEXT and path.is_file() and not _FOREIGN & {*path.parts}
    ]


def _lines(path: Path, root: Path) -> list[SourceLine]:
    """A file's lines as a reader sees them, without the clothes of HTML or of JSON."""
    text = path.read_text(encoding="utf-8", errors="replace")
    name = path.relative_to(root) if path.is_relative_to(root) else path
    return [
        SourceLine(part, f"{name}:{number}")
        for number, line in enumerate(text.splitlines(), start=1)
        for part in _undressed(line, path.suffix)
    ]


def _undressed(line: str, suffix: str) -> list[str]:
    if suffix == ".html":
        line = html.unescape(re.sub(r"<[^>]*>", "", line))
    elif suffix in {".ipynb", ".json", ".js", ".mjs"} and '"' in line:
        texts = re.findall(r'"(?:[^"\\]|\\.)*"', line)
        return [part for text in texts for part in _unquoted(text).split("\n")]
    return [line.rstrip()]


def _unquoted(text: str) -> str:
    try:
        return str(json.loads(text, strict=False))
    except ValueError:
        return text


def _says_something(text: str) -> bool:
    return len(text) >= _SHORTEST and not re.match(r"(import|from)[a-z_.]+(import|as|$)", text)
