"""Softmax and scaling: the screen has the numbers of the library, at every setting."""

import pytest
from playwright.sync_api import Page
from traitlets import TraitError

from course_lib.evaluation.saturation import DIMENSIONS, softmax_slope
from course_lib.widgets import SoftmaxScaling
from tests.widgets.conftest import Open


def on_screen(page: Page, measure: str) -> list[float]:
    texts = page.locator(f"[data-measure={measure}]").all_inner_texts()
    return [float(text) for text in texts]


def set_slider(page: Page, name: str, value: float) -> None:
    page.get_by_role("slider", name=name).evaluate(
        "(input, value) => { input.value = value; input.dispatchEvent(new Event('input')); }", value
    )


def test_every_dimension_shows_what_the_library_computes(open_figure: Open) -> None:
    page = open_figure("softmax_scaling")
    for at, dimension in enumerate(DIMENSIONS):
        set_slider(page, "dimension d", at)
        weights = [SoftmaxScaling(dimension=dimension).weights(scaled) for scaled in (False, True)]
        slopes = [float(softmax_slope(one[None])[0]) for one in weights]
        assert on_screen(page, "largest") == pytest.approx([w.max() for w in weights], abs=5.1e-5)
        assert on_screen(page, "slope") == pytest.approx(slopes, abs=5.1e-6)


def test_a_temperature_of_the_root_of_d_is_the_scaling(open_figure: Open) -> None:
    page = open_figure("softmax_scaling")
    set_slider(page, "dimension d", DIMENSIONS.index(1024))
    _, scaled = on_screen(page, "slope")
    set_slider(page, "temperature", 5)
    plain, _ = on_screen(page, "slope")
    assert plain == scaled
    assert page.get_by_text("32.0").is_visible()


def test_keys_and_the_button_move_it(open_figure: Open) -> None:
    page = open_figure("softmax_scaling")
    size = page.get_by_role("slider", name="dimension d")
    size.press("End")
    assert size.get_attribute("aria-valuetext") == "1024"
    size.press("ArrowLeft")
    assert size.get_attribute("aria-valuetext") == "512"
    before = on_screen(page, "largest")
    page.get_by_role("button", name="Another query").click()
    other = SoftmaxScaling(dimension=512, draw=1)
    assert on_screen(page, "largest") != before
    assert on_screen(page, "largest")[1] == pytest.approx(other.weights(True).max(), abs=5.1e-5)


def test_a_dimension_that_was_not_drawn_is_refused() -> None:
    with pytest.raises(TraitError, match="dimension is one of"):
        SoftmaxScaling(dimension=5)
