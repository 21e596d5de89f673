"""One model on one split: translations, BLEU in both protocols, BLEU by source length.

So that texts are longer than any in training, neighbouring sentences can be joined. Nobody wrote
such texts, so whoever reports a score on them says so, and how many were joined.
"""

import time
from collections.abc import Sequence
from typing import Any

from course_lib.corpora.corpus import Corpus, Split
from course_lib.corpora.vocabulary import Vocabulary
from course_lib.errors import CourseError
from course_lib.evaluation.bleu import (
    LENGTH_EDGES,
    bleu_by_length,
    bleu_detok,
    bleu_tok,
    chrf,
    unk_rate,
)
from course_lib.models import RNNsearch
from course_lib.search import translate

JOINED_EDGES = (10, 16, 21, 26, 31, 41, 51, 61)
"""The source lengths at which a new range begins."""

JOINED = (
    "joined: neighbouring sentences of the split, source to source and reference to reference, "
    "without overlap; what is left over at the end is left out"
)


def score_split(
    model: RNNsearch,
    source_vocabulary: Vocabulary,
    target_vocabulary: Vocabulary,
    corpus: Corpus,
    split: str,
    beam: int,
    length_penalty: float = 1.0,
) -> tuple[dict[str, Any], list[list[str]]]:
    """Translate a split and measure it.

    Returns:
        what result.json keeps under `scores.SPLIT`, and the translations as tokens. `seconds` is
        the time that translating took; `short` has sources under 10 words and `long` over 20.
    """
    if split not in corpus.splits:
        raise CourseError(
            f"{corpus.name} has no split {split!r}. Choose one of {', '.join(corpus.splits)}."
        )
    part = corpus.splits[split]
    started = time.monotonic()
    words = source_vocabulary, target_vocabulary
    hypotheses = translated(model, words, part, beam, length_penalty)
    seconds = time.monotonic() - started
    return {
        "beam": beam,
        "length_penalty": length_penalty,
        **measured(hypotheses, corpus, split),
        "seconds": round(seconds, 2),
    }, hypotheses


def translated(
    model: RNNsearch,
    words: tuple[Vocabulary, Vocabulary],
    part: Split,
    beam: int,
    length_penalty: float,
) -> list[list[str]]:
    """A model's translations of a split, as tokens."""
    hypotheses = translate(model, [words[0].encode(x) for x in part.source], beam, length_penalty)
    return [words[1].decode(hypothesis.tokens) for hypothesis in hypotheses]


def measured(hypotheses: list[list[str]], corpus: Corpus, split: str) -> dict[str, Any]:
    """What translations of a split are worth: BLEU in both protocols and by length, chrF, [UNK]."""
    part = corpus.splits[split]
    lengths = [len(source) for source in part.source]
    tok = bleu_tok(hypotheses, part.target)
    texts = [corpus.detokenize(tokens) for tokens in hypotheses]
    target_language = corpus.pair.partition("-")[2]
    detok = bleu_detok(texts, part.reference, corpus.lowercased, target_language)
    letters = chrf(texts, part.reference, corpus.lowercased)
    by_length = bleu_by_length(hypotheses, part.target, lengths)
    return {
        "sentences": len(part),
        "bleu_tok": tok.score,
        "bleu_tok_signature": tok.signature,
        "bleu_detok": detok.score,
        "bleu_detok_signature": detok.signature,
        "chrf": letters.score,
        "chrf_signature": letters.signature,
        "short": _range_from(1, by_length),
        "long": _range_from(LENGTH_EDGES[-1], by_length),
        "by_length": by_length,
        "unk_rate": unk_rate(hypotheses),
    }


def _range_from(lower: int, by_length: list[dict[str, Any]]) -> dict[str, Any]:
    """The range of source lengths that begins at `lower`; a score of None without sentences."""
    empty = {"sentences": 0, "bleu_tok": None}
    row = next((row for row in by_length if row["lower"] == lower), empty)
    return {name: row[name] for name in empty}


def joined(split: Split, count: int) -> Split:
    """Every `count` neighbouring sentence pairs as one pair; a split of 1,000 becomes 500 for 2.

    Words and their order stay as they are; gold links are left out.
    """
    groups = [range(i, i + count) for i in range(0, len(split) - count + 1, count)]
    return Split(
        source=[[word for i in group for word in split.source[i]] for group in groups],
        target=[[word for i in group for word in split.target[i]] for group in groups],
        links=None,
        reference=[" ".join(split.reference[i] for i in group) for group in groups],
    )


def score_joined(
    model: RNNsearch,
    words: tuple[Vocabulary, Vocabulary],
    split: Split,
    counts: Sequence[int],
    beam: int,
    length_penalty: float = 1.0,
) -> dict[str, Any]:
    """Tokenised BLEU of a model on a split as it is and on its sentences joined.

    Returns:
        `how` the texts were made; `joined`, for each of `counts` the number of texts, their mean
        source length and their BLEU; `by_length`, all of the texts together in ranges of source
        length, each with the number of texts.
    """
    rows: list[dict[str, Any]] = []
    written: list[list[str]] = []
    references: list[list[str]] = []
    lengths: list[int] = []
    for count in counts:
        part = joined(split, count)
        hypotheses = translated(model, words, part, beam, length_penalty)
        sizes = [len(source) for source in part.source]
        score = bleu_tok(hypotheses, part.target)
        rows.append(
            {
                "sentences_joined": count,
                "texts": len(part),
                "source_words": sum(sizes) / len(sizes),
                "bleu_tok": score.score,
                "bleu_tok_signature": score.signature,
            }
        )
        written += hypotheses
        references += part.target
        lengths += sizes
    return {
        "how": JOINED,
        "beam": beam,
        "length_penalty": length_penalty,
        "joined": rows,
        "by_length": bleu_by_length(written, references, lengths, JOINED_EDGES),
    }
