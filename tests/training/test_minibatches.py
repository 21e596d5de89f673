"""The minibatches of an epoch: the same for whoever resumes it; with BPE-dropout cut anew."""

from collections import Counter
from dataclasses import replace

import pytest

from course_lib.corpora import Corpus, load_corpus
from course_lib.corpora.vocabulary import Vocabulary
from course_lib.training.minibatches import Minibatch, Minibatches, make_minibatches
from course_lib.training.run_config import RunConfig
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
    return load_corpus("toy", train=50, val=5, test=5)


@pytest.fixture(scope="module")
def words(corpus: Corpus) -> tuple[Vocabulary, Vocabulary]:
    return make_vocabularies(CONFIG, corpus)


def made(
    corpus: Corpus, words: tuple[Vocabulary, Vocabulary], rate: float, seed: int = 0
) -> Minibatches:
    changes = {**CONFIG.changes, "bpe_dropout": rate}
    return make_minibatches(replace(CONFIG, seed=seed, changes=changes), corpus, words)


def counted(epoch: list[Minibatch]) -> Counter[str]:
    return Counter(str(pair) for minibatch in epoch for pair in minibatch)


def test_with_dropout_the_words_stay_and_their_pieces_do_not(
    corpus: Corpus, words: tuple[Vocabulary, Vocabulary]
) -> None:
    train = corpus.splits["train"]
    texts = Counter(map(str, zip(train.source, train.target, strict=True)))
    minibatches = made(corpus, words, 0.2)
    epochs = [list(minibatches.epoch(epoch)) for epoch in range(3)]
    for epoch in epochs:
        assert len(epoch) == minibatches.per_epoch == 7
        read = Counter(
            str((words[0].decode(source), words[1].decode(target)))
            for minibatch in epoch
            for source, target in minibatch
        )
        assert read == texts
    whole = counted(list(made(corpus, words, 0.0).epoch(0)))
    assert whole == counted(list(made(corpus, words, 0.0).epoch(1)))
    for one, other in ((0, 1), (1, 2), (0, 2)):
        assert (counted(epochs[one]) & counted(epochs[other])).total() < 10
    assert (counted(epochs[0]) & whole).total() < 10


@pytest.mark.parametrize("rate", [0.0, 0.2])
def test_an_epoch_is_the_same_for_whoever_resumes_it_and_another_for_another_seed(
    rate: float, corpus: Corpus, words: tuple[Vocabulary, Vocabulary]
) -> None:
    minibatches = made(corpus, words, rate)
    first, second = list(minibatches.epoch(0)), list(minibatches.epoch(1))
    assert list(made(corpus, words, rate).epoch(1, start=3)) == second[3:]
    assert list(minibatches.epoch(0)) == first
    assert list(made(corpus, words, rate, seed=1).epoch(0)) != first != second
