"""Which words a run has seen in training, small enough to travel with it into a page."""

from collections.abc import Iterable
from itertools import chain

import numpy as np

from course_lib.errors import CourseError
from course_lib.training import Run

SEEN = "seen.bin"
"""The file of a published model that holds them, since the data do not come with the library."""
BYTES = 3
"""Of a word's hash: of a thousand words never seen, one or two are taken for another of 10,000."""


def seen_words(run: Run) -> bytes:
    """Hashes of the source words of the run's training, sorted, three bytes each.

    Nothing where neither the model nor this machine has them: a stream, or data not fetched.
    """
    file = run.path / SEEN
    if file.is_file():
        return file.read_bytes()
    try:
        corpus = run.config.load_corpus()
    except CourseError:
        return b""
    return b"" if corpus.stream else hashes(chain.from_iterable(corpus.splits["train"].source))


def hashes(words: Iterable[str]) -> bytes:
    """The hashes of the words, each once."""
    known = sorted({word_hash(word) for word in set(words)})
    return b"".join(one.to_bytes(BYTES, "big") for one in known)


def word_hash(word: str) -> int:
    """The last 24 bits of FNV-1a of 32 bits over the word's UTF-8 (Fowler, Noll and Vo)."""
    value = 0x811C9DC5
    for byte in word.encode():
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value & (1 << 8 * BYTES) - 1


def is_seen(word: str, known: bytes) -> bool:
    """Whether a word's hash is among those of `seen_words`; every word's is, among none."""
    rows = np.frombuffer(known, dtype=np.uint8).reshape(-1, BYTES)
    wanted = np.frombuffer(word_hash(word).to_bytes(BYTES, "big"), dtype=np.uint8)
    return not known or bool((rows == wanted).all(axis=1).any())
