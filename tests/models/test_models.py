"""What holds for every model: padding, company and order change nothing; seams and sizes."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from course_lib.corpora.batches import make_batch, pad
from course_lib.errors import CourseError
from course_lib.models import (
    EncoderDecoder,
    ModelConfig,
    build_model,
    count_parameters,
    masked_softmax,
    model_config,
    parameter_table,
)
from course_lib.models.cells import PaperUnit, TorchUnit
from tests.models.test_against_reference import SETTINGS
from tests.models.tiny import batch_of, tiny_model

words = st.integers(3, 6)
sentence_pairs = st.lists(
    st.tuples(st.lists(words, max_size=6), st.lists(words, max_size=6)), min_size=1, max_size=5
)


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@settings(max_examples=25, deadline=None)
@given(pairs=sentence_pairs, data=st.data())
def test_company_order_and_padding_never_change_a_sentence(setting, pairs, data) -> None:
    model = tiny_model(setting)
    alone = torch.stack([model.sentence_log_probs(batch_of([pair]))[0] for pair in pairs])
    order = data.draw(st.permutations(range(len(pairs))))
    together = model.sentence_log_probs(make_batch(pairs, order))
    torch.testing.assert_close(together, alone[order], atol=1e-12, rtol=0)
    batch = batch_of(pairs)
    wider = batch._replace(
        source=nn.functional.pad(batch.source, (0, 3)),
        source_mask=nn.functional.pad(batch.source_mask, (0, 3)),
    )
    torch.testing.assert_close(model.sentence_log_probs(wider), alone, atol=1e-12, rtol=0)


def test_what_lies_in_the_padding_is_never_read() -> None:
    for setting in SETTINGS:
        model = tiny_model(setting)
        batch = batch_of([([4, 5, 6], [4]), ([5], [5, 5])])
        scribbled = batch._replace(source=batch.source.masked_fill(~batch.source_mask, 7))
        assert torch.equal(model.sentence_log_probs(batch), model.sentence_log_probs(scribbled))


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_one_unrolled_pass_equals_step_after_step(setting) -> None:
    model = tiny_model(setting)
    batch = batch_of([([4, 5, 6], [4, 6]), ([5], [5, 5, 4])])
    state = model.start(batch.source, batch.source_lengths, batch.source_mask)
    total = torch.zeros(2, dtype=torch.double)
    for y_prev, y, real in zip(
        batch.target_in.T, batch.target_out.T, batch.target_mask.T, strict=True
    ):
        log_probs, _, state = model.step(y_prev, state)
        total += log_probs.gather(-1, y[:, None]).squeeze(-1).detach() * real
    torch.testing.assert_close(model.sentence_log_probs(batch), total, atol=1e-12, rtol=0)
    assert model(batch)[0].item() == pytest.approx(-total.sum().item())


def test_the_two_models_differ_in_the_context_object_alone() -> None:
    search = build_model(model_config("rnnsearch", "smoke", 20, 20))
    encdec = build_model(model_config("rnnencdec", "smoke", 20, 20))
    assert search.config == replace(encdec.config, context="additive")
    kinds = {
        name: type(module)
        for name, module in search.named_modules()
        if not name.startswith("decoder.context.")
    }
    others = {name: type(module) for name, module in encdec.named_modules()}
    assert {name for name in kinds if kinds[name] is not others[name]} == {"decoder.context"}


def test_the_fixed_context_is_the_last_real_forward_state_at_every_step() -> None:
    model = tiny_model(SETTINGS[4])  # fixed, bidirectional, the paper's unit
    batch = batch_of([([4, 5, 6], [4]), ([5], [5, 5])])
    annotations, _ = model.encoder(batch.source, batch.source_lengths, batch.source_mask)
    memory = model.decoder.context.prepare(annotations, batch.source_mask)
    queries = torch.randn(2, 2, 4, dtype=torch.double)
    (first, none), (second, _) = (model.decoder.context(query, memory) for query in queries)
    assert none is None
    assert torch.equal(first, second)
    assert torch.equal(first[0], annotations[0, 3, :4])
    assert torch.equal(first[1], annotations[1, 1, :4])


def test_a_fully_masked_row_gives_zeros_and_no_nan_gradient() -> None:
    energies = torch.randn(2, 4, dtype=torch.double, requires_grad=True)
    mask = torch.tensor([[True, True, False, False], [False] * 4])
    alpha = masked_softmax(energies, mask)
    assert torch.equal(alpha[1], torch.zeros(4, dtype=torch.double))
    torch.testing.assert_close(alpha[0, :2], energies[0, :2].softmax(dim=0))
    alpha.square().sum().backward()
    assert energies.grad.isfinite().all()
    assert not energies.grad[~mask].any()


def test_torch_unit_is_torch_nn_gru() -> None:
    torch.manual_seed(0)
    unit, gru = TorchUnit(3, 4), nn.GRU(3, 4, batch_first=True)
    gru.load_state_dict(
        {
            "weight_ih_l0": unit.W.weight,
            "bias_ih_l0": unit.W.bias,
            "weight_hh_l0": unit.U.weight,
            "bias_hh_l0": unit.U.bias,
        }
    )
    x = torch.randn(2, 5, 3)
    state = torch.zeros(2, 4)
    for projected in unit.project(x).unbind(dim=1):
        state = unit(projected, state)
    torch.testing.assert_close(state, gru(x)[1][0])


def test_the_papers_unit_is_another_function_than_torchs() -> None:
    """With equal weights, and z renamed, the place of the reset gate alone makes a difference."""
    torch.manual_seed(0)
    paper, other = PaperUnit(3, 4), TorchUnit(3, 4)
    W_z, W_r, W = paper.W.weight.split(4)
    U_z, U_r = paper.U_gates.weight.split(4)
    with torch.no_grad():
        other.W.weight.copy_(torch.cat([W_r, -W_z, W]))  # 1 - sigma(a) = sigma(-a)
        other.U.weight.copy_(torch.cat([U_r, -U_z, paper.U.weight]))
        for bias in (paper.W.bias, other.W.bias, other.U.bias):
            bias.zero_()
    x, state = torch.randn(2, 3), torch.randn(2, 4)
    difference = paper(paper.project(x), state) - other(other.project(x), state)
    assert difference.abs().max() > 1e-3
    zero = torch.zeros(2, 4)
    torch.testing.assert_close(paper(paper.project(x), zero), other(other.project(x), zero))


def test_the_papers_sizes_give_its_parameters() -> None:
    """Counted from the equations' shapes: see the table of the paper's Appendix A.2.3."""
    n, m, maxout, aligned, K = 1000, 620, 2 * 500, 1000, 30_004
    unit = 3 * (n * m + n * n + n)
    by_hand = {
        "source embeddings E": K * m,
        "encoder units": 2 * unit,
        "target embeddings E": K * m,
        "alignment model W_a, U_a, v_a": aligned * n + aligned * 2 * n + aligned,
        "initial state W_s": n * n + n,
        "decoder unit W, U": unit,
        "context into the unit C": 3 * n * 2 * n,
        "readout U_o, V_o, C_o": maxout * (n + m + 2 * n) + maxout,
        "vocabulary W_o": K * maxout // 2 + K,
    }
    with torch.device("meta"):
        search = EncoderDecoder(model_config("rnnsearch", "paper", K, K))
        encdec = EncoderDecoder(model_config("rnnencdec", "paper", K, K))
    assert parameter_table(search) == by_hand
    assert count_parameters(search) == sum(by_hand.values())
    assert round(count_parameters(search) / 1e6, 1) == 80.4
    assert round(count_parameters(encdec) / 1e6, 1) == 68.6


def test_the_papers_initialisation() -> None:
    """Appendix B.1."""
    config = replace(model_config("rnnsearch", "paper", 50, 50), embedding=40, hidden=60)
    model = build_model(config)
    U = model.decoder.unit.U.weight
    torch.testing.assert_close(U @ U.T, torch.eye(60), atol=1e-5, rtol=0)
    for block in model.encoder.rnn.units[0][1].U_gates.weight.split(60):
        torch.testing.assert_close(block @ block.T, torch.eye(60), atol=1e-5, rtol=0)
    assert not model.decoder.context.score.v_a.weight.any()
    assert all(not p.any() for name, p in model.named_parameters() if name.endswith("bias"))
    assert model.decoder.context.score.U_a.weight.std().item() == pytest.approx(0.001, rel=0.05)
    assert model.decoder.C.weight.std().item() == pytest.approx(0.01, rel=0.05)
    assert model.encoder.E.weight[1:].std().item() == pytest.approx(0.01, rel=0.05)


def test_the_same_seed_draws_the_same_weights_and_leaves_the_generator_alone() -> None:
    config = model_config("rnnsearch", "smoke", 20, 20)
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    first, second = build_model(config, 1), build_model(config, 1)
    assert torch.equal(torch.rand(3), expected)
    for a, b in zip(first.parameters(), second.parameters(), strict=True):
        assert torch.equal(a, b)
    other = build_model(config, 2)
    assert not torch.equal(first.decoder.W_o.weight, other.decoder.W_o.weight)


@pytest.mark.parametrize(
    "change",
    [{"context": "cosine"}, {"context": "dot"}, {"hidden": 0}, {"dropout": 1.0}, {"unit": "gru"}],
)
def test_a_value_that_cannot_be_names_the_choices(change) -> None:
    with pytest.raises(CourseError) as caught:
        ModelConfig(10, 10, **change)
    assert next(iter(change)) in str(caught.value)


def test_padding_knows_every_length() -> None:
    padded, lengths, mask = pad([[5, 6, 7], [8]])
    assert padded.tolist() == [[5, 6, 7], [8, 0, 0]]
    assert lengths.tolist() == [3, 1]
    assert mask.sum(dim=1).tolist() == [3, 1]
