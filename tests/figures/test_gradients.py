"""Curves of gradients and gates: what is drawn and told is what was measured, and legible."""

import pytest
import torch

from course_lib.errors import CourseError
from course_lib.evaluation.gradients import fresh_unit, gates_along, gradients_through_time
from course_lib.figures.alt import describe_gates, describe_gradients
from course_lib.figures.gradients import LOWEST, gate_curves, gradient_curves
from course_lib.models.cells import UNITS
from tests.figures.boxes import assert_legible, drawn_texts

Rows = list[dict[str, float]]


def falling(factor: float, steps: int = 30) -> Rows:
    return [
        {
            "distance": k,
            "median": factor**k,
            "low": factor ** (1.1 * k),
            "high": factor ** (0.9 * k),
        }
        for k in range(steps + 1)
    ]


PANELS = {
    "at initialisation": {"tanh": falling(0.9), "LSTM": falling(0.7)},
    "after training": {"tanh": falling(0.5), "LSTM": falling(0.98)},
}


def test_lines_and_bands_are_the_rows() -> None:
    figure = gradient_curves(PANELS)
    for axes, (title, curves) in zip(figure.axes, PANELS.items(), strict=True):
        assert axes.get_title(loc="left") == title
        lines = {line.get_gid(): line for line in axes.lines}
        bands = {band.get_gid(): band for band in axes.collections}
        for name, rows in curves.items():
            line = lines[f"gradient-{name}"]
            assert list(line.get_xdata()) == [row["distance"] for row in rows]
            assert list(line.get_ydata()) == [row["median"] for row in rows]
            outline = bands[f"band-{name}"].get_paths()[0].vertices
            assert {row["low"] for row in rows} <= set(outline[:, 1])
            assert {row["high"] for row in rows} <= set(outline[:, 1])


def test_panels_share_one_logarithmic_axis_that_shows_every_value() -> None:
    figure = gradient_curves(PANELS)
    assert {axes.get_yscale() for axes in figure.axes} == {"log"}
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    low, high = figure.axes[0].get_ylim()
    assert low <= 0.5**30
    assert high > 1


def test_no_marker_is_cut_where_a_value_is_a_power_of_ten() -> None:
    low, high = gradient_curves({"edge": {"tanh": falling(0.1, 3)}}).axes[0].get_ylim()
    assert low < 0.9 * 0.1**3
    assert high > 1.1


def test_a_unit_looks_the_same_in_every_panel() -> None:
    figure = gradient_curves(
        {
            "one": {"a": falling(0.9)},
            "two": {"b": falling(0.8), **PANELS["after training"], "a": falling(0.9)},
        }
    )
    looks = [
        (line.get_color(), line.get_marker(), line.get_linestyle())
        for axes in figure.axes
        for line in axes.lines
        if line.get_gid() == "gradient-a"
    ]
    assert len(looks) == 2
    assert looks[0] == looks[1]


@pytest.mark.parametrize(
    "panels",
    [
        PANELS,
        {"one": {"tanh": falling(0.9, steps=1)}},
        {"close together": {name: falling(0.8) for name in UNITS}},
        {"explodes": {"tanh, U × 1.5": falling(1.5, 60)}, "vanishes": {"tanh": falling(0.1, 60)}},
        {
            "nothing left": {
                "tanh": [
                    *falling(0.5, 3),
                    dict.fromkeys(("low", "median", "high"), 0.0) | {"distance": 4},
                ]
            }
        },
    ],
    ids=lambda panels: " and ".join(panels),
)
def test_labels_never_touch_and_none_is_missing(panels) -> None:
    figure = gradient_curves(panels)
    assert_legible(figure)
    labels = [text.get_text() for text in drawn_texts(figure) if text.get_gid() == "label"]
    wanted = [name for curves in panels.values() for name in curves]
    assert [label.removesuffix(" ↓") for label in labels] == wanted


def test_what_falls_out_of_the_panel_says_so() -> None:
    figure = gradient_curves({"vanishes": {"tanh": falling(0.1, 60), "LSTM": falling(0.9, 60)}})
    assert figure.axes[0].get_ylim()[0] == pytest.approx(10.0**LOWEST)
    labels = [text.get_text() for text in drawn_texts(figure) if text.get_gid() == "label"]
    assert labels == ["tanh ↓", "LSTM"]


def test_alt_text_tells_the_loss_and_its_rate() -> None:
    text = describe_gradients({"fresh": {"tanh": falling(0.5), "LSTM": falling(0.9)}})
    assert "1 panel" in text
    assert "fresh: tanh 3 · 10^-5 after 15 steps, 9 · 10^-10 after 30" in text
    assert "(times 0.50 a step on average)" in text
    assert "LSTM 0.21 after 15 steps, 0.042 after 30 (times 0.90 a step on average)." in text
    lost = [*falling(0.5, 1), {"distance": 2, "median": 0.0, "low": 0.0, "high": 0.0}]
    assert "0 after 2." in describe_gradients({"fresh": {"tanh": lost}})


def test_it_draws_what_the_evaluation_returns() -> None:
    inputs = torch.randn(4, 6, 3, dtype=torch.double, generator=torch.Generator().manual_seed(0))
    curves = {
        name: gradients_through_time(fresh_unit(name, inputs=3, size=4), inputs) for name in UNITS
    }
    assert_legible(gradient_curves({"fresh": curves}))
    gates = gates_along(fresh_unit("paper", inputs=3, size=4), inputs[0])
    assert_legible(gate_curves(gates, ["a", "b", "c", "d", "e", "</s>"]))


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


def test_alt_text_tells_where_a_gate_opens_most() -> None:
    text = describe_gates(GATES, ["the", "cat", "sleeps"])
    assert "update: 0.53 on average, most 0.90 at “cat”, least 0.20 at “the”." in text
    assert "reset: 0.40 on average, most 0.80 at “sleeps”, least 0.10 at “the”." in text


@pytest.mark.parametrize("panels", [{}, {"fresh": {}}, {"fresh": {"tanh": falling(0.5, 0)}}])
def test_no_gradient_is_no_figure(panels) -> None:
    for function in (gradient_curves, describe_gradients):
        with pytest.raises(CourseError, match="no gradient to draw"):
            function(panels)


@pytest.mark.parametrize(
    ("gates", "message"),
    [({}, "do not fit"), ({"z": [0.5]}, "do not fit"), ({"z": [0.5, 1.5]}, "outside 0 to 1")],
)
def test_gates_that_are_none_are_refused(gates, message: str) -> None:
    for function in (gate_curves, describe_gates):
        with pytest.raises(CourseError, match=message):
            function(gates, ["a", "b"])
