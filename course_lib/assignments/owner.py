"""Whose work it is: the name that numbers are drawn from, and the name a submission came under.

Some parts of an assignment have numbers of each student's own, so that a neighbour's answers are
no use. They are drawn from the id the student types; the grader knows who handed the notebook in
and leaves the name in a file beside it, where `owner` finds it.
"""

import hashlib
import random
import re
import unicodedata
from pathlib import Path

FILE = ".owner"
"""Its name in the folder where a graded notebook runs: one id, or those of a group, a line each.
What a student puts there is left out."""
LONGEST = 100
_TYPED = dict(zip(map(ord, "\a\b\f\n\r\t\v"), (rf"\{letter}" for letter in "abfnrtv"), strict=True))
"""Of a login such as UNI\\nina Python makes a line end, where somebody types it into a string."""


def owner() -> str | None:
    """Who handed in the notebook that is being graded; None while a student works on it."""
    try:
        return Path(FILE).read_text(encoding="utf-8").strip() or None
    except OSError:
        return None


def same(one: object, other: object) -> bool:
    """Whether what was typed is this id, or one of these if there is one a line."""
    return normalised_id(one) in {normalised_id(line) for line in str(other).split("\n")}


def seed(student_id: str) -> int:
    """A whole number below 2**31 that is this student's: the same on every machine."""
    digest = hashlib.sha256(normalised_id(student_id).encode()).digest()
    return int.from_bytes(digest[:4], "big") % 2**31


def draw(student_id: str) -> random.Random:
    """A generator of this student's own numbers.

    Python promises the same sequence for the same seed only for `random()`: draw with that.
    """
    return random.Random(seed(student_id))


def as_folder(student_id: object) -> str:
    """An id as a folder can be called: all but letters, digits and `.@+-_` is written as a dash."""
    text = unicodedata.normalize("NFC", str(student_id)).strip().translate(_TYPED)
    return re.sub(r"[^\w.@+-]+", "-", text).strip(".-")[:LONGEST].rstrip(".-")


def normalised_id(student_id: object) -> str:
    """What all spellings of an id have in common: a folder's name made of it is one of them."""
    return as_folder(as_folder(student_id).casefold())
