"""Small problems of a student's own, drawn from their id.

Some everybody has, with the numbers of the book, unless the class has been given a file that says
otherwise (`course release --variants`): then these are drawn too. `None` in place of an id asks for
the book's.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TypeVar

from course_lib.assignments.owner import draw, normalised_id, seed

CLASS = "class.json"
"""Beside a notebook whose numbers are drawn for everybody: what they are drawn with."""

TwoNumbers = tuple[float, float]
Value = TypeVar("Value")

STATE = (-1.0, -0.5, 0.5, 1.0)
ANNOTATION = (-1.5, -1.0, -0.5, 0.5, 1.0, 1.5)
APART = 0.15
"""How far the energies lie from each other at least: well beyond what rounding does."""
FARTHEST = 3.0
"""How large the components of a state may be that a student makes up."""
GRID = [FARTHEST * step / 6 for step in range(-6, 7)]
LEAD = 0.05
"""By how much another annotation can lead, for a state on a grid of such components."""


@dataclass(frozen=True)
class ThreeVectors:
    """A state and three annotations of two numbers each, for pencil and calculator."""

    state: TwoNumbers
    annotations: tuple[TwoNumbers, TwoNumbers, TwoNumbers]

    def __str__(self) -> str:
        vectors = {"s_0": self.state} | {
            f"h_{j}": annotation for j, annotation in enumerate(self.annotations, start=1)
        }
        return "\n".join(f"{name} = ({x:4}, {y:4})" for name, (x, y) in vectors.items())


def three_vectors(student_id: str) -> ThreeVectors:
    """This student's own.

    With identity weights the three energies lie well apart, each annotation wins for a third of all
    ids, and the one that wins is not the one most like the state (by the dot product). No component
    is the same in all three, and for some other state another annotation wins.
    """
    drawn = _draw(student_id, "three vectors") if salt() else draw(student_id)
    winner = _choice(drawn, range(3))
    while True:
        state = _pair(drawn, STATE)
        annotations = (_pair(drawn, ANNOTATION), _pair(drawn, ANNOTATION), _pair(drawn, ANNOTATION))
        likeness = [sum(s * h for s, h in zip(state, pair, strict=True)) for pair in annotations]
        scores = energies(state, annotations)
        ranked = sorted(scores)
        apart = min(ranked[1] - ranked[0], ranked[2] - ranked[1]) >= APART
        unlike = likeness[winner] < max(likeness)
        mixed = all(len(set(column)) > 1 for column in zip(*annotations, strict=True))
        if apart and scores[winner] == ranked[2] and unlike and mixed:
            others = (lead(energies((x, y), annotations), winner) for x in GRID for y in GRID)
            if min(others) <= -LEAD:
                return ThreeVectors(state, annotations)


def energies(state: Sequence[float], annotations: Sequence[TwoNumbers]) -> list[float]:
    """The energies of annotations for a state, with identity weights and v_a = (1, 1)."""
    return [sum(math.tanh(s + h) for s, h in zip(state, pair, strict=True)) for pair in annotations]


def lead(scores: Sequence[float], winner: int) -> float:
    """How far an energy is ahead of all others; below 0 if it is behind one."""
    return scores[winner] - max(one for place, one in enumerate(scores) if place != winner)


def salt() -> str | None:
    """What the numbers of this class are drawn with; None where everybody has the book's."""
    try:
        return str(json.loads(Path(CLASS).read_text(encoding="utf-8"))["salt"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


EXAMPLE = ThreeVectors((0.5, 0.5), ((1.0, 0.0), (0.0, 1.0), (1.0, 1.0)))


def example(student_id: str | None) -> ThreeVectors:
    """The vectors of the first parts of `attention_by_hand`.

    Whoever has them: h_1 and h_2 are each other turned round, h_3 is at least as large in both
    components and wins for the state and for its opposite, with a lead of 0.3 to 1.1.
    """
    if student_id is None:
        return EXAMPLE
    drawn = _draw(student_id, "example")
    while True:
        a = _choice(drawn, (0.3, 0.4, 0.5, 0.6, 0.7))
        large = _choice(drawn, (0.8, 0.9, 1.0, 1.1, 1.2))
        small = _choice(drawn, (-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3))
        found = ThreeVectors((a, a), ((large, small), (small, large), (large, large)))
        leads = [lead(energies((x, x), found.annotations), 2) for x in (a, -a)]
        if found != EXAMPLE and all(0.3 <= one <= 1.1 for one in leads):
            return found


def query(student_id: str | None) -> TwoNumbers:
    """The query of the first part of `beyond_additive`: towards h_1, and away from h_2."""
    if student_id is None:
        return 2.0, -1.0
    drawn = _draw(student_id, "query")
    others = [(x / 4, -y / 4) for x in range(6, 11) for y in range(3, 7) if (x, y) != (8, 4)]
    return _choice(drawn, others)


def number(student_id: str | None, n: int) -> int:
    """What the random queries and keys of n numbers begin from, in `beyond_additive`."""
    return n if student_id is None else seed(f"{salt()} keys {n} {normalised_id(student_id)}")


Follows = dict[str, dict[str, float]]


def rain(student_id: str | None) -> Follows:
    """The nine words of `decoding`: what can follow each, and how probably.

    Whoever has them: greedy search goes to "it rains", "rain falls" is the most probable sentence
    and more so by a fifth at least; of "it rains" and "it is raining" the first is more probable,
    and the second has the larger score for a penalty of 1.
    """
    if student_id is None:
        return _rain(0.6, 0.4, 0.75, 0.9, 0.7, 0.8, 0.9, 0.35)
    drawn = _draw(student_id, "rain")
    while True:
        numbers = [round(0.05 * _whole(drawn, *one), 2) for one in RAIN]
        it, rains, raining, falls, ends, stops, over, has = numbers
        greedy, best = it * rains * ends, (1 - it) * falls * stops
        longer = it * has * raining * over
        clear = rains >= has + 0.05 and has >= round(1 - rains - has, 2) + 0.05 >= 0.1
        if (
            clear
            and best >= 1.2 * max(greedy, longer)
            and greedy >= 1.05 * longer
            and math.log(longer) / 4 >= math.log(greedy) / 3 + 0.02
        ):
            return _rain(*numbers)


RAIN = ((11, 13), (8, 10), (14, 18), (16, 19), (13, 15), (15, 18), (17, 19), (6, 8))
"""What the numbers of `rain` are drawn between, in twentieths."""


def _rain(*numbers: float) -> Follows:
    it, rains, raining, falls, ends, stops, over, has = numbers

    def rest(*numbers: float) -> float:
        return round(1 - sum(numbers), 2)

    return {
        "<s>": {"it": it, "rain": rest(it)},
        "it": {"rains": rains, "is": has, "was": rest(rains, has)},
        "rain": {"falls": falls, "</s>": rest(falls)},
        "rains": {"</s>": ends, "today": rest(ends)},
        "is": {"raining": raining, "wet": rest(raining)},
        "falls": {"</s>": stops, "today": rest(stops)},
        "raining": {"</s>": over, "today": rest(over)},
        "was": {"wet": 1.0},
    }


def sentences(student_id: str | None, count: int) -> set[int]:
    """Positions of the sentences that are this student's in `heatmap_analysis`: half of them."""
    if student_id is None:
        return set(range(count))
    drawn = _draw(student_id, "sentences")
    return set(sorted(range(count), key=lambda _: drawn.random())[: count // 2])


def _draw(student_id: str, what: str) -> Random:
    return Random(seed(f"{salt()} {what} {normalised_id(student_id)}"))


def _whole(drawn: Random, low: int, high: int) -> int:
    """A whole number from `low` to `high`."""
    return low + int(drawn.random() * (high - low + 1))


def _pair(drawn: Random, values: Sequence[float]) -> TwoNumbers:
    return _choice(drawn, values), _choice(drawn, values)


def _choice(drawn: Random, values: Sequence[Value]) -> Value:
    """Like `Random.choice`, in a way that no version of Python changes."""
    return values[int(drawn.random() * len(values))]
