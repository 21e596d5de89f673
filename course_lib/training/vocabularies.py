"""The words of a run: learned from its training split, written down, read back."""

import json
from collections.abc import Mapping
from itertools import chain
from typing import Any

from course_lib.corpora.corpus import Corpus
from course_lib.corpora.streaming import stream_vocabulary
from course_lib.corpora.subwords import Pieces
from course_lib.corpora.tokenization import UNSPACED, rules_of
from course_lib.corpora.vocabulary import Vocabulary
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
        unspaced = not UNSPACED.isdisjoint(map(rules_of, corpus.pair.split("-")))
        unspaced &= not config.corpus_options.get("tokenized")  # then the words are somebody's own
        pieces = Pieces.learn(chain(train.source, train.target), recipe.subwords, unspaced)
        return pieces, pieces
    return (
        Vocabulary.from_sentences(train.source, recipe.min_frequency, recipe.max_words),
        Vocabulary.from_sentences(train.target, recipe.min_frequency, recipe.max_words),
    )


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
    return Vocabulary(tuple(sides["source"])), Vocabulary(tuple(sides["target"]))


def vocabulary_text(words: list[Vocabulary]) -> str:
    """The words of both sides as vocabulary.json keeps them."""
    source, target = words
    sides: dict[str, Any] = {"source": source.tokens, "target": target.tokens}
    if isinstance(source, Pieces):
        sides["subwords"] = json.loads(source.tokenizer)
    return json.dumps(sides, ensure_ascii=False, indent=0)
