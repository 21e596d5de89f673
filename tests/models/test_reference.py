"""The reference itself: numbers worked out by hand, and every sentence that can be written."""

import numpy as np
import pytest

from tests.models.paper_names import paper_parameters
from tests.models.tiny import tiny_model
from tests.reference import translator
from tests.reference.attention import look, predicted_position
from tests.reference.enumeration import best, enumerate_targets
from tests.reference.translator import SCORES, Choices

EOS = 2


def test_scores_by_hand() -> None:
    """s = (0.5, 0.5) against (1, 0), (0, 1), (1, 1): dot 0.5, 0.5, 1; scaled by sqrt(2)."""
    s, h = np.array([0.5, 0.5]), np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    eye, ones = np.eye(2), np.ones(2)
    side_by_side = np.concatenate([eye, eye], axis=1)
    p = {name: {"W_a": eye, "U_a": eye, "v_a": ones} for name in SCORES}
    p["concat"]["W_a"] = side_by_side
    expected = {
        "additive": [1.3673, 1.3673, 1.8103],
        "concat": [1.3673, 1.3673, 1.8103],
        "dot": [0.5, 0.5, 1.0],
        "general": [0.5, 0.5, 1.0],
        "scaled-dot": [0.3536, 0.3536, 0.7071],
    }
    for name in SCORES:
        found = look(p[name], name, 0, s, h)
        assert found.energies == pytest.approx(expected[name], abs=5e-5)
    found = look(p["additive"], "additive", 0, s, h)
    assert found.alpha == pytest.approx([0.2811, 0.2811, 0.4378], abs=5e-5)
    assert found.context == pytest.approx([0.7189, 0.7189], abs=5e-5)
    weights = look(p["dot"], "dot", 0, s, h).alpha
    assert weights == pytest.approx([0.2741, 0.2741, 0.4519], abs=5e-5)


def test_a_window_by_hand() -> None:
    """Six words, equal energies, D = 2. With p_i = 6 sigma(0) = 3 it sees 1 to 5, times 1 at 3,
    0.6065 beside it, 0.1353 two away."""
    s, h = np.zeros(2), np.zeros((6, 2))
    p = {"W_p": np.eye(2), "v_p": np.ones(2)}
    assert predicted_position(p, s, 6) == pytest.approx(3)
    found = look(p, "dot", 2, s, h).alpha
    assert 5 * found == pytest.approx([0, 0.1353, 0.6065, 1, 0.6065, 0.1353], abs=5e-5)


def test_all_sentences_that_can_be_written_have_probability_one() -> None:
    choices = Choices()
    p = paper_parameters(tiny_model(choices))
    source = [4, 5, 6, EOS]

    def after(prefix: tuple[int, ...]) -> np.ndarray:
        return translator.decode(p, source, [*prefix, EOS], choices)[-1].log_probs

    candidates = enumerate_targets(after, eos=EOS, max_length=3)
    assert len(candidates) == 1 + 6 + 36 + 216
    assert sum(np.exp(c.log_prob) for c in candidates) == pytest.approx(1.0, abs=1e-12)
    for candidate in candidates[:10]:
        target = [*candidate.tokens, EOS] if candidate.finished else list(candidate.tokens)
        found = translator.log_prob(p, source, target, choices)
        assert candidate.log_prob == pytest.approx(found)
    assert best(candidates).log_prob == max(c.log_prob for c in candidates if c.finished)
    some = enumerate_targets(after, eos=EOS, max_length=3, words=[3, 4, EOS])
    assert {word for c in some for word in c.tokens} == {3, 4}
    assert len(some) == 1 + 2 + 4 + 8
