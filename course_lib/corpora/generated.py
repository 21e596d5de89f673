"""What the generated corpora share: whose split a sentence is, and how splits are filled."""

import hashlib
from collections.abc import Callable, Iterator
from random import Random
from typing import NamedTuple

from course_lib.corpora.corpus import Corpus, Link, Split
from course_lib.errors import CourseError

PATIENCE = 20_000
"""After so many sentences in a row, none of them new for a split that is not full, it gives up."""


class SentencePair(NamedTuple):
    """Source tokens, target tokens and gold links (source position, target position)."""

    source: list[str]
    target: list[str]
    links: frozenset[Link]

    def swapped(self) -> "SentencePair":
        """The same pair in the other direction."""
        return SentencePair(self.target, self.source, frozenset((j, i) for i, j in self.links))


def split_of(sentence: str) -> str:
    """The split of a source sentence, whatever the seed: 80% train, 10% val, 10% test."""
    remainder = _number(sentence) % 100
    return "train" if remainder < 80 else "val" if remainder < 90 else "test"


def random_stream(name: str, seed: int) -> Random:
    """Random numbers far from those of the neighbouring seeds and of the other corpora."""
    return Random(_number(f"{name}:{seed}"))


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def generated_corpus(
    name: str,
    pair: str,
    stream: Iterator[SentencePair],
    sizes: dict[str, int],
    parameters: dict[str, object],
    detokenize: Callable[[list[str]], str],
    swap: bool = False,
) -> Corpus:
    """A corpus of distinct sentence pairs, in the order in which an endless stream brings them.

    Every split is a prefix of what its seed has: asking for more never changes the first ones.
    `swap` exchanges the sides after the splits are decided. Raises CourseError when the stream
    brings no new sentence any more for a split that is not full.
    """
    filled: dict[str, list[SentencePair]] = {split: [] for split in sizes}
    seen: set[str] = set()
    waited = 0
    while any(len(filled[split]) < size for split, size in sizes.items()):
        drawn = next(stream)
        text = " ".join(drawn.source)
        split = split_of(text)
        waited += 1
        if len(filled[split]) < sizes[split] and text not in seen:
            seen.add(text)
            filled[split].append(drawn.swapped() if swap else drawn)
            waited = 0
        if waited == PATIENCE:
            counts = ", ".join(f"{len(filled[one])} of {size} {one}" for one, size in sizes.items())
            raise CourseError(
                f"There are too few different sentences of these lengths ({counts}). "
                "Ask for fewer sentences or a wider range of lengths."
            )
    digest = hashlib.sha256(repr([name, pair, parameters, sizes]).encode())
    splits = {}
    for split, pairs in filled.items():
        for source, target, links in pairs:
            text = f"{split}\t{' '.join(source)}\t{' '.join(target)}\t{sorted(links)}\n"
            digest.update(text.encode())
        splits[split] = Split(
            source=[one.source for one in pairs],
            target=[one.target for one in pairs],
            links=[one.links for one in pairs],
            reference=[detokenize(one.target) for one in pairs],
        )
    return Corpus(
        name=name,
        pair=pair,
        splits=splits,
        sha256={"generator": digest.hexdigest()},
        lowercased=True,
        detokenize=detokenize,
        rules="tokens" if pair == "tokens" else "moses",
    )
