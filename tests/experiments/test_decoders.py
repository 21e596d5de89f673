"""The decoders of one detail equal their equations in NumPy."""

from collections.abc import Sequence

import numpy as np
import pytest

from course_lib.evaluation.forced import sentence_log_probs
from experiments.decoders import OF_ONE_DETAIL, register
from tests.models.paper_names import paper_parameters
from tests.models.tiny import PAIRS, batch_of, tiny_model, with_end
from tests.reference.attention import look
from tests.reference.cells import Parameters, cell_step, zero_state
from tests.reference.translator import BOS, Choices, encode, maxout, start, update

PAPER = Choices()


def log_prob(p: Parameters, name: str, source: Sequence[int], target: Sequence[int]) -> float:
    """log p(target | source), a step at a time."""
    encoded = encode(p, source, PAPER)
    states = (
        [zero_state(4, "paper")] if name == "paper-starts-at-zero" else start(p, encoded, PAPER)
    )
    total = 0.0
    for y_prev, y in zip([BOS, *target[:-1]], target, strict=True):
        word, (before,) = p["E_y"][y_prev], states
        asking = before
        if name in ("luong-unfed", "paper-asks-after"):
            (asking,) = states = update(p, PAPER, [("W", word)], states)
        elif name == "conditional-reads-old-state":
            asking = cell_step(p, "dec", "paper", [("W", word)], before)
        c = look(p, "additive", 0, asking.h, encoded.annotations).context
        if name == "conditional-reads-old-state":
            states = [cell_step(p, "second", "paper", [("W", c)], asking)]
        elif asking is before:
            states = update(p, PAPER, [("W", word), ("C", c)], states)
        new = name in ("luong-unfed", "paper-asks-after", "paper-reads-new-state")
        t = p["U_o"] @ (states[0] if new else before).h + p["C_o"] @ c
        if name != "luong-unfed":
            t = t + p["V_o"] @ word + p["b_o"]
        if name in ("luong-unfed", "paper-tanh-readout"):
            t = np.tanh(t)
        elif name != "paper-linear-readout":
            t = maxout(t)
        logits = p["W_o"] @ t + p["b_y"]
        total += logits[y] - np.log(np.exp(logits).sum())
    return total


@pytest.mark.parametrize("name", OF_ONE_DETAIL)
def test_a_decoder_of_one_detail_is_its_equations(name: str) -> None:
    register()
    model = tiny_model(PAPER, decoder=name)
    p = paper_parameters(model)
    expected = [log_prob(p, name, x, y) for x, y in with_end(PAIRS)]
    found = sentence_log_probs(model, batch_of(PAIRS))
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-10)
