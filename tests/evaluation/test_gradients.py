"""Gradients through time equal what can be worked out, and finite differences elsewhere."""

import numpy as np
import pytest
import torch
from torch import Tensor

from course_lib.corpora.batches import make_source
from course_lib.errors import CourseError
from course_lib.evaluation.gradients import (
    forward_unit,
    fresh_unit,
    gates_along,
    gradient_norms,
    gradients_through_time,
    sentence_ends,
)
from course_lib.models import GatedUnit, ModelConfig, build_model, model_config
from course_lib.models.units import UNITS, state_size
from tests.models.paper_names import unit_parameters
from tests.reference.cells import cell_step, sigma, zero_state


def words(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, dtype=torch.double, generator=torch.Generator().manual_seed(seed))


def with_weights(unit: GatedUnit, **values: float) -> GatedUnit:
    """The unit with all its weights 0 but those given by name, with _ for the dots."""
    with torch.no_grad():
        for name, parameter in unit.named_parameters():
            parameter.fill_(values.get(name.replace(".", "_"), 0.0))
    return unit


@pytest.mark.parametrize("scale", [0.5, 1.0, 1.25])
def test_an_orthogonal_recurrence_multiplies_by_its_scale_each_step(scale: float) -> None:
    """At 0 the tanh is a straight line of slope 1, so d h_T / d h_{T-k} is the matrix U^k."""
    unit = fresh_unit("tanh", inputs=3, size=6, recurrence=scale)
    norms = gradient_norms(unit, torch.zeros(2, 12, 3, dtype=torch.double))
    expected = scale ** torch.arange(13, dtype=torch.double)
    torch.testing.assert_close(norms, expected.expand(2, 13))


@pytest.mark.parametrize("name", UNITS)
def test_every_unit_agrees_with_finite_differences(name: str) -> None:
    unit = fresh_unit(name, inputs=3, size=4, recurrence=1.5)
    inputs = words(1, 6, 3)
    projected = unit.W(inputs).detach()[0]
    states = [torch.zeros(1, state_size(unit), dtype=torch.double)]
    with torch.no_grad():
        for product in projected:
            states.append(unit(product[None], states[-1]))

        def last(k: int, change: np.ndarray) -> np.ndarray:
            """h_T after the state k steps before it has changed."""
            state = states[-1 - k] + torch.from_numpy(change)
            for product in projected[len(projected) - k :]:
                state = unit(product[None], state)
            return state[0, -unit.U.in_features :].numpy()

        for k, norm in enumerate(gradient_norms(unit, inputs)[0].tolist()):
            moves = 1e-6 * np.eye(state_size(unit))
            jacobian = np.stack([(last(k, move) - last(k, -move)) / 2e-6 for move in moves])
            wanted = np.sqrt((jacobian**2).sum() / unit.U.in_features)
            assert norm == pytest.approx(wanted, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("name", UNITS)
def test_sentences_do_not_see_each_other(name: str) -> None:
    unit, inputs = fresh_unit(name, inputs=3, size=4), words(5, 7, 3)
    together = gradient_norms(unit, inputs)
    for b in range(5):
        torch.testing.assert_close(together[b : b + 1], gradient_norms(unit, inputs[b : b + 1]))
    assert unit.W.weight.grad is None


def test_rows_are_quartiles_over_the_sentences() -> None:
    unit, inputs = fresh_unit("tanh", inputs=3, size=4), words(9, 5, 3)
    norms = gradient_norms(unit, inputs).numpy()
    rows = gradients_through_time(unit, inputs)
    assert [row["distance"] for row in rows] == [0, 1, 2, 3, 4, 5]
    for name, quantile in (("low", 25), ("median", 50), ("high", 75)):
        wanted = np.percentile(norms, quantile, axis=0)
        np.testing.assert_allclose([row[name] for row in rows], wanted)


def test_the_same_seed_draws_the_same_unit_and_leaves_the_others_alone() -> None:
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    one, two, other = (
        fresh_unit("lstm", inputs=3, size=4, seed=seed).U.weight for seed in (1, 1, 2)
    )
    assert torch.equal(one, two)
    assert not torch.equal(one, other)
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize("name", ["paper", "torch", "lstm"])
def test_gates_are_those_of_the_equations(name: str) -> None:
    """Those of the NumPy reference, with torch's z turned into the paper's."""
    unit, inputs = fresh_unit(name, inputs=3, size=4, recurrence=2.0), words(6, 3)
    weights = {key: p.detach().numpy() for key, p in unit.named_parameters()}
    p = unit_parameters(weights, name, "dec")
    gates = {"update": "_z", "reset": "_r"}
    if name == "lstm":
        gates = {"input": "_i", "forget": "_f", "output": "_o"}
    expected: dict[str, list[np.ndarray]] = {gate: [] for gate in gates}
    state = zero_state(4, name)
    for x in inputs.numpy():
        for gate, g in gates.items():
            value = sigma(p[f"dec.W{g}"] @ x + p[f"dec.U{g}"] @ state.h + p[f"dec.b{g}"])
            expected[gate].append(1 - value if (name, g) == ("torch", "_z") else value)
        state = cell_step(p, "dec", name, [("W", x)], state)
    measured = gates_along(unit, inputs[None])
    assert measured.keys() == expected.keys()
    for gate, values in expected.items():
        np.testing.assert_allclose(measured[gate][0], values)


def test_a_tanh_unit_has_no_gates() -> None:
    with pytest.raises(CourseError, match="no gates"):
        gates_along(fresh_unit("tanh", inputs=2, size=3), words(4, 2)[None])


@pytest.mark.parametrize("encoder", ["forward", "bidirectional"])
@pytest.mark.parametrize("unit", UNITS)
def test_the_unit_of_a_model_is_the_one_it_reads_with(unit: str, encoder: str) -> None:
    """From the state before a sentence's end it makes the forward half of the annotations there."""
    model = build_model(ModelConfig(20, 20, 3, 4, unit=unit, encoder=encoder)).double().eval()
    generator = torch.Generator().manual_seed(3)
    for parameter in model.parameters():
        parameter.data.normal_(std=0.5, generator=generator)
    sources = [[5, 6, 7, 8, 9], [9], [10, 11, 12]]
    inputs, start = sentence_ends(model, sources, 4)  # the second has too few words
    alone = forward_unit(model)
    assert inputs.shape == (2, 4, 3)
    assert start.shape == (2, state_size(alone))
    assert not start[1].any()  # the third has four with its end mark, and nothing before
    for row, source in enumerate((sources[0], sources[2])):
        annotations, _ = model.encoder(*make_source([source]))
        state = start[row : row + 1]
        for j, projected in enumerate(alone.W(inputs[row]), start=len(source) - 3):
            state = alone(projected[None], state)
            torch.testing.assert_close(state[0, -4:], annotations[0, j, :4])


def test_what_lies_before_the_ends_only_moves_the_state() -> None:
    unit, inputs = fresh_unit("lstm", inputs=3, size=4, recurrence=2.0), words(2, 9, 3)
    start = torch.zeros(2, 8, dtype=torch.double)
    with torch.no_grad():
        for projected in unit.W(inputs)[:, :5].unbind(dim=1):
            start = unit(projected, start)
    ends = gradient_norms(unit, inputs[:, 5:], start)
    torch.testing.assert_close(ends, gradient_norms(unit, inputs)[:, :5])
    assert (ends[:, 1:] - gradient_norms(unit, inputs[:, 5:])[:, 1:]).abs().min() > 1e-6


def test_a_reversed_source_is_read_as_the_model_reads_it() -> None:
    model = build_model(model_config("sutskever", "smoke", 20, 20))
    ends, _ = sentence_ends(model, [[5, 6, 7]], 3)
    torch.testing.assert_close(ends[0], model.encoder.E(torch.tensor([6, 5, 2])).detach())


def test_what_cannot_be_measured_is_refused() -> None:
    model = build_model(model_config("rnnsearch", "smoke", 20, 20, encoder="self-attention"))
    with pytest.raises(CourseError, match="no recurrent unit"):
        forward_unit(model)
    with pytest.raises(CourseError, match="No sentence has 9 words"):
        sentence_ends(model, [[4, 5]], 9)
