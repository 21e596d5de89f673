"""What the generated corpora share: whose split a sentence is, and how splits are filled."""

import hashlib
from collections.abc import Callable, Iterable
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


def split_of(source: list[str]) -> str:
    """The split of a source sentence, whatever the seed: 80% train, 10% val, 10% test."""
    digest = hashlib.sha256(" ".join(source).encode()).digest()
    remainder = int.from_bytes(digest[:8], "big") % 100
    return "train" if remainder < 80 else "val" if remainder < 90 else "test"


def seed_number(name: str, seed: int) -> int:
    """A seed for `random.Random`, far from the neighbouring seeds' and the other corpora's."""
    return int.from_bytes(hashlib.sha256(f"{name}:{seed}".encode()).digest()[:8], "big")


def fill_splits(
    stream: Iterable[SentencePair], sizes: dict[str, int]
) -> dict[str, list[SentencePair]]:
    """Distinct sentence pairs for each split, in the order in which the stream brings them.

    Every split is a prefix of what its seed has: asking for more never changes the first ones.

    Raises
    ------
    CourseError
        When the stream brings no new sentence any more for a split that is not full.
    """
    filled: dict[str, list[SentencePair]] = {name: [] for name in sizes}
    seen: set[str] = set()
    missing = sum(sizes.values())
    waited = 0
    if not missing:
        return filled
    for pair in stream:
        name = split_of(pair.source)
        text = " ".join(pair.source)
        if len(filled[name]) < sizes[name] and text not in seen:
            seen.add(text)
            filled[name].append(pair)
            missing -= 1
            waited = 0
            if not missing:
                return filled
        waited += 1
        if waited == PATIENCE:
            break
    counts = ", ".join(f"{len(filled[name])} of {size} {name}" for name, size in sizes.items())
    raise CourseError(
        f"There are too few different sentences of these lengths ({counts}). "
        "Ask for fewer sentences or a wider range of lengths."
    )


def generated_corpus(
    name: str,
    pair: str,
    stream: Iterable[SentencePair],
    sizes: dict[str, int],
    parameters: dict[str, object],
    detokenize: Callable[[list[str]], str],
    swap: bool = False,
) -> Corpus:
    """A corpus filled from a stream; `swap` exchanges the sides after the splits are decided."""
    if min(sizes.values()) < 0:
        raise CourseError("A split cannot have a negative number of sentences. Ask for 0 or more.")
    digest = hashlib.sha256(repr([name, pair, parameters, sizes]).encode())
    splits = {}
    for split, pairs in fill_splits(stream, sizes).items():
        if swap:
            pairs = [one.swapped() for one in pairs]
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
    )
