"""Whose work it is: the name that numbers are drawn from, and the name a submission came under.

Some parts of an assignment have numbers of each student's own, so that a neighbour's answers are
no use. They are drawn from the id the student types; the grader knows who handed the notebook in
and leaves the name in a file beside it, where `owner` finds it.
"""

import hashlib
import random
from pathlib import Path

FILE = ".owner"
"""Its name in the folder where a graded notebook runs. What a student puts there is left out."""


def owner() -> str | None:
    """Who handed in the notebook that is being graded; None while a student works on it."""
    try:
        return Path(FILE).read_text(encoding="utf-8").strip() or None
    except OSError:
        return None


def same(one: object, other: object) -> bool:
    """Whether two spellings are one id: capitals and spaces around it do not matter."""
    return normalised(one) == normalised(other)


def seed(student_id: str) -> int:
    """A whole number below 2**31 that is this student's: the same on every machine."""
    digest = hashlib.sha256(normalised(student_id).encode()).digest()
    return int.from_bytes(digest[:4], "big") % 2**31


def draw(student_id: str) -> random.Random:
    """A generator of this student's own numbers.

    Python promises the same sequence for the same seed only for `random()`: draw with that.
    """
    return random.Random(seed(student_id))


def normalised(student_id: object) -> str:
    """An id without what people type differently from one time to the next."""
    return str(student_id).strip().casefold()
