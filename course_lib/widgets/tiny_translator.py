"""A translator whose states are two numbers: its reading and writing are walks in a plane."""

from math import prod
from typing import Any

import traitlets

from course_lib.widgets.modules import MovingFigure, module


class TinyTranslator(MovingFigure):
    """Step through four short sentences: read word by word, then written word by word.

    Attributes:
        tokens: (K,) the target words whose probabilities are drawn.
        walks: for each sentence its `source` and `target` words with their end marks; the states
            `read`, (T_x, 2), and `written`, (T_y, 2), the one that each step reads; and the
            `probabilities`, (T_y, K). `known`: whether the model learned from it.
        walk: which sentence is shown.
        frame: how many words are read; then come the note and the first state, then the steps.
    """

    _esm = module("tiny_translator")

    tokens = traitlets.List(traitlets.Unicode()).tag(sync=True)
    walks: Any = traitlets.List().tag(sync=True)
    walk = traitlets.Int(0, min=0).tag(sync=True)
    frame = traitlets.Int(0, min=0).tag(sync=True)

    @traitlets.validate("walk", "frame")
    def _there(self, proposal: Any) -> int:
        name, value = proposal["trait"].name, int(proposal["value"])
        walk = value if name == "walk" else self.walk
        if walk >= len(self.walks):
            raise traitlets.TraitError(f"walk is at most {len(self.walks) - 1}.")
        last = len(self.walks[walk]["source"]) + 2 + len(self.walks[walk]["target"])
        if name == "frame" and value > last:
            raise traitlets.TraitError(f"frame is at most {last}.")
        return value

    @property
    def factors(self) -> list[tuple[str, float]]:
        """The words written up to this frame, each with its probability."""
        shown = self.walks[self.walk]
        steps = max(0, self.frame - len(shown["source"]) - 2)
        rows = zip(shown["target"][:steps], shown["probabilities"], strict=False)
        return [(word, row[self.tokens.index(word)]) for word, row in rows]

    @property
    def product(self) -> float:
        """Of these probabilities."""
        return prod(factor for _, factor in self.factors)
