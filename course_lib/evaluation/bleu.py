"""Corpus BLEU in the two protocols that are reported, and BLEU by source length.

BLEU is Papineni et al., 2002; the counting is sacrebleu's. Scores of different protocols must never
be compared, so every score travels with the signature that says how it was made.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from sacrebleu.metrics import BLEU, CHRF

from course_lib.corpora.languages import is_chinese, unspaced
from course_lib.corpora.vocabulary import MARKS, UNK
from course_lib.errors import CourseError

Tokens = Sequence[str]

LENGTH_EDGES = (10, 13, 16, 21)
"""Where ranges of source lengths begin. "Short" and "long" everywhere in the course are the first
and the last of them: under 10 source words, over 20."""


class BleuScore(NamedTuple):
    """A score from 0 to 100 and the protocol it was measured in, as sacrebleu writes it."""

    score: float
    signature: str


def bleu_tok(hypotheses: Sequence[Tokens], references: Sequence[Tokens]) -> BleuScore:
    """The published protocol: tokens against tokens, exactly as they are.

    Both sides are tokens as the corpus has them: of Multi30k lower-cased, normalised, by Moses. An
    empty hypothesis counts as a translation of no words. No sentences at all is a CourseError.
    """
    _check_kind(hypotheses, references, texts=False)
    # force: the input is tokenised on purpose, which sacrebleu would otherwise warn about.
    metric = BLEU(tokenize="none", force=True)
    return _score(metric, [" ".join(h) for h in hypotheses], [" ".join(r) for r in references])


def bleu_detok(
    hypotheses: Sequence[str],
    references: Sequence[str],
    lowercase: bool = False,
    language: str = "",
) -> BleuScore:
    """What is comparable between systems: sacrebleu's own 13a tokens of detokenised text.

    `lowercase` folds the case of both sides, for a model that only knows lower case; the signature
    then has `case:lc`. In a script without spaces between words, by the code of the `language` or
    by what most letters of the references are, characters are counted instead, Chinese ones by
    sacrebleu's rules for it. No sentences at all is a CourseError.
    """
    _check_kind(hypotheses, references, texts=True)
    split = "13a"
    if unspaced(language, references):
        split = "zh" if is_chinese(language) else "char"
    return _score(BLEU(tokenize=split, lowercase=lowercase), hypotheses, references)


def chrf(
    hypotheses: Sequence[str], references: Sequence[str], lowercase: bool = False
) -> BleuScore:
    """chrF2 (Popović, 2015): an F-score of character n-grams of detokenised text, from 0 to 100.

    It asks for no words, so it is fair to languages that write them long or without spaces.
    """
    _check_kind(hypotheses, references, texts=True)
    return _score(CHRF(lowercase=lowercase), hypotheses, references)


def bleu_by_length(
    hypotheses: Sequence[Tokens],
    references: Sequence[Tokens],
    source_lengths: Sequence[int],
    edges: Sequence[int] = LENGTH_EDGES,
) -> list[dict[str, float | int]]:
    """Tokenised BLEU for each range of source lengths, shortest first.

    `edges` are the lengths at which a new range begins: (10, 21) makes 1 to 9, 10 to 20 and 21 to
    the longest sentence. `lower` and `upper` belong to their range. A range without sentences is
    left out; `sentences` says how much the score of the others can be trusted.
    """
    rows: list[dict[str, float | int]] = []
    for k in range(len(edges) + 1):
        chosen = [i for i, length in enumerate(source_lengths) if bisect_right(edges, length) == k]
        if not chosen:
            continue
        longest = max(source_lengths[i] for i in chosen)
        score = bleu_tok([hypotheses[i] for i in chosen], [references[i] for i in chosen]).score
        rows.append(
            {
                "lower": edges[k - 1] if k else 1,
                "upper": edges[k] - 1 if k < len(edges) else longest,
                "sentences": len(chosen),
                "bleu_tok": score,
            }
        )
    return rows


def unk_rate(hypotheses: Sequence[Tokens]) -> float:
    """The share of predicted words that are the unknown word, from 0 to 1; 0 for no words."""
    words = sum(len(hypothesis) for hypothesis in hypotheses)
    unknown = sum(token == MARKS[UNK] for hypothesis in hypotheses for token in hypothesis)
    return unknown / words if words else 0.0


def _check_kind(hypotheses: Sequence[object], references: Sequence[object], texts: bool) -> None:
    """Refuse lists of tokens where texts are asked for, and texts where tokens are."""
    both = zip(hypotheses, references, strict=False)
    if len(hypotheses) == len(references) and any(
        isinstance(line, str) != texts for pair in both for line in pair
    ):
        wanted = "a text, and not a list of tokens" if texts else "a list of tokens, and not a text"
        raise CourseError(f"This score takes for each sentence {wanted}.")


def _score(metric: BLEU | CHRF, hypotheses: Sequence[str], references: Sequence[str]) -> BleuScore:
    if len(hypotheses) != len(references):
        raise CourseError(
            f"{len(hypotheses)} translations against {len(references)} references. "
            "BLEU needs exactly one translation for each reference, in the same order."
        )
    if not references:
        raise CourseError("There are no sentences to score. Choose a split that is not empty.")
    score = metric.corpus_score(list(hypotheses), [list(references)]).score
    return BleuScore(float(score), str(metric.get_signature()))
