"""The model: one loss on every path, sentences that do not disturb each other, and dropout."""

from typing import Any

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from course_lib.corpora.batches import Batch, make_batch, make_source
from course_lib.errors import CourseError
from course_lib.evaluation.forced import forced_alpha, logits, sentence_log_probs
from course_lib.models import Attention, RNNsearch, State
from course_lib.search import translate
from course_lib.search.hypothesis import look_back_of
from tests.models.test_against_reference import any_choices
from tests.models.tiny import (
    EVERYTHING,
    LUONG,
    PAIRS,
    SELF_ATTENTIVE,
    SUTSKEVER,
    batch_of,
    every_context,
    every_decoder,
    label,
    tiny_model,
)
from tests.reference.translator import DECODERS, Choices

SOME = [*every_context(), *SELF_ATTENTIVE]
words = st.integers(3, 6)
sentence_pairs = st.lists(
    st.tuples(st.lists(words, max_size=6), st.lists(words, max_size=6)), min_size=1, max_size=5
)


def started(model: RNNsearch, batch: Batch) -> State:
    return model.start(batch.source, batch.source_lengths, batch.source_mask)


@pytest.mark.parametrize("choices", [*EVERYTHING, *SELF_ATTENTIVE], ids=label)
def test_two_paths_have_one_loss(choices: Choices) -> None:
    """Unrolled for training, and step after step for a search: values and derivatives."""
    model = tiny_model(choices)
    batch = batch_of(PAIRS)
    state = started(model, batch)
    log_prob = torch.zeros(len(PAIRS), dtype=torch.double)
    for y_prev, y, real in zip(
        batch.target_in.T, batch.target_out.T, batch.target_mask.T, strict=True
    ):
        log_probs, _, state = model.step(y_prev, state)
        log_prob = log_prob + log_probs.gather(-1, y[:, None]).squeeze(-1) * real
    torch.testing.assert_close(sentence_log_probs(model, batch), log_prob, atol=1e-12, rtol=0)
    loss, number = model.loss(batch)
    assert number == sum(len(target) + 1 for _, target in PAIRS)
    weights = list(model.parameters())
    unrolled, stepped = (
        (total.detach(), *torch.autograd.grad(total, weights, allow_unused=True))
        for total in (loss, -log_prob.sum())
    )
    for found, expected in zip(stepped, unrolled, strict=True):
        assert (found is None) == (expected is None)
        if found is not None:
            torch.testing.assert_close(found, expected, atol=1e-10, rtol=0)


@pytest.mark.parametrize(
    "choices", [Choices(decoder=decoder) for decoder in DECODERS[:3]], ids=label
)
def test_before_the_update_the_weights_do_not_know_the_word(choices: Choices) -> None:
    """s_{i-1} has not read y_{i-1}; s_i and s'_i have, so their weights see one word more."""
    model = tiny_model(choices)
    state = started(model, batch_of(PAIRS[:1]))
    _, one, after_one = model.step(torch.tensor([4]), state)
    _, other, after_other = model.step(torch.tensor([5]), state)
    assert torch.equal(one, other) == (choices.decoder == "paper")
    # Either way the next look knows it.
    after = [model.step(torch.tensor([4]), each)[1] for each in (after_one, after_other)]
    assert not torch.equal(*after)


@pytest.mark.parametrize("choices", [*SOME, *every_decoder(), LUONG], ids=label)
def test_hypotheses_side_by_side_make_their_steps_as_alone(choices: Choices) -> None:
    """Three hypotheses of each sentence share its annotations; each has the step it has alone."""
    model = tiny_model(choices)
    state = started(model, batch_of(PAIRS))
    alone = [state] * 3
    together = state._replace(s=state.s.expand(3, -1, -1))
    draw = torch.Generator().manual_seed(1)
    for _ in range(4):
        y = torch.randint(3, 7, (3, len(PAIRS)), generator=draw)
        log_probs, alpha, together = model.step(y, together)
        for rank in range(3):
            expected, weights, alone[rank] = model.step(y[rank], alone[rank])
            torch.testing.assert_close(log_probs[rank], expected, atol=1e-12, rtol=0)
            torch.testing.assert_close(together.s[rank], alone[rank].s, atol=1e-12, rtol=0)
            assert (alpha is None) == (weights is None)
            if alpha is not None:
                torch.testing.assert_close(alpha[rank], weights, atol=1e-12, rtol=0)


@pytest.mark.parametrize("choices", [*SOME, LUONG, SUTSKEVER], ids=label)
def test_selected_states_go_on_as_their_sentences_would(choices: Choices) -> None:
    """Rows may be dropped, repeated and reordered at any time."""
    model = tiny_model(choices)
    _, _, state = model.step(torch.tensor([4, 5, 6]), started(model, batch_of(PAIRS)))
    index = torch.tensor([2, 0, 0])
    expected, alpha, _ = model.step(torch.tensor([4, 4, 4]), state)
    selected = look_back_of(state._replace(s=state.s[index]), index)
    found, found_alpha, _ = model.step(torch.tensor([4, 4, 4]), selected)
    torch.testing.assert_close(found, expected[index], atol=1e-13, rtol=0)
    if alpha is not None:
        torch.testing.assert_close(found_alpha, alpha[index], atol=1e-13, rtol=0)


@pytest.mark.parametrize("k", [1, 2])
def test_an_attention_of_ones_own_is_trained_and_searched_with(k: int) -> None:
    """A score of a reader's own needs no more than energies."""

    class Halved(Attention):
        def energies(self, s_prev: Tensor, keys: Tensor) -> Tensor:
            return super().energies(s_prev, keys) / 2

    model = tiny_model(Choices())
    with torch.no_grad():
        before = sentence_log_probs(model, batch_of(PAIRS))
        halved = Halved(4, 8, 5).double()
        halved.load_state_dict(model.decoder.attention.state_dict())
        model.decoder.attention = halved
        halved_once = sentence_log_probs(model, batch_of(PAIRS))
        halved.v_a.weight *= 2  # undoes it
        torch.testing.assert_close(sentence_log_probs(model, batch_of(PAIRS)), before)
        assert not torch.isclose(halved_once, before).any()
    for found, (source, _) in zip(translate(model, [x for x, _ in PAIRS], k=k), PAIRS, strict=True):
        expected = sentence_log_probs(model, batch_of([(source, found.tokens)]))
        assert found.log_prob == pytest.approx(expected.item(), abs=1e-9)


def wider(batch: Batch, source: int, target: int) -> Batch:
    """The batch with more padding than it needs."""

    def more(values: Tensor, columns: int) -> Tensor:
        return nn.functional.pad(values, (0, columns))

    mask = more(batch.target_mask, target)
    return Batch(
        more(batch.source, source),
        batch.source_lengths,
        more(batch.source_mask, source),
        more(batch.target_in, target),
        more(batch.target_out, target),
        mask,
        mask.flatten().nonzero().squeeze(1),
    )


def check_company(choices: Choices, pairs: list, order: list[int], more: tuple[int, int]) -> None:
    """The same sentences alone, together, in another order, with more padding than needed."""
    model = tiny_model(choices)
    batches = [batch_of([pair]) for pair in pairs]
    alphas = [forced_alpha(model, batch) for batch in batches]
    expected = torch.cat([sentence_log_probs(model, batch) for batch in batches])[order]
    batch = make_batch(pairs, order)
    for company in (batch, wider(batch, *more)):
        found = sentence_log_probs(model, company)
        torch.testing.assert_close(found, expected, atol=1e-12, rtol=0)
        loss, number = model.loss(company)
        torch.testing.assert_close(loss, -expected.sum(), atol=1e-11, rtol=0)
        assert number == sum(len(target) + 1 for _, target in pairs)
        weights = forced_alpha(model, company)
        for row, which in enumerate(order):
            alone = alphas[which]
            if weights is None:
                assert alone is None
                continue
            (T_y, T_x), whole = alone[0].shape, weights[row]
            torch.testing.assert_close(whole[:T_y, :T_x], alone[0], atol=1e-12, rtol=0)
            assert not whole[T_y:].any()
            assert not whole[:, T_x:].any()


@pytest.mark.parametrize("choices", SOME, ids=label)
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


@pytest.mark.parametrize("choices", SOME, ids=label)
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
        loss, _ = model.loss(each)
        gradients = torch.autograd.grad(loss, list(model.parameters()), allow_unused=True)
        results.append((loss, sentence_log_probs(model, each), *gradients))
    for found, expected in zip(*results, strict=True):
        assert found is expected or torch.equal(found, expected)


@settings(max_examples=20, deadline=None)
@given(pairs=sentence_pairs, smoothing=st.floats(0, 0.5))
def test_label_smoothing_mixes_the_words_loss_with_that_of_all_words(pairs, smoothing) -> None:
    """(1 - e) times -log p(y), and e times the mean of -log p over the vocabulary."""
    model, batch = tiny_model(Choices()), batch_of(pairs)
    log_probs = logits(model, batch).log_softmax(dim=-1)[batch.target_mask]
    y = batch.target_out[batch.target_mask]
    plain = -log_probs[torch.arange(len(y)), y].sum()
    expected = (1 - smoothing) * plain - smoothing * log_probs.mean(dim=-1).sum()
    found, _ = model.loss(batch, smoothing)
    torch.testing.assert_close(found, expected, atol=1e-10, rtol=0)


WHERE: dict[str, tuple[str, Choices]] = {
    "source embeddings": ("encoder.ahead.W", Choices()),
    "source embeddings, read from behind": ("encoder.back.W", Choices()),
    "annotations": ("decoder.attention.U_a", Choices()),
    "target embeddings": ("decoder.unit.W", Choices()),
    "target embeddings, read out": ("decoder.V_o", Choices()),
    "t_i": ("decoder.W_o", Choices()),
    "t_i of Luong's decoder": ("decoder.W_o", Choices(decoder="luong")),
    "t_i of the conditional decoder": ("decoder.W_o", Choices(decoder="conditional")),
    "t_i of Sutskever's decoder": ("decoder.W_o", Choices(decoder="sutskever")),
    "between the decoder's layers": ("decoder.unit.upper.0.W", Choices(layers=2)),
    "between the encoder's layers": ("encoder.units.1.0.W", Choices(layers=2)),
    "embeddings of torch's units": ("encoder.rnn", Choices(unit="torch")),
    "annotations of torch's units": ("decoder.attention.U_a", Choices(unit="torch")),
    "annotations in layers": ("decoder.attention.U_a", Choices(layers=2)),
    "a self-attentive encoder's": ("decoder.attention.U_a", SELF_ATTENTIVE[0]),
}
"""What a part is given that dropout has gone over."""


@pytest.mark.parametrize("where", WHERE)
def test_dropout_zeroes_its_share_in_training_and_nothing_else(where: str) -> None:
    part, choices = WHERE[where]
    model = tiny_model(choices, dropout=0.3, embedding=40, readout=40)
    seen: list[Tensor] = []

    def look(_: nn.Module, given: tuple[Any, ...]) -> None:
        seen.append(given[0].data if hasattr(given[0], "batch_sizes") else given[0])

    model.get_submodule(part).register_forward_pre_hook(look)
    batch = make_batch([([4, 5, 6, 7, 8] * 4, [4, 5, 6] * 8)], [0] * 8)
    torch.manual_seed(0)
    shares = []
    for training in (False, True):
        seen.clear()
        model.train(training)(batch)
        given_numbers = torch.cat([numbers.flatten() for numbers in seen])
        shares.append((given_numbers == 0).double().mean().item())
    assert shares == pytest.approx([0, 0.3], abs=0.03)


def test_the_summary_is_whole() -> None:
    """s_0 is made from a state that has read the sentence, and no share of it is dropped."""
    for choices in (Choices(), Choices(unit="torch"), Choices(layers=2), SELF_ATTENTIVE[0]):
        model = tiny_model(choices, dropout=0.3).train()
        summary = model.encoder(*make_source([[4, 5, 6, 7, 8]] * 20))[1]
        assert summary.all(), label(choices)


def test_a_search_in_half_precision_sums_over_the_vocabulary_in_full() -> None:
    model = tiny_model(Choices()).float()
    batch = batch_of(PAIRS)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        log_probs, _, _ = model.step(batch.target_in[:, 0], started(model, batch))
    assert log_probs.dtype is torch.float32
    torch.testing.assert_close(log_probs.exp().sum(dim=-1), torch.ones(3), atol=1e-6, rtol=0)


def test_in_layers_torchs_modules_drop_in_between() -> None:
    model = tiny_model(Choices(unit="torch", layers=2), dropout=0.3)
    assert model.encoder.rnn.dropout == 0.3


@pytest.mark.parametrize("choices", EVERYTHING, ids=label)
def test_out_of_training_dropout_changes_nothing(choices: Choices) -> None:
    model, plain, batch = tiny_model(choices, dropout=0.5), tiny_model(choices), batch_of(PAIRS)
    assert model.loss(batch)[0] == plain.loss(batch)[0]
