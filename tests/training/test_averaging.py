"""The moving average of weights: its arithmetic, and that it decides what a run keeps."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from course_lib.corpora import load_corpus
from course_lib.corpora.corpus import Corpus
from course_lib.models import ModelConfig, build_model
from course_lib.training import RunConfig, load_run, read_metrics, train
from course_lib.training.averaging import Average
from course_lib.training.checkpoint import load_weights
from tests.training.conftest import Stopped, stop

TINY = {
    **dict.fromkeys(("hidden", "embedding", "alignment", "readout", "batch_size"), 16),
    **{"checkpoint_steps": 3, "epochs": 2, "precision": "fp32", "averaging": 0.9},
    **{"tying": "all", "subwords": 150, "dropout": 0.1},
    **{"corpus.train": 48, "corpus.val": 10, "corpus.test": 10},
    **{"corpus.clauses": [1, 1], "corpus.max_words": 7},
}
CONFIG = RunConfig("rnnsearch", "toy", "en-de", "smoke", changes=TINY)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return load_corpus("toy", "en-de", **CONFIG.corpus_options)


def test_it_is_the_moving_average() -> None:
    """Against the recursion in NumPy, written out as a weighted sum of all weights there were."""
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    average = Average(model, 0.95)
    history = [model.weight.detach().numpy().copy()]
    for step in range(1, 41):
        with torch.no_grad():
            model.weight += torch.randn(2, 3)
        history.append(model.weight.detach().numpy().copy())
        average.update(model, step)
    decays = np.array([min(0.95, (1 + t) / (10 + t)) for t in range(1, 41)])
    shares = np.append(1, 1 - decays) * np.append(np.cumprod(decays[::-1])[::-1], 1)
    assert shares.sum() == pytest.approx(1)
    assert shares[0] < 1e-4  # where it began is forgotten
    expected = np.tensordot(shares, np.stack(history), axes=1)
    last = model.weight.detach().clone()
    with average.in_place(model):
        np.testing.assert_allclose(model.weight.detach().numpy(), expected, rtol=1e-4, atol=1e-5)
    assert torch.equal(model.weight, last)


def test_tied_tables_are_averaged_as_one() -> None:
    model = build_model(ModelConfig(9, 9, embedding=4, hidden=4, readout=4, tying="all"))
    average = Average(model, 0.5)
    with torch.no_grad():
        model.encoder.E.weight.fill_(1.0)
    average.update(model, 100)
    with average.in_place(model):
        assert model.decoder.W_o.weight is model.encoder.E.weight
        assert 0.3 < model.decoder.W_o.weight.mean() < 0.7


def test_a_run_with_everything_resumes_to_the_same_weights(tmp_path: Path, corpus: Corpus) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    train(CONFIG, corpus, whole, quiet=True)

    with pytest.raises(Stopped):  # after a validation, before its checkpoint
        train(CONFIG, corpus, parts, quiet=True, watch=stop)
    train(CONFIG, corpus, parts, resume=True, quiet=True)
    assert (whole / "model.safetensors").read_bytes() == (parts / "model.safetensors").read_bytes()
    assert [r["val_loss"] for r in read_metrics(whole)] == [
        r["val_loss"] for r in read_metrics(parts)
    ]

    # It is the averaged weights that were kept, and they are not the last ones.
    run = load_run(whole, "cpu")
    other = build_model(run.model.config)
    load_weights(whole / "model.safetensors", other)
    plain = replace(CONFIG, changes={**TINY, "averaging": 0.0})
    train(plain, corpus, tmp_path / "plain", quiet=True)
    final = load_run(tmp_path / "plain", "cpu").model.encoder.E.weight
    assert not torch.equal(other.encoder.E.weight, final)
    assert torch.equal(other.encoder.E.weight, run.model.encoder.E.weight)
