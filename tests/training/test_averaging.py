"""The moving average of weights: its arithmetic, and that it decides what a run keeps."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from course_lib.corpora.corpus import Corpus
from course_lib.models import ModelConfig, build_model
from course_lib.training import RunConfig, load_run, read_metrics, train
from course_lib.training.averaging import moving_average


def test_it_is_the_moving_average() -> None:
    """Against the recursion in NumPy, written out as a weighted sum of all weights there were."""
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    average = moving_average(model, 0.95)
    history = [model.weight.detach().numpy().copy()]
    for _ in range(40):
        with torch.no_grad():
            model.weight += torch.randn(2, 3)
        history.append(model.weight.detach().numpy().copy())
        average.update_parameters(model)
    decays = np.array([min(0.95, (1 + t) / (10 + t)) for t in range(1, 41)])
    shares = np.append(1, 1 - decays) * np.append(np.cumprod(decays[::-1])[::-1], 1)
    assert shares.sum() == pytest.approx(1)
    assert shares[0] < 1e-4  # where it began is forgotten
    expected = np.tensordot(shares, np.stack(history), axes=1)
    last = model.weight.detach().clone()
    averaged = average.module.weight.detach().numpy()
    np.testing.assert_allclose(averaged, expected, rtol=1e-4, atol=1e-5)
    assert torch.equal(model.weight, last)


def test_tied_tables_are_averaged_as_one() -> None:
    model = build_model(ModelConfig(9, 9, embedding=4, hidden=4, readout=4, tying="all"))
    average = moving_average(model, 0.5)
    with torch.no_grad():
        model.encoder.E.weight.fill_(1.0)
    average.n_averaged.fill_(100)
    average.update_parameters(model)
    averaged = average.module
    assert averaged.decoder.W_o.weight is averaged.encoder.E.weight
    assert 0.3 < averaged.decoder.W_o.weight.mean() < 0.7


def test_what_a_run_keeps_are_averaged_weights(
    small: RunConfig, small_corpus: Corpus, small_run: Path, tmp_path: Path
) -> None:
    """The updates are the same with and without: only what is kept of them differs."""
    plain = replace(small, changes={**small.changes, "averaging": 0.0})
    train(plain, small_corpus, tmp_path / "plain", quiet=True)
    losses = [
        [row["train_loss"] for row in read_metrics(run)] for run in (small_run, tmp_path / "plain")
    ]
    assert losses[0] == losses[1]
    kept, last = (
        load_run(run, "cpu").model.encoder.E.weight for run in (small_run, tmp_path / "plain")
    )
    assert not torch.equal(kept, last)
