"""Unpacking a zip that somebody handed in, whatever is in it.

An archive says itself how large its files are and where they belong, and may lie about both. Names
are checked before they touch the disk. Sizes are added up before anything is unpacked; `zipfile`
reads no byte of a file beyond the size that the archive gives, so a lie makes a damaged file.
"""

import shutil
import stat
import struct
import tempfile
import unicodedata
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from course_lib.errors import CourseError
from course_lib.grading.wording import visible


@dataclass(frozen=True)
class Limits:
    """How much an archive may hold. More than that is no homework.

    Attributes:
        archive: bytes of the archive itself.
        files: entries, folders included.
        total: bytes of all files, unpacked.
        ratio: how many times larger than the archive its files may be, beyond the first `free`
            bytes: text shrinks to a tenth, a bomb to a thousandth.
        free: bytes that may be unpacked whatever the ratio.
        depth: folders within folders.
        name: characters of a name, folders included.
    """

    archive: int = 100 * 1024**2
    files: int = 1000
    total: int = 200 * 1024**2
    ratio: int = 100
    free: int = 10 * 1024**2
    depth: int = 8
    name: int = 200


class BadArchive(CourseError):
    """Nothing of this archive was unpacked. Its text says why, in a line for the report."""


def extract(archive: Path, target: Path, limits: Limits | None = None) -> list[str]:
    """Unpack a zip into a new folder, all of it or nothing.

    Args:
        archive: the zip.
        target: a folder that does not exist yet, or is empty.
        limits: how much may be in it.

    Returns:
        One line for each entry that was left out: links, names that lead out of the folder.

    Raises:
        BadArchive: it is no zip, is damaged, encrypted, or holds more than the limits allow;
            `target` is then as it was before.
    """
    limits = limits or Limits()
    if archive.stat().st_size > limits.archive:
        raise BadArchive(
            f"{visible(archive.name)} is larger than {limits.archive // 1024**2} MB. Hand in only"
            " what the assignment asks for."
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    place = Path(tempfile.mkdtemp(prefix=".unpacking-", dir=target.parent))
    try:
        with zipfile.ZipFile(archive) as opened:
            remarks = _unpack(opened, archive, place, limits)
        if target.is_dir():
            target.rmdir()  # refuses a folder with something in it
        place.rename(target)
    # RuntimeError: a version or a kind of packing that Python does not know
    except (
        zipfile.BadZipFile,
        zlib.error,
        struct.error,
        EOFError,
        ValueError,
        RuntimeError,
    ) as error:
        kind = type(error).__name__
        raise BadArchive(
            f"{visible(archive.name)} is damaged or no zip ({kind}). Hand it in again."
        ) from error
    finally:
        shutil.rmtree(place, ignore_errors=True)
    target.chmod(0o755)
    return remarks


def _unpack(opened: zipfile.ZipFile, archive: Path, place: Path, limits: Limits) -> list[str]:
    entries = opened.infolist()
    shown = visible(archive.name)
    if len(entries) > limits.files:
        raise BadArchive(
            f"{shown} holds {len(entries)} files; the limit is {limits.files}. Hand in only what"
            " the assignment asks for."
        )
    allowed = min(limits.total, max(limits.free, limits.ratio * archive.stat().st_size))
    if sum(entry.file_size for entry in entries) > allowed:
        raise BadArchive(
            f"{shown} unpacks to more than {allowed // 1024**2} MB, which is no homework: nothing"
            " of it was taken."
        )
    remarks, taken = [], set()
    for entry in entries:
        fault = _fault(entry, limits)
        path = PurePosixPath(entry.filename)
        # two names that differ in nothing but case or accents' spelling are one file elsewhere
        key = unicodedata.normalize("NFC", str(path)).casefold()
        if fault is None and not entry.is_dir() and key in taken:
            fault = "is in the archive twice; the first counts"
        if fault is not None:
            remarks.append(f"{visible(entry.filename)} {fault}; it was left out.")
            continue
        if entry.flag_bits & 0x1:
            raise BadArchive(f"{shown} is encrypted. Hand it in without a password.")
        if entry.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
            raise BadArchive(f"{shown} is packed in an unusual way. Hand in an ordinary zip.")
        if entry.is_dir():
            continue
        taken.add(key)
        file = place / path
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with opened.open(entry) as source, file.open("xb") as copy:
                shutil.copyfileobj(source, copy)
        except (FileExistsError, NotADirectoryError):
            name = visible(entry.filename)
            remarks.append(f"{name} is a file and a folder at once; it was left out.")
    return remarks


def _fault(entry: zipfile.ZipInfo, limits: Limits) -> str | None:
    """Why an entry is not unpacked."""
    name = entry.filename
    parts = PurePosixPath(name).parts
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind == stat.S_IFLNK:
        return "is a link"
    if kind not in {0, stat.S_IFREG, stat.S_IFDIR}:
        return "is no plain file"
    if name.startswith(("/", "\\")) or ".." in parts or "\\" in name or ":" in name:
        return "leads out of its folder"
    if len(name) > limits.name or any(len(part.encode()) > 255 for part in parts):
        return "has a name that is too long"
    if not parts or visible(name, limits.name) != name:
        return "has a name with invisible characters"
    if len(parts) > limits.depth:
        return "lies too many folders deep"
    return None
