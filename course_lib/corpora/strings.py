"""Token strings with gold alignments: copy, reverse, and verbs that move to the clause's end.

Made for experiments of a minute. The words are syllables; they mean nothing, so that only the
length and the order of a string decide how hard it is.
"""

from collections.abc import Iterator
from random import Random

from course_lib.corpora.corpus import Corpus
from course_lib.corpora.generated import SentencePair, generated_corpus, random_stream
from course_lib.errors import CourseError

SYLLABLES = tuple(consonant + vowel for consonant in "bdfgklmnprst" for vowel in "aeiou")
"""The 60 words of copy and reverse."""
VERBS = SYLLABLES[-15:]
"""The words in r-, s- and t-: the verbs of the verb-final strings."""
COMMA = ","
STAYING = SYLLABLES[:44]
"""With the verbs and the comma, 60 words again."""

_SHORTEST_CLAUSE, _LONGEST_CLAUSE = 3, 8


def _pick(rng: Random, words: tuple[str, ...]) -> str:
    # Only random() is promised to give the same numbers in every version of Python.
    return words[int(rng.random() * len(words))]


def _copied(rng: Random, length: int) -> SentencePair:
    source = [_pick(rng, SYLLABLES) for _ in range(length)]
    return SentencePair(source, list(source), frozenset((i, i) for i in range(length)))


def _reversed(rng: Random, length: int) -> SentencePair:
    source = [_pick(rng, SYLLABLES) for _ in range(length)]
    links = frozenset((i, length - 1 - i) for i in range(length))
    return SentencePair(source, source[::-1], links)


def _clause_lengths(rng: Random, length: int) -> list[int]:
    """Lengths of clauses that fill `length` together with the commas between them."""
    lengths = []
    while length:
        clause = _SHORTEST_CLAUSE + int(rng.random() * (_LONGEST_CLAUSE - _SHORTEST_CLAUSE + 1))
        if length - clause < 1 + _SHORTEST_CLAUSE:
            clause = length
        lengths.append(clause)
        length -= min(length, clause + 1)
    return lengths


def _verb_final(rng: Random, length: int) -> SentencePair:
    """Clauses of 3 to 8 tokens between commas; one or two verbs of each move to its end, in order.

    A model in miniature of German subordinate clauses: 44 words that stay, 15 verbs, and the comma,
    which counts as a token.
    """
    source: list[str] = []
    order: list[int] = []
    for clause in _clause_lengths(rng, length):
        if source:
            order.append(len(source))
            source.append(COMMA)
        start = len(source)
        verbs = {int(rng.random() * clause) for _ in range(1 if clause < 5 else 2)}
        source += [_pick(rng, VERBS if i in verbs else STAYING) for i in range(clause)]
        stay = [start + i for i in range(clause) if i not in verbs]
        order += stay + [start + i for i in sorted(verbs)]
    target = [source[i] for i in order]
    return SentencePair(source, target, frozenset((i, j) for j, i in enumerate(order)))


MAKERS = {"copy": _copied, "reverse": _reversed, "verbs": _verb_final}


def token_strings(
    name: str, seed: int = 0, *, min_length: int = 4, max_length: int = 20
) -> Iterator[SentencePair]:
    """Endless pairs of the task "copy", "reverse" or "verbs", every length equally likely."""
    rng = random_stream(name, seed)
    while True:
        yield MAKERS[name](rng, min_length + int(rng.random() * (max_length - min_length + 1)))


def string_corpus(
    name: str,
    *,
    seed: int = 0,
    min_length: int = 4,
    max_length: int = 20,
    train: int = 20_000,
    val: int = 500,
    test: int = 1_000,
) -> Corpus:
    """Token strings of a task as a corpus; raises CourseError where no string has such a length."""
    if not 1 <= min_length <= max_length:
        raise CourseError(
            f"No string has {min_length} to {max_length} tokens. "
            "Give 1 or more, the smaller number first."
        )
    return generated_corpus(
        name,
        "tokens",
        token_strings(name, seed, min_length=min_length, max_length=max_length),
        {"train": train, "val": val, "test": test},
        {"seed": seed, "min_length": min_length, "max_length": max_length},
        " ".join,
    )
