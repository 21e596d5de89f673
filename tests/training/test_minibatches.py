"""The minibatches of an epoch: always the same ones, with every pair once."""

from collections import Counter
from dataclasses import replace

import pytest

from course_lib.corpora import load_corpus
from course_lib.corpora.corpus import Corpus
from course_lib.corpora.vocabulary import Vocabulary
from course_lib.training import RunConfig
from course_lib.training.minibatches import Minibatch, Minibatches, make_minibatches
from course_lib.training.run_directory import make_vocabularies

CONFIG = RunConfig(
    "rnnsearch",
    "toy",
    "en-de",
    "smoke",
    changes={
        **{"subwords": 150, "batch_size": 8},
        **{"corpus.train": 50, "corpus.val": 5, "corpus.test": 5},
    },
)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return load_corpus("toy", "en-de", **CONFIG.corpus_options)


@pytest.fixture(scope="module")
def words(corpus: Corpus) -> tuple[Vocabulary, Vocabulary]:
    return make_vocabularies(CONFIG, corpus)


def counted(minibatches: list[Minibatch]) -> Counter[str]:
    return Counter(str(pair) for minibatch in minibatches for pair in minibatch)


def made(corpus: Corpus, words: tuple[Vocabulary, Vocabulary], seed: int = 0) -> Minibatches:
    return make_minibatches(replace(CONFIG, seed=seed), corpus, words)


def test_an_epoch_has_every_pair_once(corpus: Corpus, words: tuple[Vocabulary, Vocabulary]) -> None:
    train = corpus.splits["train"]
    whole = Counter(
        str((words[0].encode(x), words[1].encode(y)))
        for x, y in zip(train.source, train.target, strict=True)
    )
    minibatches = made(corpus, words)
    for epoch in range(2):
        read = list(minibatches.epoch(epoch))
        assert len(read) == minibatches.per_epoch == 7
        assert counted(read) == whole


def test_an_epoch_is_the_same_for_whoever_resumes_it_and_another_for_another_seed(
    corpus: Corpus, words: tuple[Vocabulary, Vocabulary]
) -> None:
    minibatches = made(corpus, words)
    first, second = list(minibatches.epoch(0)), list(minibatches.epoch(1))
    assert list(made(corpus, words).epoch(1, start=3)) == second[3:]
    assert list(minibatches.epoch(0)) == first
    assert list(made(corpus, words, seed=1).epoch(0)) != first != second
