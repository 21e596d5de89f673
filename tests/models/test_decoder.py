"""The decoder: two paths of one mathematics, who sees what when, and the words it is given."""

from dataclasses import replace

import pytest
import torch
from course_lib.models.decoder import DecoderState
from course_lib.models.layers import WideLinear
from torch import Tensor

from course_lib.corpora.batches import Batch, make_batch
from course_lib.models import AdditiveScore, AttentionContext, RNNsearch
from course_lib.search import translate
from tests.models.test_against_reference import EVERYTHING, LUONG, SUTSKEVER
from tests.models.tiny import (
    DECODERS,
    PAIRS,
    batch_of,
    decoder_of,
    every_context,
    label,
    tiny_model,
)
from tests.reference.translator import SCORES, Choices

SELF_ATTENTION = [
    replace(choices, encoder="self-attention")
    for choices in (
        Choices(),
        Choices(context="fixed"),
        decoder_of("luong", unit="lstm"),
        SUTSKEVER,
    )
]


def started(model: RNNsearch, batch: Batch) -> DecoderState:
    return model.start(batch.source, batch.source_lengths, batch.source_mask)


def words(*numbers: int) -> Tensor:
    return torch.tensor(numbers)


@pytest.mark.parametrize("choices", [*EVERYTHING, *SELF_ATTENTION], ids=label)
def test_three_paths_have_one_loss(choices: Choices) -> None:
    """Unrolled for training, step after step for a search, sampled with every word given."""
    model = tiny_model(choices)
    batch = batch_of(PAIRS)
    state = started(model, batch)
    log_prob = torch.zeros(len(PAIRS), dtype=torch.double)
    for y_prev, y, real in zip(
        batch.target_in.T, batch.target_out.T, batch.target_mask.T, strict=True
    ):
        log_probs, _, state = model.step(y_prev, state)
        log_prob = log_prob + log_probs.gather(-1, y[:, None]).squeeze(-1) * real
    unrolled, sampled = model.loss(batch)[0], model.loss(batch, given=1.0)[0]
    torch.testing.assert_close(model.sentence_log_probs(batch), log_prob, atol=1e-12, rtol=0)
    weights = list(model.parameters())
    first, *others = [
        (loss.detach(), *torch.autograd.grad(loss, weights, allow_unused=True))
        for loss in (unrolled, sampled, -log_prob.sum())
    ]
    for found in others:
        for a, b in zip(found, first, strict=True):
            assert (a is None) == (b is None)
            if a is not None:
                torch.testing.assert_close(a, b, atol=1e-10, rtol=0)


@pytest.mark.parametrize("choices", [Choices(), LUONG, SUTSKEVER], ids=label)
def test_without_words_given_the_model_reads_its_own(choices: Choices) -> None:
    """A model that always says 5 reads 5 at every step but the first."""
    model = tiny_model(choices)
    with torch.no_grad():
        model.decoder.W_o.weight.mul_(0.01)
        model.decoder.W_o.bias[5] += 100
    batch = batch_of(PAIRS)
    own = torch.full_like(batch.target_in, 5)
    own[:, 0] = batch.target_in[:, 0]
    found, expected = model.loss(batch, given=0.0)[0], model.loss(batch._replace(target_in=own))[0]
    assert found.item() == pytest.approx(expected.item(), abs=1e-9)
    assert found.item() != pytest.approx(model.loss(batch)[0].item(), abs=1e-6)


def test_the_share_of_words_given_is_the_share_asked_for() -> None:
    model = tiny_model(Choices())
    with torch.no_grad():
        model.decoder.W_o.bias[6] += 100
    read: list[Tensor] = []
    hook = model.decoder.E.register_forward_hook(lambda _, inputs, __: read.append(inputs[0]))
    batch = make_batch([([4], [5] * 40)], [0] * 200)
    torch.manual_seed(0)
    model.loss(batch, given=0.3)
    hook.remove()
    after_the_first = torch.stack(read[1:])
    assert set(after_the_first.unique().tolist()) == {5, 6}
    # 8,000 draws: the standard deviation is 0.005.
    assert (after_the_first == 5).double().mean().item() == pytest.approx(0.3, abs=0.02)
    # Each word of each sentence has a draw of its own.
    assert 0 < (after_the_first[0] == 5).double().mean().item() < 1


def test_own_words_are_drawn_from_the_models_distribution() -> None:
    """Frequencies of 20,000 draws against log_probs of the step."""
    model = tiny_model(Choices(), seed=3)
    batch = make_batch([([4, 5], [5])], [0] * 20_000)
    expected = model.step(batch.target_in[:1, 0], started(model, make_batch([([4, 5], [5])], [0])))
    read: list[Tensor] = []
    hook = model.decoder.E.register_forward_hook(lambda _, inputs, __: read.append(inputs[0]))
    torch.manual_seed(0)
    with torch.no_grad():
        model.loss(batch, given=0.0)
    hook.remove()
    frequencies = torch.bincount(read[1], minlength=7) / 20_000
    torch.testing.assert_close(
        frequencies.double(), expected[0][0].exp().detach(), atol=0.015, rtol=0
    )


@pytest.mark.parametrize("choices", [c for c in every_context() if c.context in SCORES], ids=label)
def test_before_the_update_the_weights_do_not_know_the_word(choices: Choices) -> None:
    """s_{i-1} has not read y_{i-1}, s_i has. Luong's weights see one word more."""
    model = tiny_model(choices)
    state = started(model, batch_of(PAIRS[:1]))
    _, one, after_one = model.step(words(4), state)
    _, other, after_other = model.step(words(5), state)
    assert torch.equal(one, other) == (choices.order == "before")
    # Either way the next look knows it.
    assert not torch.equal(model.step(words(4), after_one)[1], model.step(words(4), after_other)[1])


@pytest.mark.parametrize(
    "choices", [*every_context(), *map(decoder_of, DECODERS), LUONG, SUTSKEVER], ids=label
)
def test_hypotheses_side_by_side_make_their_steps_as_alone(choices: Choices) -> None:
    """Three hypotheses of each sentence share its memory; each has the step it has alone."""
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


@pytest.mark.parametrize("k", [1, 2])
def test_a_context_of_ones_own_is_searched_with_as_well(k: int) -> None:
    """A score of a reader's own needs no more than keys and energies."""

    class Halved(AdditiveScore):
        def forward(self, query: Tensor, keys: Tensor) -> Tensor:
            return super().forward(query, keys) / 2

    model = tiny_model(Choices())
    plain = model.decoder.context
    score = Halved(4, 8, 5).double()
    score.load_state_dict(plain.score.state_dict())
    model.decoder.context = AttentionContext(score, plain.size)
    sources = [source for source, _ in PAIRS]
    for found, (source, _) in zip(translate(model, sources, k=k), PAIRS, strict=True):
        expected = model.sentence_log_probs(batch_of([(source, found.tokens)]))
        assert found.log_prob == pytest.approx(expected.item(), abs=1e-9)


@pytest.mark.parametrize("choices", [*every_context(), LUONG, SUTSKEVER], ids=label)
def test_selected_states_go_on_as_their_sentences_would(choices: Choices) -> None:
    """Rows may be dropped, repeated and reordered at any time."""
    model = tiny_model(choices)
    _, _, state = model.step(words(4, 5, 6), started(model, batch_of(PAIRS)))
    index = words(2, 0, 0)
    expected, alpha, _ = model.step(words(4, 4, 4), state)
    selected = state.select(index)
    assert selected.step == state.step == 1
    found, found_alpha, _ = model.step(words(4, 4, 4), selected)
    torch.testing.assert_close(found, expected[index], atol=1e-13, rtol=0)
    if alpha is not None:
        torch.testing.assert_close(found_alpha, alpha[index], atol=1e-13, rtol=0)


@pytest.mark.parametrize("rows", [1, 63, 64, 100])
@pytest.mark.parametrize("width", [16, 37])
def test_a_product_over_the_vocabulary_is_one_whatever_its_width(rows: int, width: int) -> None:
    layer = WideLinear(5, width).double()
    plain = torch.nn.Linear(5, width).double()
    plain.load_state_dict(layer.state_dict())
    inputs = torch.randn(rows, 5, dtype=torch.double, requires_grad=True)
    weights = torch.randn(rows, width, dtype=torch.double)
    results = []
    for each in (layer, plain):
        product = each(inputs)
        wanted = [inputs, *each.parameters()]
        results.append([product, *torch.autograd.grad((product * weights).sum(), wanted)])
    for ours, theirs in zip(*results, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)
    with torch.no_grad():
        found, expected = layer.log_softmax(inputs), results[1][0].log_softmax(dim=-1)
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)
