"""From a platform's "download all submissions" to submitted/STUDENT/NAME/.

A zip of many zips, whose names the students chose: everything is unpacked by `archives`, and what
is already there is kept beside with a number.
"""

import itertools
import json
import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from course_lib.errors import CourseError
from course_lib.grading.intake.archives import BadArchive, Limits, extract
from course_lib.grading.intake.roster import Person, Roster, fit, plain
from course_lib.grading.intake.staging import COLLECTED
from course_lib.grading.wording import visible

WHOLE_CLASS = Limits(archive=8 * 1024**3, files=50_000, total=16 * 1024**3, free=1024**3, name=400)

# lovelaceada_LATE_1042_77123_attention_by_hand-2.zip
_CANVAS = re.compile(
    r"(?P<name>[^_/]+)_(?P<late>LATE_)?(?P<number>\d+)_(?P<file>\d+)_(?P<original>[^/]+)"
)
# "Ada Lovelace_1042_assignsubmission_file_/attention_by_hand.zip", or "..._file_attention..."
_MOODLE = re.compile(
    r"(?P<name>[^/]+?)_(?P<number>\d+)_assignsubmission_(?P<kind>file|onlinetext)_?/?"
    r"(?P<original>.*)"
)
_LITTER = {"__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini"}
_OURS = {"timestamp.txt", COLLECTED}


@dataclass(frozen=True, order=True)
class File:
    """One file that somebody handed in, sorted by whose it is and when it came."""

    student: str
    archive: int
    number: tuple[int, ...]
    name: str
    path: Path = field(compare=False)
    late: bool = field(compare=False)
    person: Person | None = field(compare=False)


@dataclass(frozen=True)
class Collected:
    """What became of one student's submission.

    Attributes:
        student: whose.
        state: "new", "replaced" or "unchanged".
        kept: the folder in which the earlier one is kept, if it was replaced.
        remarks: what the instructor should know.
    """

    student: str
    state: str
    kept: Path | None
    remarks: list[str]


def collect(
    name: str, archives: Iterable[Path], submitted: Path, roster: Roster | None = None
) -> list[Collected]:
    """Unpack platforms' zips into `submitted`/STUDENT/NAME/, the later archive after the earlier.

    Raises:
        CourseError: an archive is none, or nothing in it has a name that Canvas or Moodle gives.
    """
    submitted.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".collecting-", dir=submitted) as folder:
        files: list[File] = []
        for place, archive in enumerate(archives):
            if not archive.is_file():
                raise CourseError(f"There is no {archive}. Check the path.")
            unpacked = Path(folder) / str(place)
            extract(archive, unpacked, WHOLE_CLASS)
            own = list(_files(unpacked, place, _times(archive), roster))
            if not own:
                raise CourseError(
                    f"Nothing in {archive} is named as Canvas or Moodle name submissions. Use the"
                    " zip of `Download submissions` as it is."
                )
            files += own
        return [
            _take(list(own), name, submitted, Path(folder) / "made" / student, roster)
            for student, own in itertools.groupby(sorted(files), lambda file: file.student)
        ]


def _times(archive: Path) -> dict[str, tuple[int, ...]]:
    """When each file of an archive was last changed: year, month, day, hour, minute, second."""
    with zipfile.ZipFile(archive) as opened:
        return {entry.filename: entry.date_time for entry in opened.infolist()}


def _files(
    unpacked: Path, archive: int, times: dict[str, tuple[int, ...]], roster: Roster | None
) -> Iterator[File]:
    """What lies in an archive, and whose it is."""
    platform = roster.platform if roster else None
    for path in sorted(unpacked.rglob("*")):
        if not path.is_file() or _LITTER & set(path.relative_to(unpacked).parts):
            continue
        relative = path.relative_to(unpacked).as_posix()
        # Canvas first: what comes after its numbers is the student's, and may look like Moodle's
        canvas = None if platform == "Moodle" else _CANVAS.fullmatch(relative)
        moodle = None if platform == "Canvas" else _MOODLE.fullmatch(relative)
        match = canvas or moodle
        if match is None or not match["original"] or (not canvas and match["kind"] != "file"):
            continue
        person = roster.find(match["number"], match["name"]) if roster else None
        student = person.student if person else fit(f"{plain(match['name'])}-{match['number']}")
        number = (int(canvas["file"]),) if canvas else times.get(relative, ())
        late = bool(canvas and canvas["late"])
        original = Path(match["original"]).name
        yield File(student, archive, number, original, path, late, person)


def _take(
    files: list[File], name: str, submitted: Path, made: Path, roster: Roster | None
) -> Collected:
    """Put one student's last attempt into its place."""
    # the last that can have a notebook in it, one of the proper name before others
    chosen = max(
        enumerate(files),
        key=lambda one: (_carries(one[1]), _carries(one[1]) and _stem(one[1].name) == name, one[0]),
    )[1]
    others = [file for file in files if file is not chosen]
    made.mkdir(parents=True)
    remarks = []
    attempts = [file for file in others if _carries(file)]
    if attempts:
        count, shown = len(attempts) + 1, visible(chosen.name)
        remarks.append(f"{count} files were handed in; the last, {shown}, counts.")
    if chosen.path.suffix.lower() == ".zip":
        try:
            remarks += extract(chosen.path, made)
        except BadArchive as error:
            remarks.append(str(error))
        _unwrap(made)
    else:
        proper = _stem(chosen.name) == name
        shutil.copyfile(chosen.path, made / (f"{name}.ipynb" if proper else chosen.name))
        for other in others:
            if not _carries(other):
                shutil.copyfile(other.path, made / other.name)
    for ours in _OURS & {path.name for path in made.iterdir()}:
        remarks.append(f"{ours} was handed in; it was left out.")
        _remove(made / ours)
    person = chosen.person
    time = person.handed_in if person else None
    if time is not None:
        (made / "timestamp.txt").write_text(time.isoformat() + "\n", encoding="utf-8")
    elif chosen.late:
        remarks.append("Canvas marks it as late and does not say how late: nothing is deducted.")
    if roster is not None and person is None:
        remarks.append("The roster does not have this student.")
    if remarks:
        (made / COLLECTED).write_text(json.dumps(remarks, indent=1), encoding="utf-8")
    state, kept = _put(made, submitted / chosen.student / name)
    return Collected(chosen.student, state, kept, remarks)


def _carries(file: File) -> bool:
    """Whether a notebook can be in it."""
    return file.path.suffix.lower() in {".ipynb", ".zip"}


def _stem(original: str) -> str:
    """A file's name without what browsers and Canvas add to a second one: "x (1)", "x-2"."""
    return re.sub(r"([ _]?\(\d+\)|-\d+)$", "", Path(original).stem)


def _unwrap(folder: Path) -> None:
    """Undo a zip that has everything in one folder, and take away what systems add."""
    for litter in [path for path in folder.rglob("*") if path.name in _LITTER]:
        _remove(litter)
    inside = list(folder.iterdir())
    if len(inside) != 1 or not inside[0].is_dir():
        return
    moved = inside[0].rename(folder / f".{inside[0].name}.moving")
    for path in list(moved.iterdir()):
        path.rename(folder / path.name)
    moved.rmdir()


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _put(made: Path, target: Path) -> tuple[str, Path | None]:
    """Move a folder to its place; what lies there is kept under the next free number."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists():
        made.rename(target)
        return "new", None
    if _contents(made) == _contents(target):
        return "unchanged", None
    number = 1
    while (kept := target.with_name(f"{target.name}.{number}")).exists():
        number += 1
    target.rename(kept)
    made.rename(target)
    return "replaced", kept


def _contents(folder: Path) -> dict[Path, bytes]:
    return {
        path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }
