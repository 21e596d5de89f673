"""Nearness of texts: by its formula, without regard to case and punctuation."""

import numpy as np
import pytest

from course_lib.corpora.near_copies import nearness, normalised_text


def test_equals_the_formula_worked_out_by_hand() -> None:
    # "< a", "a b", "b >" beside "< a", "a b", "b c", "c >": two in common of three and four
    (row,) = nearness(["a b"], ["a b c", "a b", "x y"])
    assert row.tolist() == pytest.approx([2 * 2 / 7, 1, 0])


def test_case_and_punctuation_do_not_count_and_signs_for_code_do() -> None:
    assert normalised_text("Use, “□” — NOW!") == "use □ now"
    (row,) = nearness(["Return □."], ["return □", "Return it."])
    assert row[0] == 1
    assert 0 < row[1] < 1


def test_each_text_has_its_row_whatever_stands_beside_it() -> None:
    texts = ["one two three", "", "nothing like it", "two three"]
    others = ["two three four", "one two three", "..."]
    together = np.array(list(nearness(texts, others)))
    alone = np.array([next(nearness([text], others)) for text in texts])
    assert together == pytest.approx(alone)
    assert together[0, 1] == together[1, 2] == 1


def test_nearness_is_mutual() -> None:
    texts = ["a b c d", "a b", "c d a"]
    matrix = np.array(list(nearness(texts, texts)))
    assert matrix == pytest.approx(matrix.T)
