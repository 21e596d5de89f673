"""From a plan to a sentence pair with its gold links."""

from course_lib.corpora.generated import SentencePair
from course_lib.corpora.toy.english import english_sentence
from course_lib.corpora.toy.german import german_sentence
from course_lib.corpora.toy.plan import Conjunct, Key


def speak(conjuncts: list[Conjunct]) -> SentencePair:
    """Both sides of a plan, English first, linked wherever two words share a key."""
    english, german = english_sentence(conjuncts), german_sentence(conjuncts)
    positions: dict[Key, list[int]] = {}
    for i, (_, keys) in enumerate(english):
        for key in keys:
            positions.setdefault(key, []).append(i)
    links = frozenset(
        (i, j) for j, (_, keys) in enumerate(german) for key in keys for i in positions.get(key, ())
    )
    return SentencePair([word for word, _ in english], [word for word, _ in german], links)
