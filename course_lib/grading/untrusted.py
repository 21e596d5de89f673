"""What somebody else wrote or pasted, made fit for a report."""

import base64
import binascii
import unicodedata
from typing import Any

MOST_REPEATED = 80
"""Characters of a foreign name or message that a remark repeats."""
TURNING = r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""Characters that turn the direction of writing, so that a line reads otherwise than it runs: a
range of regular expressions."""
LARGEST_PICTURE = 5 * 1024**2
"""Bytes."""


def visible(text: str, longest: int = MOST_REPEATED) -> str:
    """`text` in one line with nothing hidden in it.

    Terminal sequences, line ends and characters that turn the direction of writing would let a
    file's name or an error's message write the grader's report; they become question marks.
    """
    hidden = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
    shown = "".join(
        "?" if unicodedata.category(character) in hidden else character
        for character in text[: longest + 1]
    )
    return shown if len(text) <= longest else shown[: longest - 1] + "…"


def is_picture(kind: str, data: Any) -> bool:
    """Whether `data` is base64, of a format and a size that pages show."""
    if kind not in {"image/png", "image/jpeg", "image/gif", "image/webp"} or not isinstance(
        data, str
    ):
        return False
    try:
        return len(base64.b64decode("".join(data.split()), validate=True)) <= LARGEST_PICTURE
    except (binascii.Error, ValueError):
        return False
