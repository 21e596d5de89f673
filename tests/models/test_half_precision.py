"""Training in half precision: every model takes it, on a machine whose chip has it or not."""

import pytest
import torch

from tests.models.tiny import EVERYTHING, PAIRS, batch_of, label, tiny_model


def test_every_model_trains_in_bf16_to_nearly_the_loss_in_fp32() -> None:
    batch = batch_of(PAIRS)
    for choices in EVERYTHING:
        model = tiny_model(choices).float()
        losses = []
        for half in (True, False):
            with torch.autocast("cpu", torch.bfloat16, enabled=half):
                loss, _ = model(batch, 0.1)
            assert loss.dtype is torch.float32
            losses.append(loss.item())
            model.zero_grad()
            loss.backward()
            gradients = [p.grad for p in model.parameters() if p.grad is not None]
            assert all(g.dtype is torch.float32 and g.isfinite().all() for g in gradients)
        assert losses[0] == pytest.approx(losses[1], rel=0.05), label(choices)
