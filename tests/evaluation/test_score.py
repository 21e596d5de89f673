"""Scores of a split: what is short and what is long."""

import pytest

from course_lib.corpora import load_corpus
from course_lib.evaluation.score import measured


def test_short_is_under_ten_words_and_long_over_twenty() -> None:
    for shortest, longest in ((5, 25), (12, 15)):
        lengths = {"min_length": shortest, "max_length": longest}
        corpus = load_corpus("copy", "tokens", train=1, val=1, test=60, **lengths)
        test = corpus.splits["test"]
        scores = measured(test.target, corpus, "test")
        for name, ends in (("short", range(10)), ("long", range(21, 99))):
            count = sum(len(source) in ends for source in test.source)
            score = pytest.approx(100) if count else None
            assert scores[name] == {"sentences": count, "bleu_tok": score}
            assert (count > 0) == (shortest == 5)
