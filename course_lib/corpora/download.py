"""Fetching one published file: tried again where the network fails, checked before it is kept.

The largest of them has seven megabytes, so a transfer that breaks begins anew; the files that have
arrived before it stay.
"""

import hashlib
import time
import urllib.request
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError

from filelock import FileLock

from course_lib.errors import CourseError
from course_lib.files import write_atomically

TIMEOUT_SECONDS = 30.0
ATTEMPTS = 3
PAUSE_SECONDS = 0.5
"""Before the second attempt; twice as long before each further one."""


def download(url: str, path: Path, published: str | Callable[[bytes], bool]) -> None:
    """Fetch `url` to `path`, which appears only once its bytes have been checked.

    `published` is their SHA-256, or says of bytes whether they are what was published.

    Interrupted transfers and servers in trouble are tried again; a refusal (404 and its like) and
    wrong bytes are not. Processes that want the same file at once take turns, and the later ones
    find it there.

    Raises:
        CourseError: one line that says what went wrong; the caller adds the remedy it knows.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(path.with_name(f".{path.name}.lock")):
            if not (path.is_file() and _as_published(path.read_bytes(), published)):
                write_atomically(path, _fetched(url, published))
    except OSError as error:
        raise CourseError(f"Cannot write {path}: {error.strerror or error}.") from error


def _as_published(data: bytes, published: str | Callable[[bytes], bool]) -> bool:
    if callable(published):
        return published(data)
    return hashlib.sha256(data).hexdigest() == published


def _fetched(url: str, published: str | Callable[[bytes], bool]) -> bytes:
    """The bytes of the file."""
    reason = ""
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(PAUSE_SECONDS * 2 ** (attempt - 1))
        try:
            with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as response:
                data: bytes = response.read()
        except HTTPError as error:
            error.close()
            reason = f"the server answered {error.code} {error.reason}"
            if error.code < 500 and error.code not in (408, 429):
                break
        except (HTTPException, OSError) as error:
            reason = str(getattr(error, "reason", error)) or type(error).__name__
        else:
            if _as_published(data, published):
                return data
            reason = "the server sent other bytes than those published (the SHA-256 differs)"
            break
    raise CourseError(f"Cannot download {url}: {reason}.")
