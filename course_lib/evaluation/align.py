"""One model on one split: its weights as word alignments, beside IBM Model 1, and diagnosed."""

from collections.abc import Mapping, Sequence
from typing import Any

from course_lib.corpora.corpus import Corpus, Link
from course_lib.corpora.vocabulary import EOS, MARKS
from course_lib.evaluation.alignment import (
    BOTH,
    COMBINATIONS,
    THRESHOLD,
    alignment_error_rate,
    argmax_links,
    both_directions,
    diagonal_links,
    threshold_links,
    transposed,
)
from course_lib.evaluation.diagnostics import diagnose, summarise
from course_lib.evaluation.ibm1 import train_model1
from course_lib.evaluation.links import GoldLinks
from course_lib.evaluation.weights import Weights, between_words

Alignments = list[frozenset[Link]]

ITERATIONS = 10
"""Of EM for Model 1: by then its alignments on the course's corpora no longer get better."""
HOW = (
    "forced decoding: the reference is given word by word, and each row has the weights with which "
    "the model would have written the next word of it"
)
END_MARK = (
    "the end marks' row and column are left out; a word whose largest weight is on the source's "
    "end mark is unaligned"
)

WORD_UNITS = (
    "words: where a model reads and writes pieces of words, the weights of pieces are merged to "
    "words first (weights.merge_pieces: summed over source pieces, averaged over target pieces)"
)


def align_split(
    weights: Sequence[Weights],
    corpus: Corpus,
    split: str,
    gold: Sequence[GoldLinks] | None = None,
    reverse: Sequence[Weights] | None = None,
    threshold: float = THRESHOLD,
) -> dict[str, Any]:
    """What a model's weights are worth as an alignment of a split, and how they look.

    Args:
        weights: of every pair of the split, as `forced_weights` gives them.
        gold: what to score against; without it the corpus's own links, where it has them.
        reverse: weights of a model of the other direction on the same pairs, (T_x + 1, T_y + 1)
            each: then the two directions are also combined.
        threshold: from which weight on words are linked.

    Returns:
        `aer`, `words_aer` and `ibm1_aer`, the alignment error rates by the largest weight, by the
        largest weight on a word, and of IBM Model 1 trained on the corpus's training split, None
        without gold links; all scores under `alignments`, a blind guess along the diagonal among
        them; the `diagnostics` of the weights.
    """
    part = corpus.splits[split]
    if gold is None and part.links is not None:
        gold = [GoldLinks(links) for links in part.links]
    scores: dict[str, dict[str, Any]] = {}
    if gold is not None:
        scores["attention"] = _scored(_attended(weights, reverse, threshold), gold)
        classical = model1_alignments(corpus, split, both_ways=reverse is not None)
        scores["ibm1"] = _scored({**classical, **_combined(classical)}, gold)
        diagonal = [
            diagonal_links(len(x), len(y)) for x, y in zip(part.source, part.target, strict=True)
        ]
        scores["blind"] = _scored({"diagonal": diagonal}, gold)
    return {
        "sentences": len(part),
        "weights": HOW,
        "end_mark": END_MARK,
        "units": WORD_UNITS,
        "threshold": threshold,
        "both": BOTH if reverse is not None else None,
        "gold": _about(gold, corpus),
        "aer": scores["attention"]["argmax"]["aer"] if gold is not None else None,
        "words_aer": scores["attention"]["words"]["aer"] if gold is not None else None,
        "ibm1_aer": scores["ibm1"]["forward"]["aer"] if gold is not None else None,
        "alignments": scores,
        "ibm1_iterations": ITERATIONS if gold is not None else None,
        "diagnostics": summarise([diagnose(alpha, threshold) for alpha in weights]),
    }


def _attended(
    weights: Sequence[Weights], reverse: Sequence[Weights] | None, threshold: float
) -> dict[str, Alignments]:
    """What the weights say, by every way to make links of them; see `align_split`."""
    ways = {"argmax": [argmax_links(alpha) for alpha in weights]}
    if reverse is not None:
        ways["reverse"] = [transposed(argmax_links(alpha)) for alpha in reverse]
    more = {
        "threshold": [threshold_links(alpha, threshold) for alpha in weights],
        "words": [words_links(alpha) for alpha in weights],
    }
    if reverse is not None:
        more["agreed"] = [
            threshold_links(both_directions(alpha, beta), BOTH, end_mark=False)
            for alpha, beta in zip(weights, reverse, strict=True)
        ]
    return {**ways, **more, **_combined(ways)}


def model1_alignments(corpus: Corpus, split: str, both_ways: bool) -> dict[str, Alignments]:
    """The best alignments of a split by IBM Model 1 trained on the corpus's training split.

    `forward` writes the target from the source, as the corpus's pair says; `reverse` the source
    from the target, its links turned to (source, target).
    """
    train, part = corpus.splits["train"], corpus.splits[split]
    model = train_model1(zip(train.source, train.target, strict=True), ITERATIONS)
    alignments = {
        "forward": [model.align(x, y) for x, y in zip(part.source, part.target, strict=True)]
    }
    if both_ways:
        model = train_model1(zip(train.target, train.source, strict=True), ITERATIONS)
        alignments["reverse"] = [
            transposed(model.align(y, x)) for x, y in zip(part.source, part.target, strict=True)
        ]
    return alignments


def saved_weights(weights: Sequence[Weights], corpus: Corpus, split: str) -> dict[str, Any]:
    """The weights of a split with their words, as `course align --save` writes them as JSON.

    `sentences` has one entry a pair: `source` and `target`, each with its end mark; `alpha`, a row
    for each word of `target` and a column for each of `source`, rounded to four digits; `links`,
    the alignment by largest weight, and `gold`, the corpus's or null, as [source, target] pairs.
    """
    part, end = corpus.splits[split], MARKS[EOS]
    return {
        "corpus": corpus.name,
        "pair": corpus.pair,
        "split": split,
        "weights": HOW,
        "sentences": [
            {
                "source": [*part.source[i], end],
                "target": [*part.target[i], end],
                "alpha": alpha.round(4).tolist(),
                "links": sorted(argmax_links(alpha)),
                "gold": None if part.links is None else sorted(part.links[i]),
            }
            for i, alpha in enumerate(weights)
        ],
    }


def words_links(alpha: Weights) -> frozenset[Link]:
    """Each target word with the source word of its largest weight, whatever the end mark takes."""
    return argmax_links(between_words(alpha), end_mark=False)


def _combined(directions: Mapping[str, Alignments]) -> dict[str, Alignments]:
    """Both directions together, in every way there is; nothing where there is only one."""
    if len(directions) < 2:
        return {}
    forward, backward = directions.values()
    return {
        name: [combine(one, other) for one, other in zip(forward, backward, strict=True)]
        for name, combine in COMBINATIONS.items()
    }


def _scored(
    alignments: Mapping[str, Alignments], gold: Sequence[GoldLinks]
) -> dict[str, dict[str, Any]]:
    return {name: alignment_error_rate(each, gold)._asdict() for name, each in alignments.items()}


def _about(gold: Sequence[GoldLinks] | None, corpus: Corpus) -> str:
    if gold is None:
        return f"{corpus.name} has no gold alignment, so there is no error rate"
    sure = sum(len(links.sure) for links in gold)
    return f"{sure} sure links, {sum(len(links.possible) for links in gold) - sure} more possible"
