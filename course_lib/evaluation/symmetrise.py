"""Two alignments of the same pairs, one from each direction of translation, put together.

By its largest weight a target word gets one source word at most, and so does it in IBM Model 1: two
words for one can be found in one direction only. Och and Ney (2003, Section 4) therefore train both
directions and combine what they find. Both alignments come here in the same orientation, (source,
target) of the first one; `alignment.transposed` turns the second.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from course_lib.corpora.corpus import Link
from course_lib.errors import CourseError
from course_lib.evaluation.alignment import Alignment
from course_lib.evaluation.weights import Weights, between_words

NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def intersection(forward: Alignment, backward: Alignment) -> frozenset[Link]:
    """The links that both found: few, and mostly right."""
    return frozenset(forward & backward)


def union(forward: Alignment, backward: Alignment) -> frozenset[Link]:
    """The links that one of them found: many, and more of them wrong."""
    return frozenset(forward | backward)


def grow_diag(forward: Alignment, backward: Alignment) -> frozenset[Link]:
    """From the intersection towards the union, along neighbours (Koehn, Och and Marcu, 2003).

    A link of the union is added if it lies next to one that is already there, diagonally counts,
    and if one of its two words has no link yet; again and again, until nothing can be added. The
    order decides a few cases; it is that of Moses: by target word, then by source word.
    """
    either = forward | backward
    grown = set(forward & backward)
    sources, targets = {i for i, _ in grown}, {j for _, j in grown}
    order = sorted(either, key=lambda link: (link[1], link[0]))
    growing = True
    while growing:
        growing = False
        for i, j in order:
            if (i, j) not in grown:
                continue
            for up, right in NEIGHBOURS:
                link = (i + right, j + up)
                if link in either and not (link[0] in sources and link[1] in targets):
                    grown.add(link)
                    sources.add(link[0])
                    targets.add(link[1])
                    growing = True
    return frozenset(grown)


def both_directions(forward: Any, backward: Any) -> Weights:
    """Weights on which two models agree: the geometric mean, before anything is made a link.

    sqrt(alpha_ij beta_ji), both without the end mark (`weights.between_words`): a pair of words is
    strong where each model looks from one to the other. Links are those from a threshold up
    (`alignment.threshold_links` with `end_mark` false).

    Args:
        forward: (T_y + 1, T_x + 1) weights of the model that writes the target.
        backward: (T_x + 1, T_y + 1) weights of the one that writes the source.

    Returns:
        (T_y, T_x); rows do not sum to 1.
    """
    one, other = between_words(forward), between_words(backward).T
    if one.shape != other.shape:
        raise CourseError(
            f"The weights are {one.shape[0]} x {one.shape[1]} words one way and "
            f"{other.shape[1]} x {other.shape[0]} the other. Give those of one sentence pair."
        )
    return np.sqrt(one * other)


COMBINATIONS: dict[str, Callable[[Alignment, Alignment], frozenset[Link]]] = {
    "intersection": intersection,
    "union": union,
    "grow-diag": grow_diag,
}
"""The ways to combine two directions, by the names they have in the literature."""
