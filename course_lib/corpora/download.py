"""Fetching one published file: resumed where it stopped, checked before it takes its name."""

import os
import ssl
import time
import urllib.error
import urllib.request
from http.client import HTTPException, HTTPResponse
from pathlib import Path

from filelock import FileLock
from tqdm import tqdm

from course_lib.errors import CourseError
from course_lib.files import sha256_of

TIMEOUT_SECONDS = 30.0
CHUNK_BYTES = 1 << 16


def download(
    url: str, path: Path, sha256: str, *, attempts: int = 3, pause_seconds: float = 0.5
) -> None:
    """Fetch `url` to `path`, which appears only once its SHA-256 has been checked.

    What has arrived so far is kept beside it as `NAME.part`, and the next attempt, in this call or
    a later one, asks for the rest alone (HTTP Range). Interrupted transfers and servers in trouble
    are tried again after a pause that doubles; a refusal (404 and its like) and wrong bytes are
    not. Processes that want the same file at once take turns, and the later ones find it there.
    Raises CourseError, one line, that says what went wrong; the caller adds the remedy it knows.
    """
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(path.with_name(f".{path.name}.lock")):
            if path.is_file() and sha256_of(path) == sha256:
                return
            reason = _fetch(url, part, sha256, attempts, pause_seconds)
            if not reason:
                os.replace(part, path)
                return
    except OSError as error:
        raise CourseError(f"Cannot write {part}: {error.strerror or error}.") from error
    raise CourseError(f"Cannot download {url}: {reason}.")


def _fetch(url: str, part: Path, sha256: str, attempts: int, pause_seconds: float) -> str:
    """Complete `part` and check its bytes; returns why that failed, "" where it did not."""
    reason = ""
    for attempt in range(attempts):
        if attempt:
            time.sleep(pause_seconds * 2 ** (attempt - 1))
        resumed = part.exists()
        reason, worth_retrying = _attempt(url, part)
        if not reason:
            if sha256_of(part) == sha256:
                return ""
            part.unlink()
            reason = "the server sent other bytes than those published (the SHA-256 differs)"
            # A beginning left by an earlier call may be to blame: once more, from the start.
            worth_retrying = resumed
        if not worth_retrying:
            break
    return reason


def _attempt(url: str, part: Path) -> tuple[str, bool]:
    """One transfer: ("", ...) where it is complete, else what went wrong and whether to retry."""
    try:
        return _transfer(url, part), True
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 416:  # more bytes are here than the file has: not a beginning of it
            part.unlink(missing_ok=True)
        again = error.code >= 500 or error.code in (408, 416, 429)
        return f"the server answered {error.code} {error.reason}", again
    except urllib.error.URLError as error:
        return str(error.reason), True
    except (HTTPException, TimeoutError, ConnectionError, ssl.SSLError) as error:
        return str(error) or type(error).__name__, True


def _transfer(url: str, part: Path) -> str:
    """Bring `part` up to the file's full length; returns why it fell short, "" where it did not."""
    have = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
        start = have if _continues(response, have) else 0
        length = response.headers.get("Content-Length")
        total = start + int(length) if length is not None else None
        with (
            open(part, "ab" if start else "wb") as stream,
            tqdm(
                total=total, initial=start, unit="B", unit_scale=True, desc=part.stem, disable=None
            ) as bar,
        ):
            arrived = start
            while chunk := response.read(CHUNK_BYTES):
                stream.write(chunk)
                bar.update(len(chunk))
                arrived += len(chunk)
    if total is not None and arrived < total:
        return f"the connection broke after {arrived:,} of {total:,} bytes"
    return ""


def _continues(response: HTTPResponse, have: int) -> bool:
    """Whether the server sends the rest from byte `have` on; some send the whole file again."""
    content_range = response.headers.get("Content-Range", "")
    return response.status == 206 and content_range.startswith(f"bytes {have}-")
