"""What is measured as another way is the same model: every change leaves loss and gradients."""

import pytest
import torch

from benchmarks.changes import CHANGES, ChunkedLoss
from benchmarks.experiments import batches_of_one_length
from benchmarks.workload import workload
from course_lib.corpora.batches import make_batch
from course_lib.models import EncoderDecoder, ModelConfig, build_model

CONFIG = ModelConfig(12, 37, embedding=8, hidden=6, alignment=7, readout=5)
PAIRS = [([4, 5, 6], [7, 8]), ([9], [10, 11, 12, 13, 14]), ([4, 4, 4, 4, 11], [5])] * 30


def loss_and_gradients(model: EncoderDecoder) -> list[torch.Tensor]:
    loss, count = model.loss(make_batch(PAIRS, range(len(PAIRS))))
    mean = loss / count
    return [mean.detach(), *torch.autograd.grad(mean, list(model.parameters()))]


@pytest.mark.parametrize(
    "name",
    [
        *(name for name in CHANGES if name != "compile"),
        # torch's compiler warns of what it does itself.
        pytest.param(
            "compile",
            marks=[
                pytest.mark.slow,
                pytest.mark.filterwarnings("ignore"),
            ],
        ),
    ],
)
def test_a_change_changes_the_speed_only(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ChunkedLoss, "ROWS", 32)
    model, other = (build_model(CONFIG, seed=3).double() for _ in range(2))
    CHANGES[name].model(other)
    for expected, found in zip(loss_and_gradients(model), loss_and_gradients(other), strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)


def test_batches_of_one_length_are_as_many_and_hold_every_pair_once() -> None:
    work = workload("toy", batch=8, batches=5, hidden=4)
    batches = batches_of_one_length(work)
    assert len(batches) == len(work.bucketed())
    assert sorted(i for batch in batches for i in batch) == list(range(len(work.pairs)))
    words = [sum(len(work.pairs[i][1]) + 1 for i in batch) for batch in batches]
    longest = max(len(target) + 1 for _, target in work.pairs)
    assert max(words) - min(words) <= 2 * longest
