"""One model on one split: its weights as word alignments, beside IBM Model 1, and diagnosed."""

from collections.abc import Sequence
from typing import Any

from course_lib.corpora.corpus import Corpus, Link, Split
from course_lib.corpora.vocabulary import EOS, MARKS
from course_lib.evaluation.alignment import (
    THRESHOLD,
    alignment_error_rate,
    argmax_links,
    diagonal_links,
    threshold_links,
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
) -> dict[str, Any]:
    """What a model's weights are worth as an alignment of a split, and how they look.

    Args:
        weights: of every pair of the split, as `forced_weights` gives them.
        gold: what to score against; without it the corpus's own links, where it has them.

    Returns:
        `aer`, `words_aer` and `ibm1_aer`, the alignment error rates by the largest weight, by the
        largest weight on a word, and of IBM Model 1 trained on the corpus's training split, None
        without gold links, that of Model 1 also where training is streamed; all scores under
        `alignments`, a blind guess along the diagonal among them; the `diagnostics` of the weights.
    """
    part = corpus.splits[split]
    if gold is None and part.links is not None:
        gold = [GoldLinks(links) for links in part.links]
    scores: dict[str, dict[str, dict[str, Any]]] = {}
    if gold is not None:
        pairs = list(zip(part.source, part.target, strict=True))
        found = {
            "attention": {
                "argmax": [argmax_links(alpha) for alpha in weights],
                "threshold": [threshold_links(alpha) for alpha in weights],
                "words": [words_links(alpha) for alpha in weights],
            }
        }
        if corpus.stream is None:  # Model 1 counts in memory
            found["ibm1"] = {"forward": model1_alignments(corpus.splits["train"], part)}
        found["blind"] = {"diagonal": [diagonal_links(len(x), len(y)) for x, y in pairs]}
        scores = {
            who: {way: alignment_error_rate(links, gold)._asdict() for way, links in ways.items()}
            for who, ways in found.items()
        }
    return {
        "sentences": len(part),
        "weights": HOW,
        "end_mark": END_MARK,
        "units": WORD_UNITS,
        "threshold": THRESHOLD,
        "gold": _about(gold, corpus),
        "aer": scores["attention"]["argmax"]["aer"] if scores else None,
        "words_aer": scores["attention"]["words"]["aer"] if scores else None,
        "ibm1_aer": scores["ibm1"]["forward"]["aer"] if "ibm1" in scores else None,
        "alignments": scores,
        "ibm1_iterations": ITERATIONS if "ibm1" in scores else None,
        "diagnostics": summarise([diagnose(alpha) for alpha in weights]),
    }


def model1_alignments(train: Split, part: Split) -> Alignments:
    """The best alignments of a split by IBM Model 1, trained on another; it writes the target."""
    model = train_model1(zip(train.source, train.target, strict=True), ITERATIONS)
    return [model.align(x, y) for x, y in zip(part.source, part.target, strict=True)]


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


def _about(gold: Sequence[GoldLinks] | None, corpus: Corpus) -> str:
    if gold is None:
        return f"{corpus.name} has no gold alignment, so there is no error rate"
    sure = sum(len(links.sure) for links in gold)
    return f"{sure} sure links, {sum(len(links.possible) for links in gold) - sure} more possible"
