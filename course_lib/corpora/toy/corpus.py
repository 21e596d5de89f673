"""The toy corpus: its stream of sentence pairs, their text for people, and its splits."""

from collections.abc import Iterator
from functools import partial
from random import Random

from course_lib.corpora.corpus import Corpus
from course_lib.corpora.generated import SentencePair, generated_corpus, random_stream
from course_lib.corpora.toy.english import english_sentence
from course_lib.corpora.toy.german import german_sentence
from course_lib.corpora.toy.lexicon import CASED
from course_lib.corpora.toy.plan import Conjunct, Key
from course_lib.corpora.toy.planner import Planner
from course_lib.corpora.toy.sentence import draw_plan
from course_lib.errors import CourseError

MOST_CLAUSES = 8
FEWEST_WORDS, MOST_WORDS = 4, 80
# Mean English words a clause where nothing optional is said, and what full richness adds: measured.
PLAIN_WORDS, ADDED_WORDS = 5.2, 3.6
ATTEMPTS = 10_000


def detokenize(tokens: list[str], language: str = "de") -> str:
    """Tokens as text for people: German nouns and names with capitals, punctuation joined.

    >>> detokenize("gestern hat der alte lehrer das museum besucht .".split())
    'Gestern hat der alte Lehrer das Museum besucht.'
    """
    text = " ".join(CASED[language].get(token, token) for token in tokens)
    for mark in (" ,", " .", " 's"):
        text = text.replace(mark, mark[1:])
    return text[:1].upper() + text[1:]


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


def sentence_pairs(
    seed: int = 0,
    *,
    clauses: tuple[int, int] | None = (1, 2),
    min_words: int = FEWEST_WORDS,
    max_words: int = MOST_WORDS,
) -> Iterator[SentencePair]:
    """Endless pairs, English first; the same seed gives the same ones on any machine.

    Args:
        seed: any whole number.
        clauses: the fewest and the most clauses (1 to 8), every number equally likely. With None
            every length from `min_words` to `max_words` is about equally likely.
        min_words, max_words: tokens of the English side, full stop and commas counted (4 to 80).

    Raises:
        CourseError: the numbers contradict each other or no such sentence exists.
    """
    if clauses is not None and not 1 <= clauses[0] <= clauses[1] <= MOST_CLAUSES:
        raise CourseError(
            f"A toy sentence has 1 to {MOST_CLAUSES} clauses, not {clauses[0]} to {clauses[1]}. "
            "Give the smaller number first, within these."
        )
    if not FEWEST_WORDS <= min_words <= max_words <= MOST_WORDS:
        raise CourseError(
            f"A toy sentence has {FEWEST_WORDS} to {MOST_WORDS} words, not {min_words} to "
            f"{max_words}. Give min_words and max_words within these."
        )
    rng = random_stream("toy", seed)
    failures = 0
    while failures < ATTEMPTS:
        target = min_words + int(rng.random() * (max_words - min_words + 1))
        # A sentence may miss its target by a little: lengths stay even, and few draws are wasted.
        slack = target // 10 if clauses is None else MOST_WORDS
        for _ in range(ATTEMPTS):
            richness, number = _shape(rng, clauses, target, max_words)
            drawn = speak(draw_plan(Planner(rng, richness), number))
            length = len(drawn.source)
            if min_words <= length <= max_words and abs(length - target) <= slack:
                failures = 0
                yield drawn
                break
            failures += 1
    raise CourseError(
        f"No toy sentence of {clauses} clauses has {min_words} to {max_words} words. "
        "Ask for other clauses or words."
    )


def _shape(
    rng: Random, clauses: tuple[int, int] | None, target: int, max_words: int
) -> tuple[float, int]:
    """How rich the clauses are and how many; poor where room is little, to waste few draws."""
    richness = rng.random()
    if clauses is not None:
        number = clauses[0] + int(rng.random() * (clauses[1] - clauses[0] + 1))
        return richness * _room(max_words / number), number
    if target > MOST_CLAUSES * PLAIN_WORDS:
        needed = (target / MOST_CLAUSES - PLAIN_WORDS) / ADDED_WORDS
        richness = min(1.0, max(richness, needed))
    richness *= _room(target)
    words = PLAIN_WORDS + ADDED_WORDS * richness
    return richness, min(MOST_CLAUSES, max(1, round(target / words)))


def _room(words: float) -> float:
    """From 0, for a clause of the fewest words, to 1."""
    return min(1.0, max(0.0, (words - FEWEST_WORDS) / (PLAIN_WORDS + ADDED_WORDS)))


def toy_corpus(
    pair: str = "en-de",
    *,
    seed: int = 0,
    clauses: tuple[int, int] | None = (1, 2),
    min_words: int = FEWEST_WORDS,
    max_words: int = MOST_WORDS,
    train: int = 20_000,
    val: int = 500,
    test: int = 1_000,
) -> Corpus:
    """The toy corpus with gold alignments: `train`, `val` and `test` distinct sentence pairs.

    A sentence's split is a hash of its English side, so no two splits share a sentence, whatever
    the seeds. `clauses`, `min_words` and `max_words` are those of `sentences`.
    """
    return generated_corpus(
        "toy",
        pair,
        sentence_pairs(seed, clauses=clauses, min_words=min_words, max_words=max_words),
        {"train": train, "val": val, "test": test},
        {"seed": seed, "clauses": clauses, "min_words": min_words, "max_words": max_words},
        partial(detokenize, language=pair[-2:]),
        swap=pair == "de-en",
    )
