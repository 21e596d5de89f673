"""What a matrix of attention weights does: how sharp, how monotonic, what it covers, what is odd.

The end mark is no word. Its row is left out everywhere. Its column counts for the entropy, since
the weight on it is part of the distribution, and for nothing else.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.evaluation.alignment import THRESHOLD, Alignment, argmax_links, threshold_links
from course_lib.evaluation.weights import Weights, checked_weights

Numbers = NDArray[np.float64]

UNIFORM = 0.95
"""Mean normalised entropy from which a sentence counts as collapsed to uniform. Models that have
learned nothing have 0.997 and more. At 0.95, of ten columns none can have more than 0.27 of a row's
weight, of twenty none more than 0.21."""
FEWEST_COLUMNS = 4
"""With fewer columns ordinary weights can reach that entropy: 0.45, 0.3, 0.25 do."""
STUCK = 0.6
"""Share of all weight in a sentence from which one source word counts as holding it. In the gold
alignments of 21,000 toy pairs, both ways, no source word has more than half of its sentence."""
FEWEST_ROWS = 4
"""With fewer target words one source word may well stand for most of them."""
HARDLY = 0.2
"""A source word with less coverage than this, a fifth of one target word, was hardly looked at."""


@dataclass(frozen=True)
class Diagnosis:
    """The weights of one sentence pair, looked at. Positions count from 0, end marks excluded.

    entropy: of each target word's weights, in nats, (T_y,); 0 is all weight on one word.
    normalised_entropy: the same divided by its largest possible value, from 0 to 1, (T_y,).
    coverage: the weight each source word got from all target words together, (T_x,).
    end_weight: the mean weight on the source's end mark; 0 where there is none.
    links: the alignment by largest weight, which the next two and `unaligned` speak of.
    monotonicity, crossings: see the functions of these names.
    unaligned: how many target words have no link.
    many_to_one, one_to_many: several source words of one target word, several target words of one
        source word, by position; from the links whose weight reaches the threshold.
    warnings: "uniform" and "stuck", where they apply, each with a sentence for people.
    """

    entropy: Numbers
    normalised_entropy: Numbers
    coverage: Numbers
    end_weight: float
    links: Alignment
    monotonicity: float | None
    crossings: int
    unaligned: int
    many_to_one: dict[int, list[int]]
    one_to_many: dict[int, list[int]]
    warnings: dict[str, str]


def diagnose(alpha: Any, threshold: float = THRESHOLD, end_mark: bool = True) -> Diagnosis:
    """Look at the weights of one sentence pair, (T_y, T_x) with the end marks' row and column.

    With `end_mark` false there are no such row and column. NaN and energies are CourseErrors.
    """
    weights = checked_weights(alpha, end_mark)
    words = weights[: len(weights) - end_mark]
    sources = weights.shape[1] - end_mark
    nats = entropy(words)
    normalised = nats / math.log(words.shape[1]) if words.shape[1] > 1 else np.zeros(len(words))
    links = argmax_links(weights, end_mark)
    several = threshold_links(weights, threshold, end_mark)
    return Diagnosis(
        entropy=nats,
        normalised_entropy=normalised,
        coverage=words[:, :sources].sum(axis=0),
        end_weight=float(words[:, sources:].sum() / len(words)),
        links=links,
        monotonicity=monotonicity(links),
        crossings=crossings(links),
        unaligned=len(words) - len({j for _, j in links}),
        many_to_one=many_to_one(several),
        one_to_many=one_to_many(several),
        warnings=_warnings(words, sources, normalised),
    )


def entropy(weights: Weights) -> Numbers:
    """The entropy of each row in nats, (T_y,): -sum_j alpha_ij log alpha_ij, with 0 log 0 = 0.

    Rows that do not sum to 1, as in local attention, are normalised first; a row without any weight
    has entropy 0.
    """
    total = weights.sum(axis=1, keepdims=True)
    shares = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    # Adding 0 turns the -0 of a single weight of 1 into 0.
    return -(shares * logs).sum(axis=1) + 0.0


def monotonicity(links: Alignment) -> float | None:
    """The share of steps from one aligned target word to the next that do not go back, 0 to 1.

    A target word stands where its source words stand on average. None for fewer than two aligned
    target words, which make no step.
    """
    by_target = _grouped((j, i) for i, j in links)
    places = [sum(sources) / len(sources) for _, sources in sorted(by_target.items())]
    steps = np.diff(places)
    return float((steps >= 0).mean()) if len(steps) else None


def crossings(links: Alignment) -> int:
    """How many pairs of links cross: one starts before the other and ends after it."""
    source, target = np.array(sorted(links)).reshape(-1, 2).T
    crossed = (source[:, None] < source) & (target[:, None] > target)
    return int(crossed.sum())


def many_to_one(links: Alignment) -> dict[int, list[int]]:
    """Target words with several source words: target position to source positions, in order."""
    return {j: found for j, found in _grouped((j, i) for i, j in links).items() if len(found) > 1}


def one_to_many(links: Alignment) -> dict[int, list[int]]:
    """Source words with several target words: source position to target positions, in order."""
    return {i: found for i, found in _grouped(links).items() if len(found) > 1}


def summarise(diagnoses: Sequence[Diagnosis]) -> dict[str, Any]:
    """Many sentences in a few numbers, as `course align` prints them.

    Means are over target words (`entropy`, `normalised_entropy`, `end_weight`), over sentences
    (`monotonicity`, `crossings`), and shares of all target words (`unaligned`, `many_to_one`) or of
    all source words (`one_to_many`, `hardly_covered`: a coverage under 0.2). `warnings` counts the
    sentences of each kind, and `advice` has a line for each kind that most sentences show.
    """
    if not diagnoses:
        raise CourseError("There are no sentences to diagnose. Choose a split that is not empty.")
    words = sum(len(one.entropy) for one in diagnoses)
    sources = sum(len(one.coverage) for one in diagnoses)
    steps = [one.monotonicity for one in diagnoses if one.monotonicity is not None]
    counts = {kind: sum(kind in one.warnings for one in diagnoses) for kind in ADVICE}
    return {
        "sentences": len(diagnoses),
        "target_words": words,
        "entropy": float(sum(one.entropy.sum() for one in diagnoses) / words),
        "normalised_entropy": float(sum(one.normalised_entropy.sum() for one in diagnoses) / words),
        "end_weight": sum(one.end_weight * len(one.entropy) for one in diagnoses) / words,
        "monotonicity": sum(steps) / len(steps) if steps else None,
        "crossings": sum(one.crossings for one in diagnoses) / len(diagnoses),
        "unaligned": sum(one.unaligned for one in diagnoses) / words,
        "many_to_one": sum(len(one.many_to_one) for one in diagnoses) / words,
        "one_to_many": sum(len(one.one_to_many) for one in diagnoses) / sources,
        "hardly_covered": float(sum((one.coverage < HARDLY).sum() for one in diagnoses) / sources),
        "warnings": counts,
        "advice": [text for kind, text in ADVICE.items() if counts[kind] > len(diagnoses) / 2],
    }


ADVICE = {
    "uniform": "In most sentences every source word gets about the same weight: the weights say "
    "nothing. Train longer, or look whether the energies are near zero.",
    "stuck": "In most sentences one source position holds most of the weight, whatever is written. "
    "Look whether it is the end mark, and whether the query changes from step to step.",
}


def _warnings(words: Weights, sources: int, normalised: Numbers) -> dict[str, str]:
    warnings = {}
    if words.shape[1] >= FEWEST_COLUMNS and normalised.mean() >= UNIFORM:
        warnings["uniform"] = (
            f"Collapsed to uniform: the entropy is {normalised.mean():.0%} of the largest possible "
            f"one, so each of the {words.shape[1]} source positions gets about the same weight. "
            "These weights align nothing."
        )
    total = words.sum()
    share = words.sum(axis=0) / total if total else np.zeros(words.shape[1])
    held = int(share.argmax())
    if len(words) >= FEWEST_ROWS and sources > 1 and share[held] >= STUCK:
        where = f"source word {held + 1}" if held < sources else "the end mark of the source"
        warnings["stuck"] = (
            f"Stuck on one word: {where} has {share[held]:.0%} of all weight in the sentence, "
            "whatever is being written."
        )
    return warnings


def _grouped(pairs: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    groups: dict[int, list[int]] = {}
    for key, value in sorted(pairs):
        groups.setdefault(key, []).append(value)
    return groups
