"""Word alignments: how far from the gold links they are, and how attention weights become links.

A link is (source position, target position), counted from 0; an alignment is a set of links.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

from course_lib.corpora.corpus import Link
from course_lib.errors import CourseError
from course_lib.evaluation.links import GoldLinks
from course_lib.evaluation.weights import checked_weights

Alignment = AbstractSet[Link]

THRESHOLD = 0.1
"""The weight from which two words count as linked, where several links a word are wanted. On the
toy corpus's validation split 0.075 to 0.125 are best for the recorded RNNsearch; a model that is
less certain needs more."""


class AlignmentScore(NamedTuple):
    """An alignment A against sure links S and possible links P, over a whole corpus, from 0 to 1.

    precision: |A & P| / |A|, None where A has no link.
    recall: |A & S| / |S|, None where S has no link.
    aer: the alignment error rate, 1 - (|A & S| + |A & P|) / (|A| + |S|); 0 is perfect.
    links, sure, possible: |A|, |S| and |P|.
    """

    precision: float | None
    recall: float | None
    aer: float
    links: int
    sure: int
    possible: int


def alignment_error_rate(
    predicted: Sequence[Alignment], gold: Sequence[GoldLinks | Alignment]
) -> AlignmentScore:
    """Och and Ney's (2003) precision, recall and alignment error rate of a corpus.

    Links are counted over all sentences and then divided, so that a long sentence weighs more than
    a short one. Gold links given as a plain set are all sure. Where every link is sure, 1 - AER is
    the F-measure of precision and recall.

    Raises:
        CourseError: the two lists differ in length, or neither has a single link.
    """
    if len(predicted) != len(gold):
        raise CourseError(
            f"{len(predicted)} alignments against {len(gold)} gold ones. "
            "Give one of each for every sentence pair, in the same order."
        )
    right_sure = right_possible = links = sure = possible = 0
    for own, reference in zip(predicted, gold, strict=True):
        known = reference if isinstance(reference, GoldLinks) else GoldLinks(frozenset(reference))
        right_sure += len(own & known.sure)
        right_possible += len(own & known.possible)
        links, sure = links + len(own), sure + len(known.sure)
        possible += len(known.possible)
    if links + sure == 0:
        raise CourseError("There is no link to score, neither a gold one nor another. Give some.")
    return AlignmentScore(
        precision=right_possible / links if links else None,
        recall=right_sure / sure if sure else None,
        aer=1 - (right_sure + right_possible) / (links + sure),
        links=links,
        sure=sure,
        possible=possible,
    )


def argmax_links(alpha: Any, end_mark: bool = True) -> frozenset[Link]:
    """Each target word with the source word of its largest weight: at most one link a target word.

    The end mark stands for no word: its row is left out, and a target word whose largest weight is
    on the source's end mark stays unaligned, as does one without any weight. Between equal weights
    the first source word wins. With `end_mark` false, `alpha` has no such row and column.
    """
    weights = checked_weights(alpha, end_mark)
    targets, sources = (size - end_mark for size in weights.shape)
    best = weights[:targets].argmax(axis=1)
    return frozenset((int(j), i) for i, j in enumerate(best) if j < sources and weights[i, j] > 0)


def threshold_links(
    alpha: Any, threshold: float = THRESHOLD, end_mark: bool = True
) -> frozenset[Link]:
    """Every pair of words whose weight is at least `threshold`: many links a word, or none.

    The end mark's row and column are left out, and what they took is not shared out again. Two
    source words for one target word, as in "to the" for "zum", are found only this way: with a
    threshold above 0.5, or by the largest weight, a target word has one link at most.
    """
    if not 0 < threshold <= 1:
        raise CourseError(f"threshold={threshold} must be above 0 and at most 1.")
    weights = checked_weights(alpha, end_mark)
    targets, sources = (size - end_mark for size in weights.shape)
    rows, columns = (weights[:targets, :sources] >= threshold).nonzero()
    return frozenset(zip(columns.tolist(), rows.tolist(), strict=True))


def diagonal_links(source_words: int, target_words: int) -> frozenset[Link]:
    """What can be had without looking: each target word with the source word at its relative place.

    Any alignment should be better than this one.
    """
    return frozenset(
        ((2 * i + 1) * source_words // (2 * target_words), i) for i in range(target_words)
    )
