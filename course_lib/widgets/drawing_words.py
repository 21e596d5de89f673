"""Five words, what temperature, top-k and nucleus leave of them, and twenty words drawn."""

from functools import cache
from typing import Any

import numpy as np
import torch
import traitlets
from matplotlib.figure import Figure
from numpy.typing import NDArray

from course_lib.figures.drawing_words import drawing_words
from course_lib.search import narrowed
from course_lib.search.sampling import draw_words
from course_lib.widgets.modules import MovingFigure, module

WORDS = {"bicycle": 0.50, "bike": 0.25, "motorcycle": 0.12, "horse": 0.08, "sofa": 0.05}
DRAWS, DRAWN = 10, 20
SEED = 16  # its first twenty words come about as often as they are probable


@cache
def start() -> dict[str, Any]:
    """The figure opens on the nucleus of 0.8.

    Returns:
        `uniform`: (DRAWS, DRAWN) numbers in [0, 1), of which each draws a word.
    """
    return {
        "words": list(WORDS),
        "probabilities": list(WORDS.values()),
        "uniform": np.random.default_rng(SEED).random((DRAWS, DRAWN)).round(6).tolist(),
        "temperature": 1.0,
        "top_k": len(WORDS),
        "top_p": 0.8,
        "draw": 0,
    }


class DrawingWords(MovingFigure):
    """Narrow a distribution and draw from it.

    Attributes:
        words, probabilities: the model's, the most probable first.
        uniform: see `start`.
        temperature, top_k, top_p: as in `course_lib.search.narrowed`.
        draw: which row of `uniform` draws.
    """

    _esm = module("drawing_words")

    words = traitlets.List(traitlets.Unicode()).tag(sync=True)
    probabilities = traitlets.List(traitlets.Float()).tag(sync=True)
    uniform: Any = traitlets.List().tag(sync=True)
    temperature = traitlets.Float(min=0.25, max=2).tag(sync=True)
    top_k = traitlets.Int(min=1, max=len(WORDS)).tag(sync=True)
    top_p = traitlets.Float(min=0.05, max=1).tag(sync=True)
    draw = traitlets.Int(min=0, max=DRAWS - 1).tag(sync=True)

    def __init__(self, **values: Any) -> None:
        super().__init__(**{**start(), **values})

    @property
    def shares(self) -> NDArray[np.float64]:
        """(5,), the probabilities that words are drawn from."""
        log_probs = torch.tensor(self.probabilities, dtype=torch.float64).log()
        return narrowed(log_probs, self.temperature, self.top_k, self.top_p).numpy()

    @property
    def counts(self) -> list[int]:
        """(5,), how often each word was drawn."""
        uniform = torch.tensor(self.uniform[self.draw], dtype=torch.float64)
        rows = torch.tensor(self.shares).expand(len(uniform), -1)
        return torch.bincount(draw_words(rows, uniform), minlength=len(self.words)).tolist()


def words_drawn(**values: Any) -> Figure:
    """What the figure starts with."""
    figure = DrawingWords(**values)
    return drawing_words(figure.words, figure.probabilities, figure.shares.tolist(), figure.counts)
