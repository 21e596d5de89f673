"""The assignment `decoding`: its text and its numbers; the answers are tried elsewhere."""

import math
from itertools import pairwise

import pytest

from course_lib.assignments import steps
from tests.assignments.cells import ROOT, defined, source

NAME = "decoding"
SOURCE = source(NAME)


def test_the_numbers_of_part_1_are_those_of_the_table() -> None:
    """Independent of the test cells: every sentence of the little model, ranked."""
    names = defined(SOURCE, "setup", "by_hand_answer")
    words, rain = names["WORDS"], names["rain"]

    def every(text: tuple[int, ...] = (), limit: int = 6) -> list[tuple[float, tuple[int, ...]]]:
        found = []
        if (log_p := steps.log_prob(rain, 0, list(text))) > -math.inf:
            found.append((math.exp(log_p), text))
        if len(text) < limit:
            for word in range(3, len(words)):
                if math.exp(beginning(text, word)) > 0:
                    found += every((*text, word), limit)
        return found

    def beginning(text: tuple[int, ...], word: int) -> float:
        state = rain.state
        for last in (steps.START, *text):
            log_probs, state = rain.step(state, [last])
        return float(log_probs[0, word])

    ranking = sorted(every(), reverse=True)
    assert sum(p for p, _ in ranking) == pytest.approx(1)
    said = {" ".join(words[word] for word in text): p for p, text in ranking}
    assert names["by_hand"] == pytest.approx([said["it rains"], ranking[0][0]])
    two = [math.log(said[text]) / (len(text.split()) + 1) for text in ("it rains", "it is raining")]
    assert defined(SOURCE, "setup", "scores_by_hand_answer")["scores_by_hand"] == pytest.approx(
        two, abs=5e-5
    )
    assert said["it rains"] > said["it is raining"]
    assert two[0] < two[1]


def test_the_table_in_the_text_is_that_of_the_set_up() -> None:
    follows = defined(SOURCE, "setup")["FOLLOWS"]
    text = "\n".join(one.source for one in SOURCE.cells if one.cell_type == "markdown")
    for word, after in follows.items():
        listed = ", ".join(
            f"{f'`{next_}`' if next_.startswith('<') else next_} {p:g}"
            for next_, p in after.items()
        )
        shown = f"`{word}`" if word.startswith("<") else word
        assert f"| {shown} | {listed} |" in text


def test_a_wider_beam_is_worse_for_some_sentence_as_the_text_says() -> None:
    names = defined(SOURCE, "setup", "beam_answer")
    translator = steps.load_translator(ROOT / "solutions" / NAME / "translator.safetensors")
    by_width = [
        names["beam"](translator.step, translator.state, [30] * 24, k, 0)[1] for k in (1, 2, 4)
    ]
    means = [sum(one) / 24 for one in by_width]
    assert means == sorted(means)
    for narrow, wide in pairwise(by_width):
        assert any(q < p - 1e-6 for p, q in zip(narrow, wide, strict=True))
