"""Curves of gates: what is drawn is what was measured, and legible."""

import pytest

from course_lib.figures.gates import gate_curves
from tests.figures.boxes import assert_legible

GATES = {"update": [0.2, 0.9, 0.5], "reset": [0.1, 0.3, 0.8]}


def test_gates_stand_at_their_words() -> None:
    figure = gate_curves(GATES, ["the", "cat", "$"])
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["the", "cat", "$"]
    lines = {line.get_gid(): line for line in axes.lines}
    for name, values in GATES.items():
        assert list(lines[f"gate-{name}"].get_xdata()) == [0, 1, 2]
        assert list(lines[f"gate-{name}"].get_ydata()) == values
    assert axes.get_ylim() == (0, 1)


@pytest.mark.parametrize("words", [1, 2, 10, 40])
def test_words_never_touch(words: int) -> None:
    names = [("donaudampfschifffahrt", "a", "</s>", "lehrer")[k % 4] for k in range(words)]
    figure = gate_curves({gate: [0.5] * words for gate in ("input", "forget", "output")}, names)
    assert_legible(figure)
    assert figure.get_figwidth() < 11
