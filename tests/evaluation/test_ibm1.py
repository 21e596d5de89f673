"""IBM Model 1 against a hand computation and exact fractions."""

from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.errors import CourseError
from course_lib.evaluation import ibm1
from course_lib.evaluation.ibm1 import Model1, train_model1

Pairs = list[tuple[list[str], list[str]]]

TEXTBOOK: Pairs = [(["das", "haus"], ["the", "house"]), (["das"], ["the"])]
CORPUS: Pairs = [
    (["the", "house", "is", "small"], ["klein", "ist", "das", "haus"]),
    (["the", "house", "is", "big"], ["das", "haus", "ist", "ja", "groß"]),
    (["the", "book", "is", "small"], ["das", "buch", "ist", "ja", "klein"]),
    (["the", "house"], ["das", "haus"]),
    (["the", "book"], ["das", "buch"]),
    (["a", "book"], ["ein", "buch"]),
]
corpora = st.lists(
    st.tuples(
        st.lists(st.sampled_from("abcd"), min_size=1, max_size=4),
        st.lists(st.sampled_from("wxyz"), min_size=1, max_size=4),
    ),
    min_size=1,
    max_size=6,
)


def exact(pairs: Pairs, iterations: int) -> dict[tuple[str, str | None], Fraction]:
    """EM in fractions, word by word: t(target | source), NULL as None."""
    t = {(y, x): Fraction(1) for xs, ys in pairs for y in ys for x in [None, *xs]}
    for _ in range(iterations):
        counts: dict[tuple[str, str | None], Fraction] = defaultdict(Fraction)
        totals: dict[str | None, Fraction] = defaultdict(Fraction)
        for xs, ys in pairs:
            for y in ys:
                everything = sum(t[y, x] for x in [None, *xs])
                for x in [None, *xs]:
                    counts[y, x] += t[y, x] / everything
                    totals[x] += t[y, x] / everything
        t = {(y, x): count / totals[x] for (y, x), count in counts.items()}
    return t


def test_a_word_of_every_sentence_is_linked_though_null_explains_as_much() -> None:
    model = train_model1([(["a"], ["x"]), (["a"], ["y"])], 3)
    assert model.probability("x", "a") == model.probability("x", None)
    assert model.align(["a"], ["x"]) == {(0, 0)}


def test_two_iterations_by_hand() -> None:
    """First every word is shared out equally, among three for two words and among two for one."""
    once = train_model1(TEXTBOOK, 1)
    assert once.probability("the", "das") == pytest.approx(5 / 7)
    assert once.probability("house", "das") == pytest.approx(2 / 7)
    assert once.probability("the", None) == pytest.approx(5 / 7)
    assert once.probability("the", "haus") == once.probability("house", "haus") == 0.5
    twice = train_model1(TEXTBOOK, 2)
    assert twice.probability("the", "das") == pytest.approx(235 / 307)
    assert twice.probability("house", "haus") == pytest.approx(9 / 14)
    np.testing.assert_allclose(
        once.shares(["das", "haus"], ["the", "house"]),
        [[10 / 27, 10 / 27, 7 / 27], [4 / 15, 4 / 15, 7 / 15]],
    )


@given(corpora, st.integers(1, 3))
def test_the_table_is_that_of_exact_fractions(pairs: Pairs, iterations: int) -> None:
    model = train_model1(pairs, iterations)
    reference = exact(pairs, iterations)
    assert len(model.keys) == len(reference)
    for (y, x), probability in reference.items():
        assert model.probability(y, x) == pytest.approx(float(probability))


@given(corpora, st.randoms(use_true_random=False))
def test_probabilities_sum_to_one_whatever_the_order(pairs: Pairs, rng) -> None:
    model = train_model1(pairs, 4)
    totals = np.bincount(model.keys // len(model.target), model.t)
    np.testing.assert_allclose(totals, 1)
    shuffled = rng.sample(pairs, len(pairs))
    np.testing.assert_allclose(train_model1(shuffled, 4).t, model.t)


def test_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = train_model1(CORPUS, 5)
    monkeypatch.setattr(ibm1, "CHUNK", 2)
    pieces = train_model1(CORPUS, 5)
    np.testing.assert_allclose(pieces.t, whole.t)


@pytest.fixture(scope="module")
def model() -> Model1:
    return train_model1(CORPUS, 20)


def test_words_that_never_met_have_no_share_and_no_link(model: Model1) -> None:
    assert model.probability("groß", "book") == 0
    assert model.probability("fremd", "book") == model.probability("buch", "strange") == 0
    shares = model.shares(["strange", "book"], ["buch", "fremd"])
    np.testing.assert_allclose(shares.sum(axis=1), [1, 0])
    assert shares[0, 1] == 0
    assert model.align(["strange", "book"], ["buch", "fremd"]) == {(1, 0)}
    # "ja" met "is" and NULL only; without "is" it is NULL's.
    assert model.align(["a"], ["ja"]) == frozenset()


def test_shares_are_the_table_normalised_a_target_word(model: Model1) -> None:
    x, y = CORPUS[2]
    shares = model.shares(x, y)
    assert shares.shape == (len(y), len(x) + 1)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    for i, word in enumerate(y):
        column = np.array([model.probability(word, given) for given in [None, *x]])
        np.testing.assert_allclose(shares[i], column / column.sum())


def test_equal_source_words_get_equal_shares_and_the_first_one_the_link(model: Model1) -> None:
    shares = model.shares(["the", "book", "the"], ["das"])
    assert shares[0, 1] == shares[0, 3]
    assert model.align(["the", "book", "the"], ["das"]) == {(0, 0)}


def test_what_cannot_be_trained_or_aligned_is_refused(model: Model1) -> None:
    for pairs in ([], [(["a"], [])], [([], ["x"])]):
        with pytest.raises(CourseError, match="words on both sides"):
            train_model1(pairs)
    with pytest.raises(CourseError, match="empty side"):
        model.align([], ["buch"])
