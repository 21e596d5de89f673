"""A beam search to step through: hypotheses, scores, what was dropped and when."""

import html
from collections.abc import Sequence
from typing import Any

import traitlets
from matplotlib.figure import Figure

from course_lib.figures.search_tree import search_tree
from course_lib.search import record_beam_search
from course_lib.search.search_tree import FINISHED, KEPT, PRUNED, SearchTree
from course_lib.training import Run
from course_lib.widgets.modules import MovingFigure, module

FATES = (KEPT, FINISHED, PRUNED)


def recorded_search(
    run: Run, source: Sequence[str], k: int, length_penalty: float
) -> dict[str, Any]:
    """One search of a trained model as the figure reads it.

    Returns:
        `source`, `k` and `length_penalty`; `nodes`, each [parent, step, word, log p, fate], the
        fate 0 for kept, 1 for finished, 2 for dropped; `best`, the numbers on the winner's path.
    """
    words = run.source_vocabulary.encode(list(source))
    _, tree = record_beam_search(run.model, words, k, length_penalty)
    shown = {"source": html.unescape(" ".join(source)), "k": k, "length_penalty": length_penalty}
    return shown | drawn_tree(tree, run)


def drawn_tree(tree: SearchTree, run: Run) -> dict[str, Any]:
    """The `nodes` of a search and the path to the `best` of them; see `recorded_search`."""
    tokens = run.target_vocabulary.tokens
    return {
        "nodes": [
            [
                *(node.parent, node.step, html.unescape(tokens[node.word])),
                *(round(node.log_prob, 3), FATES.index(node.fate)),
            ]
            for node in tree.nodes
        ],
        "best": [node.number for node in tree.path(tree.best)],
    }


def searched(
    searches: Sequence[Any], source: str, k: int, length_penalty: float, **_: Any
) -> Figure:
    """The tree of the search that the figure starts with."""
    wanted = (source, k, length_penalty)
    one = next(s for s in searches if (s["source"], s["k"], s["length_penalty"]) == wanted)
    return search_tree(one["nodes"], one["best"])


class BeamTree(MovingFigure):
    """One of several recorded searches, as far as `step`.

    Attributes:
        searches: what `recorded_search` returns, for each sentence and setting.
        source, k, length_penalty: which of them is shown.
        step: how many words its hypotheses have.
    """

    _esm = module("beam_tree")

    searches: Any = traitlets.List().tag(sync=True)
    source = traitlets.Unicode().tag(sync=True)
    k = traitlets.Int().tag(sync=True)
    length_penalty = traitlets.Float().tag(sync=True)
    step = traitlets.Int(0, min=0).tag(sync=True)

    @classmethod
    def of(
        cls,
        run: Run,
        source: Sequence[str],
        widths: Sequence[int] = (1, 2, 3, 5),
        length_penalties: Sequence[float] = (0.0, 1.0),
    ) -> "BeamTree":
        """The figure of a model of your own, for one sentence's tokens."""
        searches = [recorded_search(run, source, k, p) for k in widths for p in length_penalties]
        first = {key: searches[0][key] for key in ("source", "k", "length_penalty")}
        return cls(searches=searches, **first)
