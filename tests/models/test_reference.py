"""The reference itself: its gradients, its probabilities, and numbers worked out by hand.

Everything in the library is measured against `tests.reference`, so it has to be right on its own.
"""

import numpy as np
import pytest

from tests.reference.enumeration import best, enumerate_targets
from tests.reference.gradients import loss_and_gradients
from tests.reference.rnnsearch import (
    BOS,
    RNNENCDEC,
    RNNENCDEC_PAPER,
    RNNSEARCH,
    Setting,
    align,
    alpha_matrix,
    decode,
    encode,
    log_prob,
    next_log_probs,
    random_parameters,
)

EOS = 2
PAIRS = [([4, 5, 6, 4], [3, 5, 4, 3, EOS]), ([6], [4, EOS]), ([3, 3], [EOS])]
SETTINGS = {
    "rnnsearch": RNNSEARCH,
    "rnnencdec": RNNENCDEC,
    "paper's rnnencdec": RNNENCDEC_PAPER,
    "rnnsearch, torch's unit": Setting(unit="torch"),
    "rnnencdec, torch's unit": Setting(context="fixed", unit="torch"),
    "rnnsearch, forward encoder": Setting(encoder="forward"),
}


@pytest.mark.parametrize("biases", [True, False])
@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS.keys())
def test_gradients_agree_with_the_complex_step(setting: Setting, biases: bool) -> None:
    """f'(x) = Im f(x + ih) / h: a difference without cancellation, exact to rounding."""
    p = random_parameters(np.random.default_rng(0), setting, biases=biases)
    loss, grads = loss_and_gradients(p, PAIRS, setting)
    assert loss == pytest.approx(-sum(log_prob(p, x, y, setting) for x, y in PAIRS), abs=1e-12)
    assert grads.keys() == p.keys()
    h = 1e-30
    for name, value in p.items():
        for position in np.ndindex(value.shape):
            moved = value.astype(complex)
            moved[position] += 1j * h
            stepped = {**p, name: moved}
            slope = -sum(log_prob(stepped, x, y, setting) for x, y in PAIRS).imag / h
            assert grads[name][position] == pytest.approx(slope, rel=1e-11, abs=1e-13), name


def test_gradients_agree_with_central_differences() -> None:
    p = random_parameters(np.random.default_rng(1))
    _, grads = loss_and_gradients(p, PAIRS)
    h = 1e-5
    for name in ["E_x", "W_a", "dec.U_r", "U_o", "fwd.b_z"]:
        for position in np.ndindex(p[name].shape):
            losses = []
            for sign in (1, -1):
                moved = {**p, name: p[name].copy()}
                moved[name][position] += sign * h
                losses.append(loss_and_gradients(moved, PAIRS)[0])
            slope = (losses[0] - losses[1]) / (2 * h)
            assert grads[name][position] == pytest.approx(slope, abs=1e-8), name


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS.keys())
def test_probabilities_of_all_continuations_sum_to_one(setting: Setting) -> None:
    p = random_parameters(np.random.default_rng(2), setting, target_words=4)
    candidates = enumerate_targets(
        lambda prefix: next_log_probs(p, [4, 5, 6], prefix, setting), eos=EOS, max_length=4
    )
    assert len(candidates) == 1 + 3 + 9 + 27 + 81
    assert sum(np.exp(c.log_prob) for c in candidates) == pytest.approx(1.0, abs=1e-12)
    for candidate in candidates[:10]:
        words = [*candidate.tokens, EOS] if candidate.finished else list(candidate.tokens)
        assert candidate.log_prob == pytest.approx(log_prob(p, [4, 5, 6], words, setting))
    assert best(candidates).log_prob == max(c.log_prob for c in candidates if c.finished)


def test_enumeration_may_leave_words_out() -> None:
    p = random_parameters(np.random.default_rng(3), target_words=6)
    candidates = enumerate_targets(
        lambda prefix: next_log_probs(p, [4], prefix), eos=EOS, max_length=3, words=[3, 4, EOS]
    )
    assert {word for c in candidates for word in c.tokens} == {3, 4}
    assert len(candidates) == 1 + 2 + 4 + 8


def test_attention_by_hand() -> None:
    """Three vectors, identity weights, s = (0.5, 0.5): tanh(1.5) + tanh(0.5) = 1.3673, ..."""
    identity = {"W_a": np.eye(2), "U_a": np.eye(2), "v_a": np.ones(2)}
    annotations = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    _, energies, alpha, context = align(identity, np.array([0.5, 0.5]), annotations)
    assert energies == pytest.approx([1.3673, 1.3673, 1.8103], abs=5e-5)
    assert alpha == pytest.approx([0.2811, 0.2811, 0.4378], abs=5e-5)
    assert context == pytest.approx([0.7189, 0.7189], abs=5e-5)


def test_shapes_and_order_of_the_encoder() -> None:
    p = random_parameters(np.random.default_rng(4))
    encoded = encode(p, [3, 4, 5])
    n = len(encoded.s_0)
    assert encoded.annotations.shape == (3, 2 * n)
    # The first annotation's backward half has seen every word, its forward half only the first one.
    other = encode(p, [3, 4, 6])
    assert np.array_equal(encoded.annotations[0, :n], other.annotations[0, :n])
    assert not np.allclose(encoded.annotations[0, n:], other.annotations[0, n:])
    assert np.array_equal(encoded.summary, encoded.annotations[0, n:])
    steps = decode(p, encoded, [3, 4, EOS])
    assert steps[0].y_prev == BOS
    assert alpha_matrix(steps).sum(axis=1) == pytest.approx(np.ones(3))


def test_the_query_is_the_state_before_the_update() -> None:
    """The weights and the prediction at i do not depend on how s_i is computed; later ones do."""
    p = random_parameters(np.random.default_rng(5))
    changed = {**p, "dec.W": p["dec.W"] + 1.0}
    before = decode(p, encode(p, [3, 4, 5]), [3, 4, EOS])
    after = decode(changed, encode(changed, [3, 4, 5]), [3, 4, EOS])
    assert np.array_equal(before[0].alpha, after[0].alpha)
    assert np.array_equal(before[0].log_probs, after[0].log_probs)
    assert not np.allclose(before[1].alpha, after[1].alpha)


def test_the_two_units_differ() -> None:
    """With the reset gate open and z mirrored they agree; with random weights they do not."""
    torch_unit = Setting(unit="torch")
    p = random_parameters(np.random.default_rng(6), torch_unit)
    assert log_prob(p, *PAIRS[0], torch_unit) != pytest.approx(log_prob(p, *PAIRS[0]), abs=1e-3)
    mirrored = dict(p)
    for of in ["fwd", "bwd", "dec"]:
        mirrored[f"{of}.b_U"] = np.zeros_like(p[f"{of}.b_U"])
        for letter in ["W", "U", "C"] if of == "dec" else ["W", "U"]:
            mirrored[f"{of}.{letter}_r"] = np.zeros_like(p[f"{of}.{letter}_r"])
        mirrored[f"{of}.b_r"] = np.full_like(p[f"{of}.b_r"], 1000.0)
    flipped = {k: -v if k.endswith("_z") else v for k, v in mirrored.items()}
    assert log_prob(mirrored, *PAIRS[0], torch_unit) == pytest.approx(
        log_prob(flipped, *PAIRS[0]), abs=1e-12
    )
