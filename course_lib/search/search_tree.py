"""A beam search written down: every continuation it looked at, and what became of it.

Drawn as a tree: a node is a beginning of a translation, its parent the beginning that it extends by
one word. The record comes from the search itself, which calls `Recorder` with every step.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch

from course_lib.corpora.vocabulary import BOS, EOS
from course_lib.models import RNNsearch
from course_lib.search.beam import BeamStep, beam_search
from course_lib.search.hypothesis import Hypothesis, evaluating, sources_for

KEPT, FINISHED, PRUNED = "kept", "finished", "pruned"


class Node(NamedTuple):
    """A beginning of a translation that a search looked at.

    number: its place in the tree's list of nodes.
    parent: the number of the beginning that it extends; None for the root, the begin mark.
    step: how many words it has, the begin mark not counted and the end mark counted.
    word: the number of its last word.
    log_prob: log p of all its words given the source, in nats.
    score: log_prob / step ** length_penalty, which ranks finished translations.
    fate: "kept", the search goes on from here; "finished", its last word is the end mark;
        "pruned", it had no place in the beam.
    """

    number: int
    parent: int | None
    step: int
    word: int
    log_prob: float
    score: float
    fate: str


class SearchTree(NamedTuple):
    """Everything a beam search of width `k` looked at for one sentence.

    nodes: the root first, then step by step; within a step by parent, best continuation first. Of
        each kept beginning the k best continuations are nodes: no other word can have a place.
    best: the number of the finished translation that won.
    """

    k: int
    length_penalty: float
    nodes: list[Node]
    best: int

    def path(self, number: int) -> list[Node]:
        """The nodes from the first word to the one asked for."""
        nodes = []
        node = self.nodes[number]
        while node.parent is not None:
            nodes.append(node)
            node = self.nodes[node.parent]
        return nodes[::-1]


class Recorder:
    """Collects the nodes of one sentence's search from the steps it is called with."""

    def __init__(self, length_penalty: float) -> None:
        self.length_penalty = length_penalty
        self.nodes = [Node(0, None, 0, BOS, 0.0, 0.0, KEPT)]
        self._live = [0]  # the nodes that the rows of the coming step are

    def __call__(self, step: BeamStep) -> None:
        """Take in one step of the search."""
        fates = {(row, column): FINISHED for row, column in step.ended.tolist()}
        kept = [(row, column) for row, column in step.kept.tolist()]
        fates.update(dict.fromkeys(kept, KEPT))
        numbers = {}
        for row, (totals, words) in enumerate(
            zip(step.totals.tolist(), step.words.tolist(), strict=True)
        ):
            for column, (log_prob, word) in enumerate(zip(totals, words, strict=True)):
                if log_prob == -torch.inf:
                    continue  # forbidden
                numbers[row, column] = len(self.nodes)
                self.nodes.append(
                    Node(
                        len(self.nodes),
                        self._live[row],
                        step.number,
                        word,
                        log_prob,
                        log_prob / step.number**self.length_penalty,
                        fates.get((row, column), PRUNED),
                    )
                )
        self._live = [numbers[place] for place in kept]

    def tree(self, k: int, hypothesis: Hypothesis) -> SearchTree:
        """The finished record of a search whose best translation this is."""
        tree = SearchTree(k, self.length_penalty, self.nodes, 0)
        words = [*hypothesis.tokens, EOS]
        best = next(
            node.number
            for node in self.nodes
            if node.fate == FINISHED and [n.word for n in tree.path(node.number)] == words
        )
        return tree._replace(best=best)


def n_best(
    model: RNNsearch, sentence: Sequence[int], n: int, k: int, length_penalty: float = 1.0
) -> list[tuple[list[int], float]]:
    """The n best translations that a beam search of width k finishes, with their scores.

    Best first, ranked as the search ranks them; fewer where fewer came to their end.
    """
    _, tree = record_beam_search(model, sentence, k, length_penalty)
    ends = sorted((node for node in tree.nodes if node.fate == FINISHED), key=lambda x: -x.score)
    return [([x.word for x in tree.path(end.number)[:-1]], end.score) for end in ends[:n]]


def record_beam_search(
    model: RNNsearch,
    sentence: Sequence[int],
    k: int = 5,
    length_penalty: float = 1.0,
) -> tuple[Hypothesis, SearchTree]:
    """Translate one encoded sentence, in evaluation mode, and keep the record of the search.

    The hypothesis is the one that `translate` finds: `beam_search` is what runs here.
    """
    recorder = Recorder(length_penalty)
    with evaluating(model):
        (hypothesis,) = beam_search(
            model, *sources_for(model, [sentence]), k, length_penalty, recorder
        )
    return hypothesis, recorder.tree(k, hypothesis)
