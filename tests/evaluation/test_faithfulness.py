"""Changed weights move the output only through the context, and never for another sentence."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from course_lib.corpora.batches import Batch, make_batch
from course_lib.errors import CourseError
from course_lib.evaluation.faithfulness import (
    edited_weights,
    erased_words,
    left_out_words,
    rank_correlation,
    total_variation,
)
from course_lib.evaluation.forced import forced_alpha, logits, sentence_log_probs
from course_lib.models import ModelConfig, RNNsearch, build_model

SIZES = {"embedding": 6, "hidden": 8, "alignment": 8, "readout": 6}
PAIRS = [
    ([5, 6, 7, 8], [9, 5, 6]),
    ([9, 4], [4, 5, 6, 7, 8]),
    ([7], [5]),
    ([4, 5, 6, 7, 8, 9], [8, 9]),
]
GLOBAL = ("additive", "concat", "general", "dot", "scaled-dot")


def sharp_model(factor: float = 10.0, **choices) -> RNNsearch:
    """A model with random weights whose attention is far from uniform, in float64."""
    if choices.get("context") in ("dot", "scaled-dot"):
        choices["encoder"] = "forward"
    model = build_model(ModelConfig(12, 12, **SIZES, **choices), seed=1).double().eval()
    # The last matrix of the score: a larger one in front of a tanh would only saturate it.
    last = "W_a.weight" if model.config.context == "general" else "v_a.weight"
    with torch.no_grad():
        for name, parameter in model.decoder.attention.named_parameters():
            if name.removeprefix("attention.") == last:
                parameter.mul_(factor)
        # Words that differ, and contexts that make a difference to be seen.
        model.encoder.E.weight.mul_(10)
        model.decoder.W_o.weight.mul_(5)
    return model


def batch_of(pairs: list[tuple[list[int], list[int]]] = PAIRS) -> Batch:
    return make_batch(pairs, list(range(len(pairs))))


def weights(model: RNNsearch, batch: Batch) -> Tensor:
    alpha = forced_alpha(model, batch)
    assert alpha is not None
    return alpha


def real(values: Tensor) -> Tensor:
    return values[~values.isnan()]


def test_the_distance_of_distributions() -> None:
    p, q = torch.tensor([0.5, 0.5, 0.0]), torch.tensor([0.0, 0.5, 0.5])
    assert total_variation(p, p) == 0
    assert total_variation(p, q) == 0.5
    assert total_variation(torch.eye(3)[0], torch.eye(3)[1]) == 1


EXPERIMENTS = (erased_words, left_out_words)


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_distances_lie_between_zero_and_one_and_padding_has_none(experiment) -> None:
    batch = batch_of()
    moved = experiment(sharp_model(), batch)
    assert moved.shape[:2] == batch.target_in.shape
    assert torch.equal(~moved.isnan().all(-1), batch.target_mask)
    assert real(moved).min() >= 0
    assert real(moved).max() <= 1
    # The weights of this model matter, or the other tests would pass for nothing.
    assert real(moved).max() > 0.01


def test_erasing_one_of_uniform_weights_changes_the_average() -> None:
    model = sharp_model(factor=0.0)
    assert real(erased_words(model, batch_of())).max() > 1e-4


def test_weights_of_a_context_that_is_ignored_change_nothing() -> None:
    model = sharp_model()
    with torch.no_grad():
        model.decoder.C.weight.zero_()
        model.decoder.C_o.weight.zero_()
    assert real(erased_words(model, batch_of())).max() == 0
    # The word itself still reaches the decoder, through s_0.
    assert real(left_out_words(model, batch_of())).max() > 0


def test_erasing_a_word_without_weight_changes_nothing() -> None:
    model, batch = sharp_model(factor=1e5), batch_of()
    alpha = weights(model, batch)
    none = (alpha == 0) & batch.source_mask[:, None] & batch.target_mask[..., None]
    assert none.sum() > 10
    moved = erased_words(model, batch)
    assert moved[none].max() == 0
    assert moved[alpha == 1].max() > 0.01


def test_erasing_starts_from_the_weights_that_are_given() -> None:
    model, batch = sharp_model(), batch_of()
    own = weights(model, batch)
    assert torch.equal(real(erased_words(model, batch, own)), real(erased_words(model, batch)))
    first = torch.zeros_like(own)
    first[..., 0] = 1
    moved = erased_words(model, batch, first)
    assert real(moved[..., 1:]).max() == 0  # nobody looks there
    assert real(moved[..., 0]).min() > 0


@pytest.mark.parametrize("context", GLOBAL)
def test_erasing_is_a_softmax_without_the_word(context: str) -> None:
    """The same as masking the word in the memory, for a context that looks everywhere."""
    model, batch = sharp_model(factor=4.0, context=context), batch_of()
    moved = erased_words(model, batch)
    with torch.no_grad():
        state = model.start(batch.source, batch.source_lengths, batch.source_mask)
        for i, y in enumerate(batch.target_in.unbind(1)):
            before, _, following = model.step(y, state)
            for j in range(batch.source.shape[1]):
                mask = batch.source_mask.clone()
                mask[:, j] = False
                masked = state._replace(mask=mask)
                after, alpha, _ = model.step(y, masked)
                assert alpha is not None
                assert alpha[:, j].abs().max() == 0
                wanted = total_variation(before.exp(), after.exp())
                known = ~moved[:, i, j].isnan()
                torch.testing.assert_close(moved[known, i, j], wanted[known])
            state = following


def test_leaving_out_reads_the_shorter_sentence() -> None:
    """Against the fast path over sentences written down without the word."""
    model, batch = sharp_model(), batch_of()
    moved = left_out_words(model, batch)

    def distributions(source: list[int], target: list[int]) -> Tensor:
        alone = make_batch([(source, target)], [0])
        return torch.softmax(logits(model, alone), dim=-1)[0]

    with torch.no_grad():
        for row, (source, target) in enumerate(PAIRS):
            for j in range(len(source)):
                wanted = total_variation(
                    distributions(source, target),
                    distributions(source[:j] + source[j + 1 :], target),
                )
                torch.testing.assert_close(moved[row, : len(target) + 1, j], wanted)
            assert moved[row, :, len(source) :].isnan().all()


@pytest.mark.parametrize("experiment", EXPERIMENTS)
@pytest.mark.parametrize("window", [0, 2])
def test_a_sentence_has_the_same_result_in_any_company(experiment, window: int) -> None:
    model = sharp_model(window=window)
    together = experiment(model, batch_of())
    for row, (source, target) in enumerate(PAIRS):
        alone = experiment(model, make_batch(PAIRS, [row]))[0]
        place = slice(len(target) + 1), slice(len(source) + 1)
        torch.testing.assert_close(together[row][place], alone[place], equal_nan=True)


@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"window": 2},
        {"decoder": "luong"},
        {"decoder": "conditional"},
        {"encoder": "self-attention", "context": "general"},
        {"unit": "lstm", "layers": 2, "reverse_source": True},
    ],
    ids=lambda choices: "-".join(map(str, choices.values())) or "rnnsearch",
)
def test_an_edit_that_changes_nothing_changes_nothing(choices: dict) -> None:
    model, batch = sharp_model(**choices), batch_of()
    before = weights(model, batch), sentence_log_probs(model, batch)
    with edited_weights(model, lambda alpha: alpha.clone()):
        after = weights(model, batch), sentence_log_probs(model, batch)
    torch.testing.assert_close(after, before)
    for experiment in EXPERIMENTS:
        assert real(experiment(model, batch)).max() > 0


def test_the_model_is_left_as_it_was() -> None:
    model, batch = sharp_model(), batch_of()
    model.train()
    attention, names = model.decoder.attention, list(model.state_dict())
    for experiment in EXPERIMENTS:
        experiment(model, batch)
        assert model.training

    def fail(alpha: Tensor) -> Tensor:
        raise ValueError("a mistake in an edit")

    with pytest.raises(ValueError, match="mistake"), edited_weights(model, fail):
        forced_alpha(model, batch)
    assert model.decoder.attention is attention
    assert list(model.state_dict()) == names


@pytest.mark.parametrize("changes", [{"context": "fixed"}, {"decoder": "sutskever"}])
def test_a_model_without_weights_is_refused(changes: dict[str, str]) -> None:
    model = build_model(ModelConfig(12, 12, **SIZES, **changes))
    with pytest.raises(CourseError, match="has no weights"):
        erased_words(model, batch_of())


@given(st.lists(st.tuples(*[st.integers(0, 4)] * 2), min_size=2, max_size=8))
def test_rank_correlation_counts_pairs(points: list[tuple[int, int]]) -> None:
    pairs = [(a, b) for k, a in enumerate(points) for b in points[:k]]
    alike = sum((a[0] - b[0]) * (a[1] - b[1]) > 0 for a, b in pairs)
    unlike = sum((a[0] - b[0]) * (a[1] - b[1]) < 0 for a, b in pairs)
    untied = [sum(a[side] != b[side] for a, b in pairs) for side in (0, 1)]
    x, y = torch.tensor(points, dtype=torch.float64).T
    # What has no value is left out, wherever it stands.
    gap = torch.tensor([torch.nan], dtype=torch.float64)
    for padded in ((x, y), (torch.cat([gap, x]), torch.cat([gap, y]))):
        value = float(rank_correlation(*padded))
        if all(untied):
            assert value == pytest.approx((alike - unlike) / math.sqrt(untied[0] * untied[1]))
        else:
            assert math.isnan(value)
