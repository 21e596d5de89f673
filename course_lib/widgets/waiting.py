"""Three models write one sentence, step by step: what is computed when, and what waits for what."""

from functools import cache
from typing import Any

import traitlets

from course_lib.widgets.modules import MovingFigure, module

SOURCE = ["le", "chat", "noir", "dort", "</s>"]
TARGET = ["the", "black", "cat", "sleeps", "</s>"]
LAYERS = 2
"""Of the Transformer, on each side."""
MODES = ("training", "use")

Vector = tuple[str, int, int]
"""A side, "source" or "target", a row of it from below, and a word of the row."""
Needs = dict[Vector, list[Vector]]


def recurrent(looks_back: bool, T_x: int, T_y: int) -> Needs:
    """What each vector of RNNsearch needs, or of RNNencdec, which reads forwards and keeps h_T."""
    ahead, back = ([("source", row, j) for j in range(T_x)] for row in (0, 1))
    needs: Needs = {ahead[j]: ahead[j - 1 : j] if j else [] for j in range(T_x)}
    if looks_back:
        needs |= {back[j]: back[j + 1 : j + 2] for j in range(T_x)}
    read = [*ahead, *back] if looks_back else ahead[-1:]
    for i in range(T_y):
        needs["target", 0, i] = [*read, *([("target", 0, i - 1)] if i else [])]
    return needs


def transformer(in_use: bool, T_x: int, T_y: int, layers: int = LAYERS) -> Needs:
    """What each vector of a Transformer needs. In use a word is read when it is written."""
    needs: Needs = {}
    for row in range(layers):
        below = [("source", row - 1, j) for j in range(T_x)] if row else []
        needs |= {("source", row, j): below for j in range(T_x)}
    top = [("source", layers - 1, j) for j in range(T_x)]
    for i in range(T_y):
        for row in range(layers):
            # The causal mask: a word looks at itself and at earlier ones.
            below = [("target", row - 1, k) for k in range(i + 1)] if row else []
            written = [("target", layers - 1, i - 1)] if in_use and i and not row else []
            needs["target", row, i] = [*top, *below, *written]
    return needs


def steps(needs: Needs) -> dict[Vector, int]:
    """The step at which each vector can be computed: one after the last that it needs."""

    @cache
    def step(vector: Vector) -> int:
        return 1 + max(map(step, needs[vector]), default=0)

    return {vector: step(vector) for vector in needs}


def start(source: list[str] = SOURCE, target: list[str] = TARGET) -> dict[str, Any]:
    """What the figure starts with: of each model, in both modes, its vectors with their steps."""
    sizes = len(source), len(target)
    models = {
        "RNNencdec": dict.fromkeys(MODES, recurrent(False, *sizes)),
        "RNNsearch": dict.fromkeys(MODES, recurrent(True, *sizes)),
        "Transformer": {mode: transformer(mode == "use", *sizes) for mode in MODES},
    }

    def listed(needs: Needs) -> list[dict[str, Any]]:
        numbers = {vector: number for number, vector in enumerate(needs)}
        return [
            {
                **dict(zip(("side", "row", "word"), vector, strict=True)),
                "step": step,
                "needs": [numbers[one] for one in needs[vector]],
            }
            for vector, step in steps(needs).items()
        ]

    return {
        "source": source,
        "target": target,
        "models": [
            {"name": name, **{mode: listed(needs) for mode, needs in modes.items()}}
            for name, modes in models.items()
        ],
        "mode": MODES[0],
        "frame": 0,
    }


class Waiting(MovingFigure):
    """Step through the writing of one sentence by RNNencdec, RNNsearch and a Transformer.

    Attributes:
        source, target: the words.
        models: of each its `name`, and for "training" and "use" its vectors: `side`, `row`, `word`,
            the `step` at which it is computed, and the numbers of the vectors that it `needs`.
        mode: "training", where the right words are there from the start, or "use".
        frame: the step that is shown.
    """

    _esm = module("waiting")

    source = traitlets.List(traitlets.Unicode()).tag(sync=True)
    target = traitlets.List(traitlets.Unicode()).tag(sync=True)
    models: Any = traitlets.List().tag(sync=True)
    mode = traitlets.Enum(MODES, MODES[0]).tag(sync=True)
    frame = traitlets.Int(0, min=0).tag(sync=True)

    def __init__(self, **values: Any) -> None:
        super().__init__(**{**start(), **values})
