"""Token strings: the links say exactly where every token went."""

from collections import Counter
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.corpora.generated import SentencePair
from course_lib.corpora.strings import (
    COMMA,
    MAKERS,
    STAYING,
    SYLLABLES,
    VERBS,
    string_corpus,
    token_strings,
)
from course_lib.errors import CourseError


def drawn(task: str, seed: int, shortest: int, longest: int) -> list[SentencePair]:
    stream = token_strings(task, seed, min_length=shortest, max_length=longest)
    return list(islice(stream, 30))


@pytest.mark.parametrize("task", MAKERS)
@given(seed=st.integers(), shortest=st.integers(1, 40), more=st.integers(0, 30))
@settings(max_examples=20, deadline=None)
def test_links_pair_every_token_with_itself(task: str, seed: int, shortest: int, more: int) -> None:
    for source, target, links in drawn(task, seed, shortest, shortest + more):
        assert shortest <= len(source) <= shortest + more
        assert sorted(i for i, _ in links) == list(range(len(source)))
        assert sorted(j for _, j in links) == list(range(len(target)))
        assert all(source[i] == target[j] for i, j in links)


def test_copy_and_reverse() -> None:
    for source, target, _ in drawn("copy", 0, 4, 9):
        assert target == source
    for source, target, _ in drawn("reverse", 0, 4, 9):
        assert target == source[::-1]


def clauses_of(tokens: list[str]) -> list[list[str]]:
    return [clause.split() for clause in " ".join(tokens).split(COMMA)]


@given(seed=st.integers())
@settings(max_examples=20, deadline=None)
def test_verbs_stand_last_in_their_own_clause_and_keep_their_order(seed: int) -> None:
    for source, target, _ in drawn("verbs", seed, 4, 30):
        for before, after in zip(clauses_of(source), clauses_of(target), strict=True):
            assert len(before) >= 3
            stay = [token for token in before if token not in VERBS]
            move = [token for token in before if token in VERBS]
            assert move
            assert after == stay + move


def test_the_verbs_are_recognised_by_their_form_and_the_vocabulary_has_sixty_words() -> None:
    assert len(SYLLABLES) == len(set(SYLLABLES)) == 60
    assert len({*STAYING, *VERBS, COMMA}) == 60
    words = {token for pair in drawn("verbs", 1, 20, 40) for token in pair.source}
    assert words <= {*STAYING, *VERBS, COMMA}


def test_every_length_is_equally_likely() -> None:
    stream = token_strings("verbs", min_length=4, max_length=20)
    lengths = Counter(len(pair.source) for pair in islice(stream, 3_400))
    assert set(lengths) == set(range(4, 21))
    assert min(lengths.values()) > 120


def test_impossible_lengths_are_one_line() -> None:
    with pytest.raises(CourseError, match="smaller number first"):
        string_corpus("copy", min_length=9, max_length=3)
    with pytest.raises(CourseError, match="wider range"):
        string_corpus("copy", min_length=1, max_length=1, train=61)
