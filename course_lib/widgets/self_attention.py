"""Three words that look at each other: query, key and value of each, weights and contexts."""

from typing import Any

import traitlets

from course_lib.widgets.modules import MovingFigure, module

START: dict[str, Any] = {
    "words": [[1, 0], [0, 1], [1, 1]],
    "W_Q": [[1, 1], [0, 0]],
    "W_K": [[-1, 0], [0, 1]],
    "W_V": [[0, 0], [0, 1]],
    "asks": 1,
    "step": 2,
    "matrices": True,
}
"""The example of chapter 10, done."""


class SelfAttentionByHand(MovingFigure):
    """One word asks, three answer: score, normalise, aggregate.

    Attributes:
        words: (3, 2), shown as *the*, *dog* and *sleeps*.
        W_Q, W_K, W_V: (2, 2); a word is multiplied from the left.
        asks: which word, from 1.
        step: 0 to score, 1 to normalise, 2 to aggregate.
        matrices: whether the words go through these; else they are query, key and value themselves.
    """

    _esm = module("self_attention")

    words: Any = traitlets.List().tag(sync=True)
    W_Q: Any = traitlets.List().tag(sync=True)
    W_K: Any = traitlets.List().tag(sync=True)
    W_V: Any = traitlets.List().tag(sync=True)
    asks = traitlets.Int(min=1, max=3).tag(sync=True)
    step = traitlets.Int(min=0, max=2).tag(sync=True)
    matrices = traitlets.Bool().tag(sync=True)

    def __init__(self, **values: Any) -> None:
        super().__init__(**{**START, **values})
