"""The recorder of other seeds: uniform weights stay uniform, and agreement is what it says."""

import importlib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from course_lib.corpora import load_corpus
from course_lib.corpora.vocabulary import Vocabulary
from course_lib.evaluation.align import forced_weights
from course_lib.training import RunConfig

EXPERIMENTS = Path(__file__).parents[2] / "experiments"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(EXPERIMENTS)
    return importlib.import_module("record_seeds")


def test_uniform_weights_stay_uniform_while_everything_else_learns(script: ModuleType) -> None:
    sizes = dict.fromkeys(("embedding", "hidden", "alignment", "readout"), 8)
    small = {"corpus.train": 128, "corpus.val": 8, "corpus.test": 8, "epochs": 2}
    config = RunConfig("rnnsearch", "toy", changes={**sizes, **small, "min_frequency": 1})
    corpus = load_corpus(config.corpus, config.pair, **config.corpus_options)
    train = corpus.splits["train"]
    words = Vocabulary.from_sentences(train.source, 1), Vocabulary.from_sentences(train.target, 1)
    uniform, learned = (script.learned(config, corpus, words, flat) for flat in (True, False))
    for alpha in forced_weights(uniform, *words, corpus.splits["test"]):
        np.testing.assert_allclose(alpha, 1 / alpha.shape[1], rtol=1e-5)
    rows = [alpha for alpha in forced_weights(learned, *words, corpus.splits["test"])]
    assert max(float(np.ptp(alpha)) for alpha in rows) > 1e-3
    assert 0 <= script.how_good(uniform, corpus, words)["right"] <= 1


def test_agreement_counts_places_and_shares(script: ModuleType) -> None:
    end = [0.0, 0.0, 1.0]
    one = np.array([[0.7, 0.3, 0.0], [0.2, 0.8, 0.0], end])
    other = np.array([[0.4, 0.6, 0.0], [0.2, 0.8, 0.0], end])
    found = script.agreement([one], [other])
    assert found == {"rows": 2, "same_place": 0.5, "distance": pytest.approx(0.15)}
