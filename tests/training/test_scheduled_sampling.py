"""Scheduled sampling: the asked share of true words, and of the others the model's own draw."""

import pytest
import torch

from course_lib.corpora.batches import Batch, make_batch
from course_lib.models import RNNsearch
from course_lib.training.scheduled_sampling import mixed_words
from tests.models.tiny import LUONG, PAIRS, SUTSKEVER, batch_of, label, tiny_model
from tests.reference.translator import Choices


def always_says(word: int, choices: Choices) -> RNNsearch:
    model = tiny_model(choices)
    with torch.no_grad():
        model.decoder.W_o.weight.mul_(0.01)
        model.decoder.W_o.bias[word] += 100
    return model


def test_with_every_word_given_the_batch_is_as_it_was() -> None:
    batch = batch_of(PAIRS)
    for found, expected in zip(mixed_words(tiny_model(Choices()), batch, 1.0), batch, strict=True):
        assert torch.equal(found, expected)


@pytest.mark.parametrize("choices", [Choices(), LUONG, SUTSKEVER], ids=label)
def test_without_words_given_the_model_reads_its_own(choices: Choices) -> None:
    """A model that always says 5 reads 5 at every step but the first; the targets stay."""
    batch = batch_of(PAIRS)
    mixed = mixed_words(always_says(5, choices), batch, 0.0)
    assert torch.equal(mixed.target_in[:, 0], batch.target_in[:, 0])
    assert (mixed.target_in[:, 1:] == 5).all()
    assert torch.equal(mixed.target_out, batch.target_out)


def test_the_share_of_words_given_is_the_share_asked_for() -> None:
    batch = make_batch([([4], [5] * 40)], [0] * 200)
    torch.manual_seed(0)
    read = mixed_words(always_says(6, Choices()), batch, 0.3).target_in[:, 1:]
    assert set(read.unique().tolist()) == {5, 6}
    # 8,000 draws: the standard deviation is 0.005.
    assert (read == 5).double().mean().item() == pytest.approx(0.3, abs=0.02)
    # Each word of each sentence has a draw of its own.
    for words in (*read, *read.T):
        assert set(words.tolist()) == {5, 6}


def frequencies(batch: Batch, model: RNNsearch) -> torch.Tensor:
    torch.manual_seed(0)
    drawn = mixed_words(model, batch, 0.0).target_in
    return torch.stack([column.bincount(minlength=7) for column in drawn.T]) / len(drawn)


def test_own_words_are_drawn_from_the_models_distribution() -> None:
    """Frequencies of 20,000 draws against the step's; of the second word over every first one."""
    model = tiny_model(Choices(), seed=3)
    pair = ([4, 5], [5, 5])
    found = frequencies(make_batch([pair], [0] * 20_000), model)
    batch = make_batch([pair], [0])
    start = model.start(batch.source, batch.source_lengths, batch.source_mask)
    with torch.no_grad():
        first, _, state = model.step(batch.target_in[:, 0], start)
        seconds = [model.step(torch.tensor([word]), state)[0][0].exp() for word in range(7)]
    p = first[0].exp()
    torch.testing.assert_close(found[1].double(), p, atol=0.015, rtol=0)
    second = sum(share * after for share, after in zip(p, seconds, strict=True))
    torch.testing.assert_close(found[2].double(), second, atol=0.015, rtol=0)
