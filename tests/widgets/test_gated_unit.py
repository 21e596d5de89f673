"""The gated unit: at every setting the screen has what NumPy computes; the factor is a slope."""

from itertools import product

import numpy as np
import pytest
from playwright.sync_api import Page

from course_lib.widgets import GatesByHand
from tests.widgets.conftest import Open

GATES = [*product((0, 0.04, 0.25, 0.5, 1), (0, 0.3, 1))]
OLD = np.tanh([0.5, 1])


def pencil(z: float, r: float, old: np.ndarray = OLD) -> tuple[np.ndarray, np.ndarray]:
    """The proposal and the new state at "dog"; `r` resets the state before, which U then reads."""
    first, second = r * old
    proposal = np.tanh([1 + (first + second) / 2, (second - first) / 2])
    return proposal, old + z * (proposal - old)


def on_screen(page: Page, measure: str) -> list[str]:
    return page.locator(f"[data-measure={measure}]").all_text_contents()


def test_every_setting_shows_what_numpy_computes(open_figure: Open) -> None:
    page = open_figure("gated_unit")
    assert on_screen(page, "state") == ["0.5774", "0.6084"]
    for z, r in GATES:
        for name, value in (("update gate z", z), ("reset gate r", r)):
            page.get_by_role("slider", name=name).fill(str(value))
        proposal, state = pencil(z, r)
        unit = GatesByHand(z=z, r=r)
        np.testing.assert_allclose([unit.proposal, unit.state], [proposal, state], atol=1e-15)
        assert on_screen(page, "proposal") == [f"{number:.4f}" for number in proposal]
        assert on_screen(page, "state") == [f"{number:.4f}" for number in state]
        assert on_screen(page, "factor") == [f"factor of a step: {unit.factor:.3f}"]
        assert on_screen(page, "left") == [f"{unit.factor**18:.3f}"]


@pytest.mark.parametrize(("z", "r"), GATES)
def test_the_factor_is_what_the_new_state_moves_with_the_old(z: float, r: float) -> None:
    nudge = np.array([1e-6, 0])
    moved = pencil(z, r, OLD + nudge)[1] - pencil(z, r, OLD - nudge)[1]
    assert GatesByHand(z=z, r=r).factor == pytest.approx(moved[0] / 2e-6, abs=1e-8)


def test_the_bars_are_as_tall_as_their_numbers(open_figure: Open) -> None:
    page = open_figure("gated_unit")
    heights = (
        page.locator(".gated-unit svg > g > g")
        .last.locator("rect")
        .evaluate_all("bars => bars.map(bar => bar.height.baseVal.value)")
    )
    np.testing.assert_allclose(
        np.divide(heights, heights[0]), GatesByHand().factor ** np.arange(19), atol=1e-6
    )


def test_keys_move_the_gates_and_what_they_do_is_said(open_figure: Open) -> None:
    page = open_figure("gated_unit")
    update, reset = (page.get_by_role("slider", name=name) for name in ("update", "reset"))
    update.press("Home")
    assert on_screen(page, "left") == ["1.000"]
    update.press("ArrowRight")
    assert update.get_attribute("aria-valuetext") == "0.01"
    update.press("End")
    reset.press("Home")
    assert on_screen(page, "state") == ["0.7616", "0.0000"]
    said = page.get_by_text("New state 0.7616, 0.0000. The factor is 0.000")
    said.wait_for(state="attached")
    assert said.get_attribute("aria-live") == "polite"
