"""Folders for a moment, gone even after a kill: the next to make such a folder clears them away.

Each holds a file that its owner keeps locked; the system unlocks it when the owner ends, however it
ends.
"""

import contextlib
import fcntl
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

PREFIX = "course-g-"
MARK = ".in-use"
TOP = Path("/tmp")
"""A short path: the names of a kernel's sockets may have 107 characters."""

FRESH_SECONDS = 60


@contextlib.contextmanager
def held_folder() -> Iterator[Path]:
    """A new folder that is deleted at the end."""
    remove_leftovers()
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=TOP))
        with (folder / MARK).open("w") as mark:
            fcntl.flock(mark, fcntl.LOCK_EX)
            if not (folder / MARK).exists():
                continue  # somebody who clears away came between making and locking it
            try:
                yield folder
            finally:
                remove(folder)
            return


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """The same, and whatever this process makes temporarily lies in it meanwhile."""
    before = tempfile.tempdir
    with held_folder() as folder:
        tempfile.tempdir = str(folder)
        try:
            yield folder
        finally:
            tempfile.tempdir = before


def remove(folder: Path) -> None:
    """Delete a folder, however deep it is: Python's own way down has an end."""
    subprocess.run(["rm", "-rf", "--", folder], check=False, stderr=subprocess.DEVNULL)


def remove_leftovers() -> None:
    """Delete the folders of processes that were killed."""
    for folder in TOP.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            about = folder.lstat()
            if about.st_uid != os.geteuid() or not folder.is_dir() or folder.is_symlink():
                continue
            mark = folder / MARK
            if not mark.is_file():  # a moment passes between making a folder and marking it
                if time.time() - about.st_mtime > FRESH_SECONDS:
                    folder.rmdir()
                continue
            with mark.open("w") as stream:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove(folder)
