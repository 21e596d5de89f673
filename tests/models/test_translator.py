"""A sentence's loss and weights are its own: padding, company and order change nothing."""

from dataclasses import replace

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from course_lib.corpora.batches import Batch, make_batch
from course_lib.errors import CourseError
from course_lib.models import RNNsearch
from tests.models.test_against_reference import any_choices
from tests.models.tiny import PAIRS, batch_of, every_context, label, tiny_model
from tests.reference.translator import Choices

words = st.integers(3, 6)
sentence_pairs = st.lists(
    st.tuples(st.lists(words, max_size=6), st.lists(words, max_size=6)), min_size=1, max_size=5
)
SELF_ATTENTIVE = [
    replace(choices, encoder="self-attention")
    for choices in every_context()
    if choices.context in ("additive", "fixed", "initial")
]


def alone(model: RNNsearch, pairs: list) -> tuple[list[Tensor], list[Tensor | None]]:
    batches = [batch_of([pair]) for pair in pairs]
    alphas = [model.alpha(batch) for batch in batches]
    return (
        [model.sentence_log_probs(batch)[0] for batch in batches],
        [None if alpha is None else alpha[0] for alpha in alphas],
    )


def wider(batch: Batch, source: int, target: int) -> Batch:
    """The batch with more padding than it needs."""
    return batch._replace(
        source=nn.functional.pad(batch.source, (0, source)),
        source_mask=nn.functional.pad(batch.source_mask, (0, source)),
        target_in=nn.functional.pad(batch.target_in, (0, target)),
        target_out=nn.functional.pad(batch.target_out, (0, target)),
        target_mask=nn.functional.pad(batch.target_mask, (0, target)),
    )


def check_company(choices: Choices, pairs: list, order: list[int], more: tuple[int, int]) -> None:
    """The same sentences alone, together, in another order, with more padding than needed."""
    model = tiny_model(choices)
    log_probs, alphas = alone(model, pairs)
    batch = make_batch(pairs, order)
    for company in (batch, wider(batch, *more)):
        found, weights = model.sentence_log_probs(company), model.alpha(company)
        expected = torch.stack(log_probs)[order]
        torch.testing.assert_close(found, expected, atol=1e-12, rtol=0)
        loss, number = model.loss(company)
        torch.testing.assert_close(loss, -expected.sum(), atol=1e-11, rtol=0)
        assert int(number) == sum(len(target) + 1 for _, target in pairs)
        for row, which in enumerate(order):
            if weights is None:
                assert alphas[which] is None
                continue
            (T_y, T_x), whole = alphas[which].shape, weights[row]
            torch.testing.assert_close(whole[:T_y, :T_x], alphas[which], atol=1e-12, rtol=0)
            assert not whole[T_y:].any()
            assert not whole[:, T_x:].any()


@pytest.mark.parametrize("choices", [*every_context(), *SELF_ATTENTIVE], ids=label)
@settings(max_examples=5, deadline=None)
@given(pairs=sentence_pairs, more=st.tuples(st.integers(0, 3), st.integers(0, 3)), data=st.data())
def test_company_order_and_padding_never_change_a_sentence(choices, pairs, more, data) -> None:
    check_company(choices, pairs, data.draw(st.permutations(range(len(pairs)))), more)


@settings(max_examples=20, deadline=None)
@given(choices=any_choices, pairs=sentence_pairs, data=st.data())
def test_company_changes_nothing_whatever_is_combined(choices, pairs, data) -> None:
    try:
        tiny_model(choices)
    except CourseError:
        assume(False)
    check_company(choices, pairs, data.draw(st.permutations(range(len(pairs)))), (2, 1))


@pytest.mark.parametrize("choices", [*every_context(), *SELF_ATTENTIVE], ids=label)
def test_what_lies_in_the_padding_is_never_read(choices: Choices) -> None:
    model = tiny_model(choices)
    batch = batch_of([([4, 5, 6], [4]), ([5], [5, 5])])
    scribbled = batch._replace(
        source=batch.source.masked_fill(~batch.source_mask, 7),
        target_in=batch.target_in.masked_fill(~batch.target_mask, 6),
        target_out=batch.target_out.masked_fill(~batch.target_mask, 6),
    )
    results = []
    for each in (batch, scribbled):
        model.zero_grad()
        loss, _ = model.loss(each)
        loss.backward()
        results.append(
            (loss, model.sentence_log_probs(each), *(p.grad for p in model.parameters()))
        )
    for found, expected in zip(*results, strict=True):
        assert torch.equal(found, expected)


def test_dropout_disturbs_training_and_nothing_else() -> None:
    model, plain, batch = tiny_model(Choices(), dropout=0.5), tiny_model(Choices()), batch_of(PAIRS)
    assert model.loss(batch)[0] == plain.loss(batch)[0]
    torch.manual_seed(0)
    assert model.train().loss(batch)[0] != plain.train().loss(batch)[0]


@settings(max_examples=20, deadline=None)
@given(pairs=sentence_pairs, smoothing=st.floats(0, 0.5))
def test_label_smoothing_mixes_the_words_loss_with_that_of_all_words(pairs, smoothing) -> None:
    """(1 - e) times -log p(y), and e times the mean of -log p over the vocabulary."""
    model, batch = tiny_model(Choices()), batch_of(pairs)
    plain, _ = model.loss(batch)
    everything = torch.zeros((), dtype=torch.double)
    for word in range(7):
        told = batch._replace(target_out=torch.full_like(batch.target_out, word))
        everything += model.loss(told)[0]
    found, _ = model.loss(batch, label_smoothing=smoothing)
    expected = (1 - smoothing) * plain + smoothing * everything / 7
    torch.testing.assert_close(found, expected, atol=1e-10, rtol=0)
