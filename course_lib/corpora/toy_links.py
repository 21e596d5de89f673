"""From words with keys to a sentence pair with gold links."""

from course_lib.corpora.corpus import Link
from course_lib.corpora.toy_phrases import Key, Token

Sentence = tuple[list[str], list[str], frozenset[Link]]
"""English words, German words, gold links (English position, German position)."""


def settle_commas(tokens: list[Token]) -> list[Token]:
    """One comma where two clauses end at once, none before the full stop."""
    settled: list[Token] = []
    for token in tokens:
        if settled and settled[-1][0] == ",":
            if token[0] == ",":
                settled[-1] = (",", settled[-1][1] + token[1])
                continue
            if token[0] == ".":
                settled.pop()
        settled.append(token)
    return settled


def linked(english: list[Token], german: list[Token]) -> Sentence:
    """Both sides as plain words, linked wherever they share a key."""
    places: dict[Key, list[int]] = {}
    for i, (_, keys) in enumerate(english):
        for key in keys:
            places.setdefault(key, []).append(i)
    links = frozenset(
        (i, j) for j, (_, keys) in enumerate(german) for key in keys for i in places.get(key, ())
    )
    return [word for word, _ in english], [word for word, _ in german], links
