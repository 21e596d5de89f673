"""Sentences longer than any in training: real ones, joined one after another.

Nobody wrote such texts, so whoever reports a score on them says so, and how many were joined.
"""

from collections.abc import Sequence
from typing import Any

from course_lib.corpora.corpus import Split
from course_lib.corpora.vocabulary import Vocabulary
from course_lib.errors import CourseError
from course_lib.evaluation.bleu import bleu_by_length, bleu_tok
from course_lib.models import EncoderDecoder
from course_lib.search import translate

EDGES = (10, 16, 21, 26, 31, 41, 51, 61)
"""The source lengths at which a new range begins."""

HOW = (
    "joined: neighbouring sentences of the split, source to source and reference to reference, "
    "without overlap; what is left over at the end is left out"
)


def joined(split: Split, count: int) -> Split:
    """Every `count` neighbouring sentence pairs as one pair; a split of 1,000 becomes 500 for 2.

    Words and their order stay as they are; links move with their words.

    Raises:
        CourseError: the split has fewer pairs than shall become one.
    """
    if not 1 <= count <= len(split):
        raise CourseError(
            f"{count} sentences cannot be joined from a split of {len(split)}. "
            f"Join 1 to {len(split)}."
        )
    groups = [range(i, i + count) for i in range(0, len(split) - count + 1, count)]
    links = None
    if split.links is not None:
        links = []
        for group in groups:
            before, after, moved = 0, 0, set()
            for i in group:
                moved |= {(before + x, after + y) for x, y in split.links[i]}
                before, after = before + len(split.source[i]), after + len(split.target[i])
            links.append(frozenset(moved))
    return Split(
        source=[[word for i in group for word in split.source[i]] for group in groups],
        target=[[word for i in group for word in split.target[i]] for group in groups],
        links=links,
        reference=[" ".join(split.reference[i] for i in group) for group in groups],
    )


def score_joined(
    model: EncoderDecoder,
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
        translations = translate(
            model, [words[0].encode(x) for x in part.source], beam, length_penalty
        )
        hypotheses = [words[1].decode(hypothesis.tokens) for hypothesis in translations]
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
        "how": HOW,
        "beam": beam,
        "length_penalty": length_penalty,
        "joined": rows,
        "by_length": bleu_by_length(written, references, lengths, EDGES),
    }
