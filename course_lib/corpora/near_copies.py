"""How near one text comes to another, found among many texts at once.

The nearness of two texts is the share of their word pairs that they have in common: twice the
number of different neighbouring words that both have, over the sum of what each has (Dice's
coefficient). Case and punctuation do not count, the two ends of a text do. In a text of twenty
words one other word costs a tenth.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import regex
from numpy.typing import NDArray

_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+|□")


def normalised_text(text: str) -> str:
    """A text's words in one case between single spaces, without punctuation."""
    return " ".join(_WORD.findall(text.casefold()))


def nearness(texts: Sequence[str], others: Sequence[str]) -> Iterator[NDArray[np.float64]]:
    """For each text in turn its nearness, 0 to 1, to each of the others: (len(others),)."""
    wanted = [_word_pairs(text) for text in texts]
    known = set[tuple[str, str]]().union(*wanted)
    having: dict[tuple[str, str], list[int]] = {pair: [] for pair in known}
    sizes = np.zeros(len(others))
    for place, other in enumerate(others):
        pairs = _word_pairs(other)
        sizes[place] = len(pairs)
        for pair in pairs & known:
            having[pair].append(place)
    lists = {pair: np.array(places, dtype=np.int64) for pair, places in having.items()}
    for pairs in wanted:
        shared = np.bincount(np.concatenate([lists[p] for p in pairs]), minlength=len(others))
        yield 2 * shared / (sizes + len(pairs))


def _word_pairs(text: str) -> set[tuple[str, str]]:
    words = ["<", *normalised_text(text).split(), ">"]
    return set(pairwise(words))
