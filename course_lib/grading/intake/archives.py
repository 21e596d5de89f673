"""Unpacking what somebody handed in, whatever is in it.

An archive says itself how large its files are and where they belong, and may lie about both. Each
file gets a name that leads nowhere else, and nothing is left out because of its name. Sizes are
added up as files come; `zipfile` and `tarfile` read no byte beyond the size that an archive gives,
so a lie makes a damaged file.
"""

import contextlib
import itertools
import os
import re
import shutil
import stat
import struct
import tarfile
import tempfile
import time
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

from course_lib.errors import CourseError
from course_lib.grading.intake.notebooks import kind_of
from course_lib.grading.untrusted import visible

LITTER = {"__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini"}
"""What systems add by themselves."""
CHECKPOINTS = ".ipynb_checkpoints"
"""Jupyter's folder of earlier copies: all that there is where somebody packed the wrong folder."""
_PACKED = {"", ".zip", ".ipynb", ".tar", ".gz", ".tgz", ".bz2", ".xz"}
"""How the names of archives end that are unpacked; other zips are documents and models."""
_DAMAGED = (zipfile.BadZipFile, tarfile.TarError, zlib.error, struct.error, EOFError)
_DEEPEST = 8
_LONGEST = 120


@dataclass(frozen=True)
class ArchiveLimits:
    """How much an archive may hold. More than that is no homework.

    Attributes:
        files: entries, folders included, those of archives in it among them.
        total: bytes of all files, unpacked; likewise.
        nested: how deep archives in archives are unpacked.
    """

    files: int = 1000
    total: int = 200 * 1024**2
    nested: int = 3


class BadArchive(CourseError):
    """Nothing of this archive was unpacked. Its text says why, in a line for the report."""


@dataclass(frozen=True)
class Unpacked:
    """What was in an archive.

    Attributes:
        files: each one's name in the archive, and where it lies now.
        remarks: a line for each entry that was left out, and each archive that stays packed.
    """

    files: list[tuple[str, Path]]
    remarks: list[str]


class _Member(NamedTuple):
    name: str
    size: int
    fault: str | None  # why there is nothing to unpack
    changed: float | None
    open: Callable[[], IO[bytes] | None]


def is_archive(path: Path) -> bool:
    """Whether a file is one that `extract` takes, by what is in it."""
    fits = path.suffix.lower() in _PACKED or ".zip" in path.name.lower()
    if not fits:
        return False
    with contextlib.suppress(OSError, *_DAMAGED):
        return kind_of(path) == "a zip" or tarfile.is_tarfile(path)
    return False


@dataclass
class _Room:
    """What may still come, in an archive and all that are in it."""

    files: int
    total: int


def extract(
    archive: Path, target: Path, limits: ArchiveLimits | None = None, room: _Room | None = None
) -> Unpacked:
    """Unpack a zip or tar, and the archives in it, into a new folder: all of it or nothing.

    Args:
        archive: the file.
        target: a folder that does not exist yet, or is empty.
        limits: how much may be in it.
        room: what may still come of that, for an archive in another.

    Raises:
        BadArchive: it is none, is damaged, encrypted, or holds more than the limits allow; `target`
            is then as it was before.
    """
    limits = limits or ArchiveLimits()
    room = room or _Room(limits.files, limits.total)
    shown = visible(archive.name)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".unpacking-", dir=target.parent) as folder:
        place = Path(folder) / "files"
        place.mkdir()
        try:
            unpacked = _unpack(archive, place, limits, room)
        # RuntimeError: a version or a kind of packing that Python does not know
        except (*_DAMAGED, ValueError, RuntimeError) as error:
            raise BadArchive(f"{shown} is damaged or no zip. Hand it in again.") from error
        if target.is_dir():
            target.rmdir()  # refuses a folder with something in it
        place.rename(target)
    files = [(name, target / path.relative_to(place)) for name, path in unpacked.files]
    return Unpacked(files, unpacked.remarks)


def _unpack(archive: Path, place: Path, limits: ArchiveLimits, room: _Room) -> Unpacked:
    shown = visible(archive.name)
    remarks: list[str] = []
    files: list[tuple[str, Path]] = []
    taken: set[str] = set()
    with contextlib.closing(_members(archive)) as members:
        for member in members:
            room.files -= 1
            room.total -= member.size
            if room.files < 0:
                raise BadArchive(
                    f"{shown} holds more than {limits.files} files. Hand in only what the"
                    " assignment asks for."
                )
            if room.total < 0:
                raise BadArchive(
                    f"{shown} unpacks to more than {limits.total // 1024**2} MB, which is no"
                    " homework: nothing of it was taken."
                )
            path = safe(member.name)
            if path is None or LITTER & set(path.parts) or path.name.startswith("._"):
                continue
            if path.suffix.lower() == ".ipynb":  # a hidden notebook is one as well
                path = PurePosixPath(*(part.lstrip(".") for part in path.parts))
            if member.fault is not None:
                remarks.append(f"{visible(member.name)} {member.fault}; it was left out.")
                continue
            source = member.open()
            if source is None:
                continue
            file = place / _free(path, taken)
            file.parent.mkdir(parents=True, exist_ok=True)
            with source, file.open("xb") as copy:
                shutil.copyfileobj(source, copy)
            if member.changed is not None:
                with contextlib.suppress(OverflowError):  # a time that no clock shows
                    os.utime(file, (member.changed, member.changed))
            files.append((member.name, file))
    earlier = [(name, file) for name, file in files if CHECKPOINTS in Path(name).parts]
    if any(file.suffix == ".ipynb" for _, file in {*files} - {*earlier}):
        for one in earlier:
            one[1].unlink()
            with contextlib.suppress(OSError):  # a folder of that name without a dot is no litter
                one[1].parent.rmdir()
            files.remove(one)
    if limits.nested:
        inner = replace(limits, nested=limits.nested - 1)
        for file in [file for _, file in files if is_archive(file)]:
            folder = file.with_name(f"{file.name} unpacked")
            try:
                remarks += extract(file, folder, inner, room).remarks
                file.unlink()
            except BadArchive as error:  # the file stays, for a person to look at
                remarks.append(str(error))
    return Unpacked(files, remarks)


def _members(archive: Path) -> Generator[_Member, None, None]:
    """The files of a zip or tar."""
    if not zipfile.is_zipfile(archive):
        with tarfile.open(archive) as packed:
            for entry in packed:
                fault = None if entry.isfile() or entry.isdir() else "is a link or no plain file"
                # of a folder there is nothing to read
                read = partial(packed.extractfile, entry)
                yield _Member(entry.name, entry.size, fault, float(entry.mtime), read)
            # Python takes a header that it cannot read for the end.
            packed.fileobj.seek(packed.offset)
            if packed.fileobj.read(tarfile.BLOCKSIZE).strip(b"\0"):
                raise tarfile.ReadError("damaged")
        return
    shown = visible(archive.name)
    with zipfile.ZipFile(archive) as opened:
        for info in opened.infolist():
            if info.flag_bits & 0x1:
                raise BadArchive(f"{shown} is encrypted. Hand it in without a password.")
            if info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
                raise BadArchive(f"{shown} is packed in an unusual way. Hand in an ordinary zip.")
            kind = stat.S_IFMT(info.external_attr >> 16)
            fault = None if kind in {0, stat.S_IFREG, stat.S_IFDIR} else "is no plain file"
            if kind == stat.S_IFLNK:
                fault = "is a link"
            try:
                changed: float | None = time.mktime((*info.date_time, 0, 0, -1))
            except (ValueError, OverflowError):  # a thirteenth month
                changed = None
            yield _Member(
                *(info.filename, info.file_size, fault, changed),
                partial(opened.open, info) if not info.is_dir() else lambda: None,
            )


def safe(name: str) -> PurePosixPath | None:
    """What an entry can be called anywhere: its name without the ways out of its folder."""
    parts = []
    for part in re.split(r"[/\\]", re.sub(r"^[A-Za-z]:", "", name)):
        text = re.sub(r'[?*:"<>|]', "_", visible(part, len(part))).strip()
        stem, suffix = os.path.splitext(text)
        if len(text.encode()) > _LONGEST:
            text = stem.encode()[: _LONGEST - 40].decode(errors="ignore") + suffix[:10]
        if text not in ("", ".", ".."):
            parts.append(text)
    return PurePosixPath(*parts[-_DEEPEST:]) if parts else None


def _free(path: PurePosixPath, taken: set[str]) -> PurePosixPath:
    """This name, or with a number if it is taken: by one that elsewhere would be the same, too."""

    def key(one: PurePosixPath) -> str:
        return unicodedata.normalize("NFC", str(one)).casefold()

    if any(f"file {key(parent)}" in taken for parent in path.parents):
        path = PurePosixPath(path.name)  # a file stands where its folder would be
    numbered = (path.with_name(f"{path.stem} ({n}){path.suffix}") for n in itertools.count(2))
    free = next(
        one
        for one in itertools.chain([path], numbered)
        if not {f"file {key(one)}", f"folder {key(one)}"} & taken
    )
    taken.add(f"file {key(free)}")
    taken.update(f"folder {key(parent)}" for parent in free.parents)
    return free
