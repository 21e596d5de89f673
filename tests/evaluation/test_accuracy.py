"""Token accuracy counts positions, and a row never depends on the sentences of another length."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.evaluation.accuracy import accuracy_by_length, tokens_right

sentences = st.lists(st.sampled_from("abc"), min_size=1, max_size=6)


def test_positions_are_compared_and_not_sets_of_words() -> None:
    assert tokens_right(["a", "b", "c"], ["a", "b", "c"]) == 3
    assert tokens_right(["a", "c", "b"], ["a", "b", "c"]) == 1
    assert tokens_right(["b", "c"], ["a", "b", "c"]) == 0
    assert tokens_right([], ["a", "b", "c"]) == 0


def test_without_a_reference_word_no_token_is_right() -> None:
    rows = accuracy_by_length([["a"], []], [[], []], [2, 2])
    assert rows == [{"lower": 2, "upper": 2, "sentences": 2, "tokens": 0.0, "exact": 50.0}]


@given(st.lists(st.tuples(sentences, sentences, st.integers(1, 4)), min_size=1, max_size=12))
def test_every_row_is_the_score_of_its_sentences_alone(
    cases: list[tuple[list[str], list[str], int]],
) -> None:
    hypotheses, references, lengths = (list(column) for column in zip(*cases, strict=True))
    rows = accuracy_by_length(hypotheses, references, lengths)
    assert [row["lower"] for row in rows] == sorted(set(lengths))
    for row in rows:
        own = [case for case in cases if case[2] == row["lower"]]
        positions = [
            k < len(hypothesis) and hypothesis[k] == word
            for hypothesis, reference, _ in own
            for k, word in enumerate(reference)
        ]
        assert row["upper"] == row["lower"]
        assert row["sentences"] == len(own)
        assert row["tokens"] == pytest.approx(100 * sum(positions) / len(positions))
        assert row["exact"] == pytest.approx(100 * sum(h == r for h, r, _ in own) / len(own))
