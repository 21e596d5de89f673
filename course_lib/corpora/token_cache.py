"""Tokens of a text that was split before, kept because Moses' rules take seconds in Python."""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tqdm import tqdm

from course_lib.files import write_atomically


def cached_tokens(
    entry: Path, lines: list[str], tokenize: Callable[[str], list[str]]
) -> list[list[str]]:
    """The lines' tokens, from the file `entry` where it is undamaged; else split, and kept there.

    The name of `entry` belongs to these lines and to how they are split.
    """
    with suppress(OSError):
        seal, _, body = entry.read_bytes().partition(b"\n")
        if seal == hashlib.sha256(body).hexdigest().encode():
            return [line.split() for line in body.decode("utf-8").split("\n")]
    tokens = [
        tokenize(line)
        for line in tqdm(lines, desc=f"tokenising for {entry.name}", leave=False, disable=None)
    ]
    body = "\n".join(" ".join(sentence) for sentence in tokens).encode()
    # A cache that cannot be written, as in a sandbox, costs the next load its seconds and no more.
    with suppress(OSError):
        write_atomically(entry, hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
    return tokens
