"""Small problems of a student's own, drawn from their id."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from course_lib.assignments.owner import draw

Pair = tuple[float, float]
Value = TypeVar("Value")

STATE = (-1.0, -0.5, 0.5, 1.0)
ANNOTATION = (-1.5, -1.0, -0.5, 0.5, 1.0, 1.5)
APART = 0.15
"""How far the energies lie from each other at least: well beyond what rounding does."""


@dataclass(frozen=True)
class ThreeVectors:
    """A state and three annotations of two numbers each, for pencil and calculator."""

    state: Pair
    annotations: tuple[Pair, Pair, Pair]

    def __str__(self) -> str:
        vectors = {"s_0": self.state} | {
            f"h_{j}": annotation for j, annotation in enumerate(self.annotations, start=1)
        }
        return "\n".join(f"{name} = ({x:4}, {y:4})" for name, (x, y) in vectors.items())


def three_vectors(student_id: str) -> ThreeVectors:
    """This student's own.

    With identity weights the three energies lie well apart, each annotation wins for a third of all
    ids, and the one that wins is not the one most like the state (by the dot product).
    """
    drawn = draw(student_id)
    winner = _choice(drawn, range(3))
    while True:
        state = _pair(drawn, STATE)
        annotations = (_pair(drawn, ANNOTATION), _pair(drawn, ANNOTATION), _pair(drawn, ANNOTATION))
        likeness = [sum(s * h for s, h in zip(state, pair, strict=True)) for pair in annotations]
        scores = [
            sum(math.tanh(s + h) for s, h in zip(state, pair, strict=True)) for pair in annotations
        ]
        ranked = sorted(scores)
        apart = min(ranked[1] - ranked[0], ranked[2] - ranked[1]) >= APART
        unlike = likeness[winner] < max(likeness)
        if apart and scores[winner] == ranked[2] and unlike:
            return ThreeVectors(state, annotations)


def _pair(drawn: Random, values: Sequence[float]) -> Pair:
    return _choice(drawn, values), _choice(drawn, values)


def _choice(drawn: Random, values: Sequence[Value]) -> Value:
    """Like `Random.choice`, in a way that no version of Python changes."""
    return values[int(drawn.random() * len(values))]
