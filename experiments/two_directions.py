"""Word alignments of two models, one for each direction of translation, combined.

By its largest weight a target word gets one source word at most, and so does it in IBM Model 1: two
words for one can be found in one direction only. Och and Ney (2003, Section 4) therefore train both
directions and combine what they find. All alignments are in the orientation of the first direction,
(source, target); `transposed` turns those of the second.
"""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from course_lib.corpora import Corpus
from course_lib.corpora.corpus import Link, Split
from course_lib.evaluation.align import Alignments, align_split, model1_alignments
from course_lib.evaluation.alignment import alignment_error_rate, argmax_links, threshold_links
from course_lib.evaluation.weights import Weights, between_words

Alignment = AbstractSet[Link]
BOTH = 0.2
"""From which weight on that both directions agree on, `agreed_weights`, two words are linked. On
the toy corpus's validation split 0.15 to 0.3 are best for the recorded RNNsearch."""
NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def transposed(links: Alignment) -> frozenset[Link]:
    """The same alignment read in the other direction: source and target exchanged."""
    return frozenset((j, i) for i, j in links)


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


def combined(forward: Alignments, backward: Alignments) -> dict[str, Alignments]:
    """The sentences' alignments from both directions, combined in every way."""
    return {
        name: [combine(one, other) for one, other in zip(forward, backward, strict=True)]
        for name, combine in COMBINATIONS.items()
    }


def agreed_weights(forward: Any, backward: Any) -> Weights:
    """Weights on which two models agree: the geometric mean, before anything is made a link.

    sqrt(alpha_ij beta_ji), both without the end mark (`weights.between_words`): a pair of words is
    strong where each model looks from one to the other.

    Args:
        forward: (T_y + 1, T_x + 1) weights of the model that writes the target.
        backward: (T_x + 1, T_y + 1) weights of the one that writes the source.

    Returns:
        (T_y, T_x); rows do not sum to 1.
    """
    return np.sqrt(between_words(forward) * between_words(backward).T)


def model1_both_ways(corpus: Corpus, split: str) -> tuple[Alignments, Alignments]:
    """The alignments of a split by two IBM Models 1, one of which writes the source."""
    train, part = corpus.splits["train"], corpus.splits[split]
    back = model1_alignments(*(Split(x.target, x.source, None, []) for x in (train, part)))
    return model1_alignments(train, part), list(map(transposed, back))


def align_both_ways(
    weights: Sequence[Weights], reverse: Sequence[Weights], corpus: Corpus, split: str
) -> dict[str, Any]:
    """What `align_split` says of a model and, with it, of one that translates back."""
    record = align_split(weights, corpus, split)
    forward, backward = ([argmax_links(alpha) for alpha in one] for one in (weights, reverse))
    backward = list(map(transposed, backward))
    agreed = [
        threshold_links(agreed_weights(*both), BOTH, end_mark=False)
        for both in zip(weights, reverse, strict=True)
    ]
    classical = model1_both_ways(corpus, split)
    for who, found in (
        ("attention", {"reverse": backward, "agreed": agreed, **combined(forward, backward)}),
        ("ibm1", {"reverse": classical[1], **combined(*classical)}),
    ):
        record["alignments"][who] |= {
            way: scored(links, corpus, split) for way, links in found.items()
        }
    return {**record, "both": BOTH}


def scored(found: Alignments, corpus: Corpus, split: str) -> dict[str, Any]:
    """Precision, recall and error rate against the corpus's links."""
    links = corpus.splits[split].links
    assert links is not None
    return alignment_error_rate(found, links)._asdict()
