"""Attention by hand: the library's numbers, on the screen and in Python, however they are moved."""

import random
from pathlib import Path

import numpy as np
import pytest
import torch
from playwright.sync_api import Page

from course_lib.assignments.instances import three_vectors
from course_lib.models import Attention, masked_softmax
from course_lib.widgets import AttentionByHand
from course_lib.widgets.by_hand import START
from tests.widgets.conftest import Open

ASSIGNMENT = Path(__file__).parents[2] / "solutions" / "attention_by_hand" / "attention_by_hand.md"
NAMES = ("h_1", "h_2", "h_3")
FIELDS = 8 + 8 + 2


def numbers(page: Page, selector: str) -> list[float]:
    texts = page.locator(selector).all_inner_texts()
    return [float(text.replace("−", "-")) for text in texts]


def fill(page: Page, values: list[float]) -> None:
    """Type numbers into the fields, in their order: s, h_1, h_2, h_3, W_a, U_a, v."""
    for field, value in zip(page.locator("input").all(), values, strict=True):
        field.fill(str(value))


def drawn(seed: int) -> list[float]:
    draw = random.Random(seed)
    return [round(draw.uniform(-2, 2), 2) for _ in range(FIELDS)]


def widget_of(values: list[float]) -> AttentionByHand:
    array = np.array(values)
    return AttentionByHand(
        state=array[:2].tolist(),
        annotations=array[2:8].reshape(3, 2).tolist(),
        W_a=array[8:12].reshape(2, 2).tolist(),
        U_a=array[12:16].reshape(2, 2).tolist(),
        v=array[16:].tolist(),
    )


def test_the_widget_computes_what_the_library_does() -> None:
    widget = widget_of(drawn(1))
    score = Attention(n=2, annotation_size=2, n_prime=2).double()
    with torch.no_grad():
        for layer, value in (("W_a", widget.W_a), ("U_a", widget.U_a), ("v_a", [widget.v])):
            score.get_parameter(f"{layer}.weight").copy_(torch.tensor(value))
    annotations = torch.tensor([widget.annotations], dtype=torch.float64)
    state = torch.tensor([widget.state], dtype=torch.float64)
    energies = score.energies(state, score.keys(annotations))
    alpha = masked_softmax(energies, torch.ones(1, 3, dtype=torch.bool))
    assert np.allclose(widget.energies, energies[0].detach())
    assert np.allclose(widget.weights, alpha[0].detach())
    assert np.allclose(widget.context, (alpha @ annotations)[0, 0].detach())


def test_the_screen_shows_what_python_computes(open_figure: Open) -> None:
    page = open_figure("attention_by_hand")
    for seed in range(5):
        fill(page, drawn(seed))
        widget = widget_of(drawn(seed))
        assert numbers(page, "td.role-energy") == widget.energies.round(4).tolist()
        assert numbers(page, "td.role-weight") == widget.weights.round(4).tolist()
        context = page.locator("strong.role-context").inner_text().strip("()").replace("−", "-")
        assert [float(part) for part in context.split(",")] == widget.context.round(4).tolist()


def test_it_starts_at_the_example_and_comes_back_to_it(open_figure: Open) -> None:
    page = open_figure("attention_by_hand")
    assert numbers(page, "td.role-energy") == [1.3673, 1.3673, 1.8103]
    page.get_by_role("button", name="Turn the state round").click()
    assert numbers(page, "td.role-energy") == [0, 0, 0.9242]
    fill(page, drawn(3))
    page.get_by_role("button", name="Back to the start").click()
    assert numbers(page, "td.role-energy") == [1.3673, 1.3673, 1.8103]
    assert not page.get_by_text("the picture").is_visible()


def test_it_starts_where_the_assignment_does_and_with_no_students_own_numbers() -> None:
    text = ASSIGNMENT.read_text(encoding="utf-8")
    for name, vector in (("s_0", START["state"]), *zip(NAMES, START["annotations"], strict=True)):
        first, second = (f"{number:g}" for number in vector)
        assert f"{name} = \\begin{{pmatrix}} {first} \\\\ {second} \\end{{pmatrix}}" in text
    assert "$W_a$ and $U_a$ are the identity and $v_a = (1, 1)$" in text
    assert (START["W_a"], START["v"]) == (START["U_a"], [1.0, 1.0])
    assert START["U_a"] == np.eye(2).tolist()
    # two energies are equal here; a student's own lie apart
    assert len(set(AttentionByHand().energies)) == 2
    for number in range(200):
        own = three_vectors(f"student-{number}")
        drawn = AttentionByHand(state=own.state, annotations=[list(h) for h in own.annotations])
        assert len(set(drawn.energies.round(6))) == 3


def written(number: float) -> str:
    """With one decimal, or two where there are two."""
    return str(round(float(number), 2))


def test_the_arithmetic_is_written_out(open_figure: Open) -> None:
    page = open_figure("attention_by_hand")
    values = drawn(4)
    fill(page, values)
    widget = widget_of(values)
    W_a, U_a = np.array(widget.W_a), np.array(widget.U_a)
    sums = [W_a @ widget.state + U_a @ h for h in np.array(widget.annotations)]
    for row, total, h, weight in zip(
        page.locator(".by-hand-results tbody tr").all(),
        sums,
        widget.annotations,
        widget.weights,
        strict=True,
    ):
        line = row.inner_text().replace("−", "-")
        assert f"({total[0]:.2f}, {total[1]:.2f})" in line
        for part, v in zip(np.tanh(total), widget.v, strict=True):
            assert f"{written(v)} · {part:.3f}" in line
        context = page.locator(".by-hand-context").inner_text().replace("−", "-")
        assert f"{weight:.4f} · ({written(h[0])}, {written(h[1])})" in context


def test_an_arrow_is_dragged_and_moved_with_keys(open_figure: Open) -> None:
    page = open_figure("attention_by_hand")
    state = page.get_by_role("slider", name="s", exact=True)
    box = state.locator("circle").bounding_box()
    plane = page.locator(".by-hand-plane").bounding_box()
    assert box is not None
    assert plane is not None
    unit = plane["width"] / 4.5
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + unit, y + 1.5 * unit, steps=3)
    page.mouse.up()
    page.mouse.move(x, y)
    fields = [float(field.input_value()) for field in page.locator("input").all()[:2]]
    assert fields == pytest.approx([1.5, -1.0], abs=0.051)
    state.press("Home")
    state.press("ArrowLeft")
    state.press("Shift+ArrowUp")
    assert [field.input_value() for field in page.locator("input").all()[:2]] == ["0.4", "1"]
    assert state.get_attribute("aria-valuetext") == "0.40, 1.00"
    expected = AttentionByHand(state=[0.4, 1.0]).energies.round(4).tolist()
    assert numbers(page, "td.role-energy") == expected


def test_what_has_changed_is_said_to_screen_readers(open_figure: Open) -> None:
    page = open_figure("attention_by_hand")
    page.get_by_role("slider", name="s", exact=True).press("ArrowRight")
    said = page.locator("[aria-live=polite]")
    page.wait_for_function("() => document.querySelector('[aria-live]').textContent")
    assert "h 3 has the largest" in said.inner_text()


def test_numbers_that_are_none_change_nothing(open_figure: Open) -> None:
    page = open_figure("attention_by_hand")
    page.locator("input").first.fill("")
    assert numbers(page, "td.role-energy") == [1.3673, 1.3673, 1.8103]


@pytest.mark.parametrize("wrong", [[1.0], [1.0, float("nan")], "ab", [[1.0, 2.0]]])
def test_a_trait_of_another_shape_is_refused(wrong: object) -> None:
    widget = AttentionByHand()
    with pytest.raises((ValueError, Exception), match=r"state|float"):
        widget.state = wrong
    assert widget.state == START["state"]
