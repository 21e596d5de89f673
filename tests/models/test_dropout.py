"""Dropout: which numbers it zeroes, how many, and that a trained model has none."""

from dataclasses import replace
from unittest import mock

import pytest
import torch
from torch import Tensor

from course_lib.errors import CourseError
from course_lib.models import EncoderDecoder, ModelConfig, build_model
from course_lib.models.dropout import WordDropout
from tests.models.tiny import PAIRS, batch_of

CONFIG = ModelConfig(9, 9, embedding=6, hidden=8, alignment=5, readout=6)
RATES = ("dropout", "dropout_words", "dropout_states")


def training_model(**changes: object) -> EncoderDecoder:
    return build_model(replace(CONFIG, **changes)).train()


def test_numbers_and_words_go_at_their_rates() -> None:
    torch.manual_seed(0)
    embedded = torch.ones(200, 40, 50)
    found = WordDropout(0.4, 0.25).train()(embedded)
    gone = (found == 0).all(dim=-1)
    assert gone.float().mean().item() == pytest.approx(0.25, abs=0.02)
    left = found[~gone]
    assert (left == 0).float().mean().item() == pytest.approx(0.4, abs=0.02)
    # What is left of a word grows for the numbers it lost, and not for the words beside it.
    assert torch.allclose(left[left != 0], torch.tensor(1 / 0.6))
    assert torch.equal(WordDropout(0.4, 0.25).eval()(embedded), embedded)


@pytest.mark.parametrize("part", RATES)
def test_each_rate_alone_disturbs_training_and_only_training(part: str) -> None:
    batch = batch_of(PAIRS)
    model = training_model(**{part: 0.5})
    plain = build_model(CONFIG).train()
    torch.manual_seed(0)
    assert model.loss(batch)[0] != plain.loss(batch)[0]
    assert model.eval().loss(batch)[0] == plain.loss(batch)[0]


@pytest.mark.parametrize("given", [None, 0.5])
def test_states_lose_the_same_numbers_at_every_step_of_a_sentence(given: float | None) -> None:
    model = training_model(dropout_states=0.5)
    seen: list[Tensor] = []
    advance = model.decoder.advance

    def looked_at(embedded: Tensor, product: Tensor, state: object) -> object:
        seen.append(state.s == 0)
        return advance(embedded, product, state)

    torch.manual_seed(0)
    with mock.patch.object(model.decoder, "advance", looked_at):
        model.loss(batch_of(PAIRS), given=given)
    assert len(seen) > 3
    assert all(torch.equal(zeros, seen[0]) for zeros in seen)
    # Each sentence has its own.
    assert 0 < seen[0].sum() < seen[0].numel()
    assert not torch.equal(seen[0][0], seen[0][1])


@pytest.mark.parametrize("part", RATES)
def test_a_rate_is_a_share(part: str) -> None:
    for value in (1.0, -0.1):
        with pytest.raises(CourseError, match="below 1"):
            replace(CONFIG, **{part: value})
