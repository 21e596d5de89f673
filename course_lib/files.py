"""Writing and checking files so that nothing half-written is ever left behind."""

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

TEMPORARY = ".half"
"""How the name of a file that is being written ends."""


def write_atomically(
    path: Path | str,
    data: bytes | str,
    previous: Path | str | None = None,
    private: bool = False,
) -> None:
    """Write `data` to `path` at once: a reader, or a kill at any moment, sees all or nothing of it.

    The bytes go to a temporary file in the same folder, reach the disk, and only then take the
    name. What had the name before takes that of `previous`, if one is given; a kill between the two
    leaves that one alone. A `private` file can be read by nobody else on the machine.

    Raises:
        OSError: the disk is full, or the folder cannot be written; the file is as it was before,
            and the error names it.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    payload = data.encode() if isinstance(data, str) else data
    try:
        _write(path, payload, previous, private)
    except OSError as error:
        error.filename = str(path)  # and not the temporary file, or none at all
        raise


def _write(path: Path, payload: bytes, previous: Path | str | None, private: bool) -> None:
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}{TEMPORARY}")
    opener = partial(os.open, mode=0o600) if private else None
    try:
        with open(temporary, "xb", opener=opener) as stream:
            stream.write(payload)
            stream.flush()
            os.fsync(stream.fileno())
        if previous is not None and path.exists():
            os.replace(path, previous)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def private_files() -> Iterator[None]:
    """Files and folders that this process makes meanwhile can be read by nobody else."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def remove_unfinished(folder: Path) -> None:
    """Delete the temporary files of writes that were killed; nobody else may be writing there."""
    for leftover in folder.glob(f".*{TEMPORARY}"):
        leftover.unlink(missing_ok=True)


def copy_files(files: Mapping[str, Path], folder: Path) -> None:
    """Copies of files below a folder, which is made: relative name -> path."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, path in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, folder / name)


def read_object(path: Path) -> dict[str, Any]:
    """The object that a JSON file holds; an empty one where there is no file."""
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}


def cached(path: Path, make: Callable[[], bytes]) -> bytes:
    """What `make` makes, from its copy at `path` where that is undamaged; else made and kept there.

    The copy's first line is the SHA-256 of the rest.
    """
    with suppress(OSError):
        seal, _, body = path.read_bytes().partition(b"\n")
        if seal == hashlib.sha256(body).hexdigest().encode():
            return body
    body = make()
    # A cache that cannot be written, as in a sandbox, costs the next load its seconds only.
    with suppress(OSError):
        write_atomically(path, hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
    return body


def sha256_of(path: Path | str) -> str:
    """The SHA-256 of a file's bytes, as 64 hexadecimal digits."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
