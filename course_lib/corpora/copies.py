"""Sentences that are the same but for what a reader hardly sees, and what they tie together.

A test sentence that was trained on measures memory. So a text is split by its sentences without
case, punctuation, spaces and Unicode's other forms, and pairs that share a side stay together.
"""

import hashlib
import unicodedata
from collections.abc import Mapping

import numpy as np
import regex
from numpy.typing import NDArray

from course_lib.corpora.corpus import Corpus

Hashes = NDArray[np.uint64]
_WORDS = regex.compile(r"[\p{L}\p{M}\p{N}]+")


def key(line: str) -> str:
    """What near copies of a sentence have in common: its letters and digits, in lower case."""
    plain = unicodedata.normalize("NFKC", line).casefold()
    return " ".join(_WORDS.findall(plain)) or plain.strip()


def fingerprint(line: str, language: str) -> int:
    """A hash of a sentence's key in its language, 8 bytes."""
    digest = hashlib.blake2b(f"{language}\t{key(line)}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big")


def groups(hashes: Hashes) -> Hashes:
    """Pairs that share a side, themselves or over others, by one number a group.

    Args:
        hashes: (pairs, 2), the fingerprints of both sides.

    Returns:
        (pairs,), evenly spread, and the same in whatever order the pairs and the sides come.
    """
    sides = [np.unique(column, return_inverse=True)[1] for column in hashes.T]
    label = hashes.min(axis=1)
    while True:
        before = label
        for side in sides:
            least = np.full(len(label), np.iinfo(np.uint64).max, dtype=np.uint64)
            np.minimum.at(least, side, label)
            label = least[side]
        if (label == before).all():
            break
    # The least of many hashes is small: spread again (the finaliser of SplitMix64, Steele 2014).
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        label = (label ^ (label >> np.uint64(shift))) * np.uint64(factor)
    return label


def copied(hashes: Mapping[str, Hashes]) -> dict[str, int]:
    """By split how many of its sources, or near copies, are in training; only those above 0.

    `hashes` are each split's fingerprints, (pairs, 2).
    """
    sources = hashes["train"][:, 0]
    counts = {x: np.count_nonzero(np.isin(y[:, 0], sources)) for x, y in hashes.items()}
    return {split: int(count) for split, count in counts.items() if count and split != "train"}


def copies(corpus: Corpus) -> Mapping[str, int]:
    """What `copied` says of a corpus, counted here where reading its text has not.

    Sentences that a generator made are not counted.
    """
    if corpus.copies or "train" not in corpus.splits or "generator" in corpus.sha256:
        return corpus.copies
    keys = {split: [key(" ".join(x)) for x in part.source] for split, part in corpus.splits.items()}
    train = set(keys.pop("train"))
    counts = {split: sum(one in train for one in lines) for split, lines in keys.items()}
    return {split: count for split, count in counts.items() if count}


def said(corpus: Corpus) -> dict[str, str]:
    """The same in words, by split."""
    return {
        split: f"{count:,} of the {len(corpus.splits[split]):,} sources of {split}, or near copies "
        "of them, are trained on"
        for split, count in copies(corpus).items()
    }
