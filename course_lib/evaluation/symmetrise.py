"""Two alignments of the same pairs, one from each direction of translation, put together.

By its largest weight a target word gets one source word at most, and so does it in IBM Model 1: two
words for one can be found in one direction only. Och and Ney (2003, Section 4) therefore train both
directions and combine what they find. Both alignments come here in the same orientation, (source,
target) of the first one; `alignment.transposed` turns the second.
"""

from collections.abc import Callable

from course_lib.corpora.corpus import Link
from course_lib.evaluation.alignment import Alignment

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


COMBINATIONS: dict[str, Callable[[Alignment, Alignment], frozenset[Link]]] = {
    "intersection": intersection,
    "union": union,
    "grow-diag": grow_diag,
}
"""The ways to combine two directions, by the names they have in the literature."""
