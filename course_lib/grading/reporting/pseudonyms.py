"""Other names for students, so that results can be shown around.

A name is made from the student's id with a secret key that lies beside the gradebook: the same in
every report of a class, and of no use to anybody without the key. `pseudonyms.csv`, beside it as
well, is the list for whoever keeps the gradebook.
"""

import csv
import hashlib
import hmac
import io
import json
import os
import re
import secrets
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path

from course_lib.errors import CourseError

KEY, TABLE = "pseudonyms.key", "pseudonyms.csv"

_WORDS: dict[str, list[str]] = json.loads(
    files(__package__).joinpath("pseudonyms.json").read_text(encoding="utf-8")
)


def pseudonyms(place: Path, students: Iterable[str]) -> dict[str, str]:
    """A name for each student of a class: student id -> pseudonym; written down for the teacher.

    Args:
        place: the folder of the gradebook, where the key lies or is made.
        students: the ids.

    Raises:
        CourseError: the key is damaged.
    """
    key = _key(place)
    names: dict[str, str] = {}
    for student in sorted(set(students)):
        names[student] = _name(key, student)
    if len(set(names.values())) < len(names):
        twice = {name for name in names.values() if list(names.values()).count(name) > 1}
        for student, name in names.items():
            if name in twice:
                names[student] = f"{name}-{_digest(key, student).hex()[-6:]}"
    table = io.StringIO()
    csv.writer(table, lineterminator="\n").writerows([("student", "pseudonym"), *names.items()])
    _write_private(place / TABLE, table.getvalue())
    return names


def disguise(text: str, names: Mapping[str, str]) -> str:
    """The text with every known id, name or address in it replaced, in whatever case.

    A short one (two letters, a small number) is replaced where it stands by itself only.
    """
    known = {one.casefold(): other for one, other in names.items() if one.strip()}
    if not known:
        return text
    # the longest first: an id may be part of an address
    pattern = "|".join(
        re.escape(one) if len(one) >= 4 else rf"(?<![^\W_]){re.escape(one)}(?![^\W_])"
        for one in sorted(known, key=len, reverse=True)
    )
    return re.sub(
        pattern,
        lambda found: known.get(found[0].casefold(), "a student"),
        text,
        flags=re.IGNORECASE,
    )


def _key(place: Path) -> bytes:
    path = place / KEY
    if not path.is_file():
        _write_private(path, secrets.token_hex(32) + "\n")
    try:
        key = bytes.fromhex(path.read_text().strip())
    except ValueError as error:
        raise CourseError(
            f"{path} is damaged. Restore it, or delete it to give everybody a new pseudonym."
        ) from error
    if len(key) < 16:
        raise CourseError(f"{path} is too short. Delete it to give everybody a new pseudonym.")
    return key


def _digest(key: bytes, student: str) -> bytes:
    return hmac.new(key, student.encode(), hashlib.sha256).digest()


def _name(key: bytes, student: str) -> str:
    digest = _digest(key, student)
    first, second = _WORDS["first"], _WORDS["second"]
    number = int.from_bytes(digest[2:4], "big") % 1000
    return f"{first[digest[0] % len(first)]}-{second[digest[1] % len(second)]}-{number:03d}"


def _write_private(path: Path, text: str) -> None:
    """A file that nobody else on the machine reads."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w") as stream:
        stream.write(text)
    temporary.replace(path)
