"""Every model equals the paper's equations in float64 NumPy, forward and backward, to 1e-6."""

import numpy as np
import pytest
import torch

from course_lib.corpora.batches import Batch, make_batch
from course_lib.corpora.vocabulary import EOS
from course_lib.models import EncoderDecoder, ModelConfig, build_model
from tests.models.paper_names import paper_parameters
from tests.reference.gradients import loss_and_gradients
from tests.reference.rnnsearch import Setting, alpha_matrix, decode, encode, log_prob

# Unequal lengths, so that every batch is padded on both sides; the unknown word is among them.
PAIRS = [([4, 5, 6, 7, 3], [4, 5]), ([6], [6, 4, 5, 4]), ([3, 3, 8], [])]
SETTINGS = [
    Setting(context=context, encoder=encoder, unit=unit)
    for context in ("additive", "fixed")
    for encoder in ("bidirectional", "forward")
    for unit in ("paper", "torch")
]


def tiny_model(setting: Setting, seed: int = 0) -> EncoderDecoder:
    """A model of odd sizes with weights large enough for every nonlinearity to matter."""
    config = ModelConfig(
        source_vocabulary=9,
        target_vocabulary=7,
        embedding=3,
        hidden=4,
        alignment=5,
        readout=2,
        context=setting.context,
        encoder=setting.encoder,
        unit=setting.unit,
    )
    model = build_model(config, seed).double().eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.7, generator=generator)
    return model


def with_end(pairs: list[tuple[list[int], list[int]]]) -> list[tuple[list[int], list[int]]]:
    """The same pairs with the end marks that batches add on both sides."""
    return [([*source, EOS], [*target, EOS]) for source, target in pairs]


def batch_of(pairs: list[tuple[list[int], list[int]]]) -> Batch:
    return make_batch(pairs, range(len(pairs)))


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_loss_and_gradients_equal_the_equations(setting: Setting) -> None:
    model = tiny_model(setting)
    loss, words = model(batch_of(PAIRS))
    loss.backward()
    reference_loss, reference = loss_and_gradients(
        paper_parameters(model), with_end(PAIRS), setting
    )
    assert int(words) == sum(len(target) + 1 for _, target in PAIRS)
    assert loss.item() == pytest.approx(reference_loss, abs=1e-6)
    found = paper_parameters(model, gradients=True)
    assert found.keys() == reference.keys()
    for name, expected in reference.items():
        np.testing.assert_allclose(found[name], expected, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_each_sentence_has_the_probability_of_the_equations(setting: Setting) -> None:
    model = tiny_model(setting, seed=1)
    found = model.sentence_log_probs(batch_of(PAIRS))
    parameters = paper_parameters(model)
    expected = [log_prob(parameters, x, y, setting) for x, y in with_end(PAIRS)]
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-6)


@pytest.mark.parametrize("unit", ["paper", "torch"])
def test_search_steps_look_where_the_equations_look(unit: str) -> None:
    setting = Setting(unit=unit)
    model = tiny_model(setting, seed=2)
    batch = batch_of(PAIRS)
    state = model.start(batch.source, batch.source_lengths, batch.source_mask)
    rows = []
    for y_prev in batch.target_in.T:
        _, alpha, state = model.step(y_prev, state)
        rows.append(alpha.detach())
    alphas = torch.stack(rows, dim=1)
    p = paper_parameters(model)
    for found, (source, target) in zip(alphas, with_end(PAIRS), strict=True):
        expected = alpha_matrix(decode(p, encode(p, source, setting), target, setting))
        np.testing.assert_allclose(found[: len(target), : len(source)], expected, atol=1e-6)
        assert not found[:, len(source) :].any()
