"""What waits for what: each step follows from the equations, and the screen shows it."""

import pytest
from playwright.sync_api import Page

from course_lib.widgets.waiting import LAYERS, SOURCE, TARGET, recurrent, start, steps, transformer
from tests.widgets.conftest import Open


@pytest.mark.parametrize("T_x", [1, 2, 5, 40])
@pytest.mark.parametrize("T_y", [1, 3, 40])
def test_the_number_of_steps_is_the_longest_chain(T_x: int, T_y: int) -> None:
    for looks_back in (False, True):
        assert max(steps(recurrent(looks_back, T_x, T_y)).values()) == T_x + T_y
    assert max(steps(transformer(False, T_x, T_y, 6)).values()) == 6 + 6
    assert max(steps(transformer(True, T_x, T_y, 6)).values()) == 6 + 6 * T_y


def test_a_state_needs_the_one_before_and_what_it_looks_at() -> None:
    needs = recurrent(True, 3, 2)
    read = {("source", row, j) for row in (0, 1) for j in range(3)}
    assert set(needs["target", 0, 0]) == read
    assert set(needs["target", 0, 1]) == {*read, ("target", 0, 0)}
    assert needs["source", 1, 0] == [("source", 1, 1)]
    assert recurrent(False, 3, 2)["target", 0, 0] == [("source", 0, 2)]


def test_no_word_of_a_transformer_needs_a_later_one_of_its_own_side() -> None:
    for in_use in (False, True):
        for (side, row, word), needed in transformer(in_use, 4, 5).items():
            assert all(k <= word for other, _, k in needed if other == side == "target")
            assert all(below < row for other, below, _ in needed if other == side == "source")


def panels(page: Page) -> list[list[str]]:
    """The numbers in the boxes of each model, in the order of its vectors."""
    texts = page.locator(".waiting svg g").all_text_contents()
    sizes = [len(model["use"]) for model in start()["models"]]
    return [texts[sum(sizes[:k]) : sum(sizes[: k + 1])] for k in range(len(sizes))]


def test_every_step_of_both_modes_is_drawn(open_figure: Open) -> None:
    page, values = open_figure("waiting"), start()
    for mode, name in (("training", "in training"), ("use", "in use")):
        page.get_by_role("radio", name=name).check()
        end = max(one["step"] for model in values["models"] for one in model[mode])
        for frame in range(end + 1):
            page.get_by_role("slider", name="steps").fill(str(frame))
            for model, shown in zip(values["models"], panels(page), strict=True):
                at = [one["step"] for one in model[mode]]
                assert shown == [str(step) if step <= frame else "" for step in at]
            now = [
                len(one["needs"])
                for model in values["models"]
                for one in model[mode]
                if one["step"] == frame
            ]
            assert page.locator(".waiting line").count() == sum(now)
        assert page.get_by_text(f"done after {end}", exact=True).count() >= 1


def test_in_use_a_word_is_seen_when_it_is_written_and_in_training_from_the_start(
    open_figure: Open,
) -> None:
    page = open_figure("waiting")
    assert page.locator(".waiting .given").all_text_contents() == TARGET * 3
    page.get_by_role("radio", name="in use").check()
    assert "".join(page.locator(".waiting .given").all_text_contents()) == ""
    page.get_by_role("slider", name="steps").fill(str(len(SOURCE) + 1))
    written = page.locator(".waiting svg > .role-word").all_text_contents()
    assert written == [TARGET[0], TARGET[0], *TARGET[: (len(SOURCE) + 1) // LAYERS - 1]]
    assert page.locator(".waiting [lang=fr]").all_text_contents() == SOURCE * 3
