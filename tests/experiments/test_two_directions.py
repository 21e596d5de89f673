"""Two directions combined: between intersection and union, the same whichever way they are read."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from course_lib.corpora import Link, load_corpus
from experiments.two_directions import (
    COMBINATIONS,
    agreed_weights,
    align_both_ways,
    grow_diag,
    intersection,
    union,
)
from tests.evaluation.gold_weights import weights_on_links

links = st.frozensets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=14)


def moses(forward: frozenset[Link], backward: frozenset[Link]) -> set[Link]:
    """Moses' procedure over the whole grid, with nothing remembered between two looks."""
    grown = set(forward & backward)
    changed = True
    while changed:
        changed = False
        for target in range(6):
            for source in range(6):
                if (source, target) not in grown:
                    continue
                for down, right in (
                    *((-1, 0), (0, -1), (1, 0), (0, 1)),
                    *((-1, -1), (-1, 1), (1, -1), (1, 1)),
                ):
                    new = (source + right, target + down)
                    source_free = all(i != new[0] for i, _ in grown)
                    target_free = all(j != new[1] for _, j in grown)
                    if new in forward | backward and (source_free or target_free):
                        grown.add(new)
                        changed = True
    return grown


def test_by_hand() -> None:
    """ "went to the zoo" / "ging zum zoo": both find went and zoo, each finds half of "zum"."""
    forward = frozenset({(0, 0), (1, 1), (3, 2)})
    backward = frozenset({(0, 0), (2, 1), (3, 2), (3, 0)})
    assert intersection(forward, backward) == {(0, 0), (3, 2)}
    assert union(forward, backward) == {(0, 0), (1, 1), (2, 1), (3, 2), (3, 0)}
    # (3, 0) lies next to nothing that is there.
    assert grow_diag(forward, backward) == {(0, 0), (1, 1), (2, 1), (3, 2)}


@given(links, links)
def test_growing_follows_the_published_procedure(
    forward: frozenset[Link], backward: frozenset[Link]
) -> None:
    assert grow_diag(forward, backward) == moses(forward, backward)


@given(links, links)
def test_every_combination_lies_between_intersection_and_union(
    forward: frozenset[Link], backward: frozenset[Link]
) -> None:
    for combine in COMBINATIONS.values():
        combined = combine(forward, backward)
        assert forward & backward <= combined <= forward | backward
        assert combine(backward, forward) == combined


def test_weights_agree_where_each_model_looks_at_the_other_word() -> None:
    """Two words a side and their end marks; the geometric means by hand."""
    forward = [[0.4, 0.1, 0.5], [0.25, 0.75, 0.0], [0.0, 0.0, 1.0]]
    backward = [[0.9, 0.0, 0.1], [0.32, 0.48, 0.2], [0.0, 0.0, 1.0]]
    # Without end marks: 0.8 0.2 / 0.25 0.75, and 1 0 / 0.4 0.6 turned.
    wanted = np.sqrt([[0.8 * 1.0, 0.2 * 0.4], [0.25 * 0.0, 0.75 * 0.6]])
    np.testing.assert_allclose(agreed_weights(forward, backward), wanted)
    turned = agreed_weights(backward, forward)
    np.testing.assert_allclose(turned, wanted.T)


def test_weights_on_the_gold_links_are_without_error_whichever_way_they_are_read() -> None:
    corpus = load_corpus("verbs", min_length=3, max_length=12, train=400, val=5, test=40)
    forward = weights_on_links(corpus)
    backward = [alpha.T for alpha in forward]
    scores = align_both_ways(forward, backward, corpus, "test")["alignments"]
    combinations = {"reverse", "intersection", "union", "grow-diag"}
    assert scores["attention"].keys() == {"argmax", "threshold", "words", "agreed"} | combinations
    assert {score["aer"] for score in scores["attention"].values()} == {0}
    assert scores["ibm1"].keys() == {"forward"} | combinations
    assert all(0 < score["aer"] < 1 for score in scores["ibm1"].values())
