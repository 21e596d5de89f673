"""The words of a run: learned from its training split, written down, read back."""

import json
from collections.abc import Mapping
from itertools import chain
from typing import Any

from course_lib.corpora.corpus import Corpus
from course_lib.corpora.languages import unspaced
from course_lib.corpora.streaming import stream_vocabulary
from course_lib.corpora.subwords import Pieces
from course_lib.corpora.vocabulary import MARKS, Vocabulary
from course_lib.errors import CourseError
from course_lib.training.run_config import RunConfig


def make_vocabularies(config: RunConfig, corpus: Corpus) -> tuple[Vocabulary, Vocabulary]:
    """The words of the training split, as the recipe's `min_frequency` and `max_words` say.

    With `subwords` it is the pieces of words, the same object for both sides.

    Raises:
        CourseError: pieces of the words of a stream are asked for.
    """
    recipe = config.recipe
    if corpus.stream is not None:
        if recipe.subwords is not None:
            raise CourseError(
                f"subwords are learned from a corpus in memory, and {corpus.name} is a stream. "
                "Set max_words instead."
            )
        source, target = corpus.pair.split("-")
        return (
            stream_vocabulary(corpus.stream, source, recipe.min_frequency, recipe.max_words),
            stream_vocabulary(corpus.stream, target, recipe.min_frequency, recipe.max_words),
        )
    train = corpus.splits["train"]
    if recipe.subwords is not None:
        sides = zip(corpus.pair.split("-"), (train.source, train.target), strict=False)
        without = corpus.rules == "plain" and any(
            unspaced(code, map(" ".join, lines)) for code, lines in sides
        )
        pieces = Pieces.learn(chain(train.source, train.target), recipe.subwords, without)
        return pieces, pieces
    words = [
        Vocabulary.from_sentences(side, recipe.min_frequency, recipe.max_words)
        for side in (train.source, train.target)
    ]
    if min(map(len, words)) == len(MARKS):
        raise CourseError(
            f"No word of {corpus.name} occurs {recipe.min_frequency} times on each side, so "
            "all would be unknown. Add --set min_frequency=1, or more text."
        )
    return words[0], words[1]


def vocabularies_of(sides: Mapping[str, Any]) -> tuple[Vocabulary, Vocabulary]:
    """What vocabulary.json holds as the words, or the pieces, of source and target.

    Raises:
        KeyError, TypeError, ValueError: that is no vocabulary.
    """
    if "subwords" in sides:
        pieces = Pieces.from_json(json.dumps(sides["subwords"]))
        if not sides["source"] == sides["target"] == list(pieces.tokens):
            raise ValueError("the pieces are not those that words are cut into")
        return pieces, pieces
    if not all(isinstance(word, str) for side in ("source", "target") for word in sides[side]):
        raise ValueError("a word is no text")
    return Vocabulary(tuple(sides["source"])), Vocabulary(tuple(sides["target"]))


def vocabulary_text(words: list[Vocabulary]) -> str:
    """The words of both sides as vocabulary.json keeps them."""
    source, target = words
    sides: dict[str, Any] = {"source": source.tokens, "target": target.tokens}
    if isinstance(source, Pieces):
        sides["subwords"] = json.loads(source.tokenizer)
    return json.dumps(sides, ensure_ascii=False, indent=0)
