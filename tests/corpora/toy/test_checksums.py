"""The toy corpus is what it was when results were recorded on it: every sentence and every link."""

import hashlib
from collections.abc import Iterable
from itertools import islice
from typing import Any

import pytest

from course_lib.corpora.generated import SentencePair
from course_lib.corpora.strings import string_corpus
from course_lib.corpora.toy import sentence_pairs, toy_corpus


def checksum(lines: Iterable[str]) -> str:
    """The beginning of the SHA-256 of all lines."""
    digest = hashlib.sha256()
    for line in lines:
        digest.update(f"{line}\n".encode())
    return digest.hexdigest()[:16]


def line(pair: SentencePair) -> str:
    links = " ".join(f"{i}-{j}" for i, j in sorted(pair.links))
    return f"{' '.join(pair.source)}\t{' '.join(pair.target)}\t{links}"


@pytest.mark.parametrize(
    ("pair", "seed", "count", "options", "expected"),
    [
        ("en-de", 0, 10_000, {}, "ab3c51a981c88de4"),
        ("en-de", 1, 10_000, {}, "58c76488eb1dbc88"),
        ("de-en", 0, 2_000, {}, "1ff2855884a18e58"),
        ("de-en", 1, 2_000, {}, "39d0ff45cfa2a45e"),
        ("en-de", 2, 500, {"clauses": None}, "7e40defd10c05753"),
        ("en-de", 3, 500, {"clauses": (3, 8)}, "76e542b7fa5a6c94"),
        ("en-de", 4, 1_000, {"clauses": (1, 1), "max_words": 6}, "96ea27ff2b2b7c08"),
        ("de-en", 5, 300, {"clauses": None, "min_words": 20, "max_words": 50}, "d72cefc6d1145669"),
        ("en-de", 6, 200, {"clauses": (8, 8)}, "cbd0ab51a21dbba4"),
    ],
)
def test_a_seed_gives_the_sentences_and_links_it_always_gave(
    pair: str, seed: int, count: int, options: dict[str, Any], expected: str
) -> None:
    stream = islice(sentence_pairs(seed, **options), count)
    lines = (line(drawn if pair == "en-de" else drawn.swapped()) for drawn in stream)
    assert checksum(lines) == expected


@pytest.mark.parametrize(
    ("pair", "seed", "generator", "references"),
    [
        ("en-de", 0, "fd5a75469d5b722e", "cf65dc7eab48ecc3"),
        ("en-de", 7, "c8023eed6e195341", "529941e788da9314"),
        ("de-en", 0, "1c582699d30f5f97", "b5d6e3e2aac4dd7c"),
        ("de-en", 7, "90130e91f21451e4", "d97547af0f43f72a"),
    ],
)
def test_a_seed_gives_the_splits_it_always_gave(
    pair: str, seed: int, generator: str, references: str
) -> None:
    corpus = toy_corpus(pair, seed=seed, train=1_600, val=200, test=200)
    assert corpus.sha256["generator"].startswith(generator)
    splits = corpus.splits.values()
    assert checksum(text for split in splits for text in split.reference) == references


def test_strings_too_are_the_same_in_every_process() -> None:
    corpus = string_corpus("verbs", seed=3, train=200, val=20, test=20)
    assert corpus.sha256["generator"].startswith("e207d3ad3424041d")
