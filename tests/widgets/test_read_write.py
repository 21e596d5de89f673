"""Reading and writing: each frame adds what its sentence says, and nothing is drawn too early."""

from collections.abc import Callable

from playwright.sync_api import Page

from course_lib.widgets.read_write import start

Open = Callable[..., Page]


def shown(page: Page) -> set[str]:
    """The labels that can be seen."""
    return set(page.locator(".read-write g:not(.later) text").all_text_contents())


def test_it_opens_on_the_whole_and_steps_back_to_the_first_word(open_figure: Open) -> None:
    page, frames = open_figure("read_write"), start()
    labels = [shape for shape in frames["shapes"] if "text" in shape]
    assert shown(page) == {shape["text"] for shape in labels}
    for frame in reversed(range(1, len(frames["says"]))):
        page.get_by_role("button", name="back").click()
        assert page.locator(".read-write-says").inner_text() == frames["says"][frame - 1]
        assert shown(page) == {s["text"] for s in labels if s["frame"] <= frame}
    page.get_by_role("button", name="back").press("ArrowRight")
    assert page.locator("output").inner_text() == f"2 of {len(frames['says'])}"


def test_every_step_of_the_decoder_reads_the_state_the_note_and_the_word_before() -> None:
    frames = start()
    for number in range(8, len(frames["says"]) + 1):
        arrows = [s for s in frames["shapes"] if s["frame"] == number and "points" in s]
        assert sorted(arrow["role"] for arrow in arrows) == ["context", "state", "word", "word"]
