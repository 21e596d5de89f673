"""From a platform's "download all submissions" to submitted/STUDENT/NAME/.

A zip of many files, whose names the students chose. Each of them ends in one of three places, and
is listed with it: taken, put aside with a reason (it lies with its owner's), or asked about (it
lies in put_aside/NAME/, since nobody knows whose it is).
"""

import json
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple

from course_lib.errors import CourseError
from course_lib.files import read_object, write_atomically
from course_lib.grading.intake.archives import ArchiveLimits, BadArchive, extract, is_archive, safe
from course_lib.grading.intake.notebooks import could_be_notebook, kind_of
from course_lib.grading.intake.roster import Platform, Roster, RosterEntry, plain_name
from course_lib.grading.intake.staging import COLLECTED
from course_lib.grading.untrusted import visible

WHOLE_CLASS = ArchiveLimits(files=50_000, total=16 * 1024**3, nested=0)

_FORMS: dict[Platform, re.Pattern[str]] = {
    # lovelaceada_LATE_1042_77123_attention_by_hand-2.zip, lovelaceada_1042_text.html
    "Canvas": re.compile(
        r"(?=(?:^|_)(?P<late>LATE_)?(?P<number>\d+)_(?:(?P<order>\d+)_(?P<file>[^/]+)"
        r"|(?P<page>text\.html|link\.html))$)"
    ),
    # "Ada Lovelace_1042_assignsubmission_file/attention_by_hand.zip", "Default group_assign..."
    "Moodle": re.compile(
        r"(?:[^/]+/)*?(?P<name>[^/]*?)(?:_(?P<number>\d+))?_assignsubmission_(?P<plugin>[a-z]+)"
        r"[_/]+(?P<file>.+)"
    ),
}
_ANONYMOUS = re.compile(r"(LATE_)?anon_[A-Za-z0-9]+_.+")
_HIDDEN = "Canvas hides whose it is (anonymous grading): let it show names, and download again"
_FOREIGN = "no name that the roster's platform gives"
_TYPED = "typed "
"""How the names begin of files that the platform made from what somebody typed there."""
_OURS = ("timestamp.txt", COLLECTED)


@dataclass(frozen=True)
class CollectedFile:
    """Where one file of a platform's zip ended.

    Attributes:
        name: its name in the zip.
        end: "taken" by `students`, "put aside" with theirs, or "asked about": nobody knows whose.
        students: whose it is.
        why: for one that was not taken.
    """

    name: str
    end: Literal["taken", "put aside", "asked about"]
    students: list[str]
    why: str = ""


@dataclass(frozen=True)
class Collected:
    """What became of one student's submission.

    Attributes:
        student: whose.
        state: "new", "replaced", "unchanged" or "kept": it has no notebook, the earlier one counts.
        kept: the folder in which the one that does not count is kept, if there are two.
        remarks: what the instructor should know.
    """

    student: str
    state: str
    kept: Path | None
    remarks: list[str]


@dataclass(frozen=True)
class Collection:
    """What became of a whole class's submissions.

    Attributes:
        students: in the order of their ids.
        entries: all files of the zips.
        absent: who is in the roster, and has no file of any kind in any zip so far.
    """

    students: list[Collected]
    entries: list[CollectedFile]
    absent: list[RosterEntry]


class _Named(NamedTuple):
    """What the name says that a platform gave to a file."""

    number: str
    name: str
    file: str
    order: int = 0
    late: bool = False


@dataclass(frozen=True)
class _File:
    """A file in a platform's zip, and whose it is: a group's is several people's."""

    entry: str
    path: Path
    named: _Named
    people: list[RosterEntry]


def collect(name: str, archives: Iterable[Path], submitted: Path, roster: Roster) -> Collection:
    """Unpack platforms' zips into `submitted`/STUDENT/NAME/, the later archive after the earlier.

    Raises:
        CourseError: an archive is none, or nothing in it has a name that this platform gives.
    """
    archives = list(archives)
    for archive in archives:
        if archive.is_dir():
            raise CourseError(f"{archive} is a folder. Give the zip as it was downloaded.")
        if not archive.is_file():
            raise CourseError(f"There is no {archive}. Check the path.")
    submitted.mkdir(parents=True, exist_ok=True)
    students: dict[str, Collected] = {}
    entries: list[CollectedFile] = []
    with tempfile.TemporaryDirectory(prefix=".collecting-", dir=submitted) as folder:
        for place, archive in enumerate(archives):
            root = Path(folder) / str(place)
            unpacked = extract(archive, root, WHOLE_CLASS)
            names = [_named(entry, roster) for entry, _ in unpacked.files]
            if set(names) <= {_FOREIGN}:
                raise CourseError(_no_form(archive, [entry for entry, _ in unpacked.files], roster))
            files: list[_File] = []
            ends = [
                CollectedFile(line, "asked about", [], "no platform packs this")
                for line in unpacked.remarks
            ]
            for (entry, path), named in zip(unpacked.files, names, strict=True):
                people = roster.whose(named.number, named.name) if isinstance(named, _Named) else []
                if isinstance(named, _Named) and people:
                    files.append(_File(entry, path, named, people))
                    continue
                why = named if isinstance(named, str) else _unknown(named)
                aside = submitted.parent / "put_aside" / name / path.relative_to(root)
                aside.parent.mkdir(parents=True, exist_ok=True)
                stem, number = aside.stem, 1
                while aside.is_dir() or (
                    aside.exists() and aside.read_bytes() != path.read_bytes()
                ):
                    number += 1
                    aside = aside.with_name(f"{stem} ({number}){aside.suffix}")
                shutil.copyfile(path, aside)
                ends.append(CollectedFile(entry, "asked about", [], why))
            faults: dict[str, str] = {}
            for person in sorted(roster.people, key=lambda one: one.student):
                if own := [one for one in files if person in one.people]:
                    made = Path(folder) / f"{place}-made" / person.student
                    students[person.student] = _take(person, own, name, submitted, made, faults)
            for file in files:
                whose, why = [one.student for one in file.people], faults.get(file.entry, "")
                ends.append(CollectedFile(file.entry, "put aside" if why else "taken", whose, why))
            entries += ends
            _record(submitted.parent, name, archive.name, ends)
    absent = [one for one in roster.people if not (submitted / one.student / name).is_dir()]
    return Collection([students[student] for student in sorted(students)], entries, absent)


def recorded(place: Path, name: str) -> list[CollectedFile]:
    """What became of every file of every zip that was collected for an assignment."""
    zips = read_object(_record_of(place, name))
    return [CollectedFile(**end) for ends in zips.values() for end in ends]


def group_of(place: Path, name: str, student: str) -> list[str]:
    """Who handed in one file together with this student, as a group does."""
    ends = [entry.students for entry in recorded(place, name) if student in entry.students]
    return sorted({other for students in ends for other in students} - {student})


def _record(place: Path, name: str, archive: str, ends: list[CollectedFile]) -> None:
    """Write down where files ended: of each the last word, since zips have the same names."""
    path = _record_of(place, name)
    zips, new = read_object(path), {end.name for end in ends}
    for known, earlier in zips.items():
        zips[known] = [end for end in earlier if end["name"] not in new]
    zips[archive] = [*zips.get(archive, []), *map(asdict, ends)]
    write_atomically(path, json.dumps(zips, indent=1, ensure_ascii=False), private=True)


def _record_of(place: Path, name: str) -> Path:
    return place / "grading" / "collected" / f"{name}.json"


def _named(entry: str, roster: Roster) -> _Named | str:
    """What the name of an entry says; or what there is to ask about it."""
    if roster.platform == "Moodle":
        match = _FORMS["Moodle"].fullmatch(entry)
        if match is None:
            return _FOREIGN
        typed = "" if match["plugin"] == "file" else _TYPED
        return _Named(match["number"] or "", match["name"], typed + match["file"])
    leaf = entry.rpartition("/")[2]
    forms: dict[str, _Named] = {}
    for form in _FORMS["Canvas"].finditer(leaf):
        name, number = leaf[: form.start()], form["number"]
        # what follows a student's number is the student's to choose
        if not re.search(r"\W|_\d+_", name) and number not in forms:
            file = form["file"] or _TYPED + form["page"]
            late = bool(form["late"])
            forms[number] = _Named(number, name, file, int(form["order"] or 0), late)
    if not forms:
        return _HIDDEN if _ANONYMOUS.fullmatch(leaf) else _FOREIGN
    # a name may end in a number: one of the roster's is meant
    fitting = [number for number in forms if roster.whose(number, "")] or [next(iter(forms))]
    if len(fitting) > 1:
        return f"it may be from {' or '.join(fitting)}: nobody can tell"
    return forms[fitting[0]]


def _unknown(named: _Named) -> str:
    whose = f"{visible(named.name)} ({named.number})" if named.number else visible(named.name)
    return (
        f"{whose} is not in the roster: somebody of another section, or a group? Give a roster with"
        " them; a group's members by a column Group with its name"
    )


def _no_form(archive: Path, entries: list[str], roster: Roster) -> str:
    other: Platform = "Moodle" if roster.platform == "Canvas" else "Canvas"
    if any(_FORMS[other].search(entry) for entry in entries):
        return (
            f"{archive} is named as {other} names submissions, and the roster is"
            f" {roster.platform}'s. Give {other}'s with --roster."
        )
    return (
        f"Nothing in {archive} is named as {roster.platform} names submissions. Use the zip of"
        " `Download submissions` as it is."
    )


def _take(
    person: RosterEntry,
    files: list[_File],
    name: str,
    submitted: Path,
    made: Path,
    faults: dict[str, str],
) -> Collected:
    """Put what a student handed in into its place; `faults` gets why a file is no homework."""
    remarks: list[str] = []
    made.mkdir(parents=True)
    for place, file in enumerate(sorted(files, key=_in_time)):
        target = made / _called(file.named.file, name)
        if any(folder.is_file() for folder in target.parents):
            target = made / target.name
        if target.exists():  # the later one has the name, which is what counts
            earlier = target
            while earlier.exists():
                earlier = earlier.with_name(f"{place} {earlier.name}")
            target.rename(earlier)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file.path, target)
        if not is_archive(target):
            _later(target, place)
            continue
        folder = made / f"{target.name} unpacked"
        try:
            remarks += extract(target, folder).remarks
        except BadArchive as error:
            remarks.append(str(error))
            faults[file.entry] = str(error)
            continue
        target.unlink()
        for inside in folder.rglob("*"):
            _later(inside, place)
        if len(files) == 1:
            _unwrap(folder)
        if not {path.name for path in folder.iterdir()} & {path.name for path in made.iterdir()}:
            _move_up(folder)
    for ours in _OURS:
        if (made / ours).exists():
            (made / ours).rename(made / f"handed in {ours.strip('.')}")
            remarks.append(f"{ours} was handed in; it counts for nothing.")
    found = any(map(_is_notebook, made.rglob("*")))
    if not found:
        for file in files:
            what = kind_of(file.path) or "a file"
            faults.setdefault(file.entry, f"{what}, and no notebook")
    group = sorted({one.student for file in files for one in file.people} - {person.student})
    remarks += _about(person, files, group)
    if person.handed_in is not None:
        text = person.handed_in.isoformat() + "\n"
        (made / "timestamp.txt").write_text(text, encoding="utf-8")
    if remarks:
        (made / COLLECTED).write_text(json.dumps(remarks, indent=1), encoding="utf-8")
    state, kept = _put(made, submitted / person.student / name, found)
    return Collected(person.student, state, kept, remarks)


def _about(person: RosterEntry, files: list[_File], group: list[str]) -> Iterator[str]:
    """What names and times say, or leave open."""
    if group:
        yield f"Handed in for a group, with {', '.join(group)}."
    for file in files:
        strange = plain_name(file.named.name) not in person.names
        if strange and not group and person.names != {""}:  # a blind assignment has no names
            yield (
                f"The file is named after {visible(file.named.name)!r}: if that is a group, give a"
                " roster with a column Group, so that the others are credited."
            )
            break
    if person.unread:
        yield (
            f"The roster's time, {visible(person.unread)!r}, cannot be read, or in two ways:"
            " nothing is deducted. Write it into timestamp.txt beside the notebook."
        )
    if any(file.named.late for file in files):
        yield (
            "Canvas marks it as late and does not say how late: nothing is deducted unless a time"
            " stands in timestamp.txt beside the notebook."
        )
    if any(file.named.file.startswith(_TYPED) for file in files):
        yield "Something was typed on the platform; it lies beside the notebook as a web page."


def _in_time(file: _File) -> tuple[int, float, str]:
    """What files are ordered by: Canvas numbers them, Moodle keeps the time of each."""
    return file.named.order, file.path.stat().st_mtime, file.entry


def _called(file: str, name: str) -> PurePosixPath:
    """What a file is called here: without what browsers and Canvas add to a second one."""
    path = safe(file) or PurePosixPath("file")
    stem = re.sub(r"([ _]?\(\d+\)|-\d+)$", "", path.stem)
    return path.with_name(f"{name}.ipynb") if (stem, path.suffix) == (name, ".ipynb") else path


def _is_notebook(path: Path) -> bool:
    named = path.suffix.lower() == ".ipynb"
    return path.is_file() and could_be_notebook(path) and (named or b'"cells"' in path.read_bytes())


def _later(path: Path, place: int) -> None:
    """Of notebooks that are equally good the last counts: files get times in their order."""
    changed = path.stat().st_mtime + place
    os.utime(path, (changed, changed))


def _unwrap(folder: Path) -> None:
    """Undo folders that hold one folder and nothing else."""
    while len(inside := list(folder.iterdir())) == 1 and inside[0].is_dir():
        _move_up(inside[0].rename(folder / f".{secrets.token_hex(8)}"))


def _move_up(folder: Path) -> None:
    """What is in a folder stands in its place."""
    for path in list(folder.iterdir()):
        path.rename(folder.parent / path.name)
    folder.rmdir()


def _put(made: Path, target: Path, found: bool) -> tuple[str, Path | None]:
    """Move a folder to its place; of two that differ one is kept under the next free number."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists():
        made.rename(target)
        return "new", None
    kept = [target, *sorted(target.parent.glob(f"{target.name}.*"))]
    if same := [one for one in kept if _contents(one) == _contents(made)]:
        if same[0] == target:
            (target / COLLECTED).unlink(missing_ok=True)
            for ours in _OURS:  # what is said about it may be new; a time by hand stays
                if (made / ours).exists():
                    (made / ours).replace(target / ours)
            return "unchanged", None
        if not found:
            return "kept", same[0]
    number = 1
    while (free := target.with_name(f"{target.name}.{number}")).exists():
        number += 1
    if not found and any(_is_notebook(path) for path in target.rglob("*")):
        made.rename(free)
        return "kept", free
    target.rename(free)
    made.rename(target)
    return "replaced", free


def _contents(folder: Path) -> dict[Path, bytes]:
    return {
        path.relative_to(folder): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in _OURS
    }
