"""Validation: the loss of the model as it translates, a mean over all target words."""

import pytest
import torch

from course_lib.corpora.batches import make_batch
from course_lib.evaluation.forced import sentence_log_probs
from course_lib.models import ModelConfig, build_model
from course_lib.training.validation import mean_loss, summed_loss


def test_a_loss_is_measured_without_dropout_and_over_words_in_whatever_batches() -> None:
    torch.manual_seed(0)
    sizes = {"embedding": 8, "hidden": 8, "alignment": 8, "readout": 8}
    model = build_model(ModelConfig(9, 9, dropout=0.5, **sizes)).train()  # as after an update
    pairs = [([4, 5], [6, 7, 8, 4]), ([5], [4]), ([8, 8, 8], [])]
    loss = mean_loss(model, pairs)
    words = (4 + 1) + (1 + 1) + 1
    log_probs = sentence_log_probs(model.eval(), make_batch(pairs, range(3)))
    assert loss == pytest.approx(-log_probs.sum().item() / words)
    assert summed_loss(model.train(), pairs, batch_size=1) == pytest.approx((loss * words, words))
