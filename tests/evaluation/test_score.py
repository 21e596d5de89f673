"""Scores of a split, as it is and joined: short and long, nothing lost, added or mixed."""

from dataclasses import replace

import pytest

from course_lib.corpora import load_corpus
from course_lib.corpora.corpus import Split
from course_lib.corpora.toy import toy_corpus
from course_lib.corpora.vocabulary import Vocabulary
from course_lib.evaluation.bleu import bleu_tok
from course_lib.evaluation.score import joined, measured, score_joined
from course_lib.models import ModelConfig, build_model
from course_lib.search import translate


@pytest.fixture(scope="module")
def split() -> Split:
    return toy_corpus(clauses=(1, 1), max_words=7, train=11, val=0, test=0).splits["train"]


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


@pytest.mark.parametrize("count", [1, 2, 3, 11])
def test_the_words_are_those_of_the_split_in_their_order(split: Split, count: int) -> None:
    made = joined(split, count)
    assert len(made) == 11 // count
    used = len(made) * count
    for side in ("source", "target"):
        before = [word for words in getattr(split, side)[:used] for word in words]
        assert [word for words in getattr(made, side) for word in words] == before
    assert " ".join(made.reference) == " ".join(split.reference[:used])
    if count == 1:
        assert made == replace(split, links=None)


def test_the_scores_are_those_of_the_joined_texts(split: Split) -> None:
    words = tuple(map(Vocabulary.from_sentences, (split.source, split.target)))
    sizes = dict.fromkeys(("embedding", "hidden", "alignment", "readout"), 8)
    model = build_model(ModelConfig(*map(len, words), **sizes))
    found = score_joined(model, words, split, (1, 3), beam=2)
    made = joined(split, 3)
    written = translate(model, [words[0].encode(x) for x in made.source], k=2)
    alone = bleu_tok([words[1].decode(h.tokens) for h in written], made.target)
    one, three = found["joined"]
    assert three["bleu_tok"] == pytest.approx(alone.score)
    assert (one["texts"], three["texts"]) == (11, 3)
    assert three["source_words"] == pytest.approx(sum(map(len, made.source)) / 3)
    assert sum(row["sentences"] for row in found["by_length"]) == 14
    assert max(row["upper"] for row in found["by_length"]) >= max(map(len, made.source))
