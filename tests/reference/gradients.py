"""The gradient of the summed negative log-likelihood, by hand-derived backpropagation.

Float64 NumPy, one sentence and one position at a time, the chain rule applied to the equations of
`rnnsearch` in reverse. No automatic differentiation: torch's gradients are checked against this.
"""

from collections.abc import Sequence

import numpy as np

from tests.reference.rnnsearch import (
    RNNSEARCH,
    Array,
    Encoded,
    Parameters,
    Setting,
    Step,
    UnitStep,
    decode,
    encode,
)

Pair = tuple[Sequence[int], Sequence[int]]


def loss_and_gradients(
    p: Parameters, pairs: Sequence[Pair], setting: Setting = RNNSEARCH
) -> tuple[float, dict[str, Array]]:
    """Summed -log p(target | source) over the pairs, and its derivative for every parameter.

    Each target holds every predicted word, the end mark included.
    """
    grads = {name: np.zeros_like(value) for name, value in p.items()}
    loss = 0.0
    for source, target in pairs:
        encoded = encode(p, source, setting)
        steps = decode(p, encoded, target, setting)
        loss -= sum(step.log_probs[y] for step, y in zip(steps, target, strict=True))
        _backpropagate(p, grads, encoded, steps, source, target, setting)
    return float(loss), grads


def _backpropagate(
    p: Parameters,
    grads: dict[str, Array],
    encoded: Encoded,
    steps: Sequence[Step],
    source: Sequence[int],
    target: Sequence[int],
    setting: Setting,
) -> None:
    """Add one sentence's derivatives to `grads`."""
    n = len(encoded.s_0)
    d_annotations = np.zeros_like(encoded.annotations)
    d_fixed = np.zeros(n)  # towards the last forward state, where that is the context
    d_s = np.zeros(n)  # towards s_i, from the steps after i
    for step, y in zip(reversed(steps), reversed(target), strict=True):
        d_s, d_context = _step_backward(p, grads, step, y, d_s, setting.unit)
        if step.alpha is None:
            d_fixed += d_context
        else:
            d_s += _align_backward(p, grads, step, encoded.annotations, d_annotations, d_context)

    d_summary = _affine_backward(
        p, grads, "b_s", d_s * (1 - encoded.s_0**2), ("W_s", encoded.summary)
    )[0]
    d_forward = d_annotations[:, :n].copy()
    d_forward[-1] += d_fixed
    if setting.encoder == "forward":
        d_forward[-1] += d_summary
    else:
        d_backward = d_annotations[::-1, n:].copy()  # in the order of reading
        d_backward[-1] += d_summary
        _read_backward(p, grads, "bwd", encoded.backward, d_backward, source[::-1], setting.unit)
    _read_backward(p, grads, "fwd", encoded.forward, d_forward, source, setting.unit)


def _affine_backward(
    p: Parameters, grads: dict[str, Array], bias: str, d: Array, *products: tuple[str, Array]
) -> list[Array]:
    """Derivatives of a sum of matrix-vector products: towards each vector, in the order given."""
    if bias in p:
        grads[bias] += d
    for name, vector in products:
        grads[name] += np.outer(d, vector)
    return [p[name].T @ d for name, _ in products]


def _step_backward(
    p: Parameters, grads: dict[str, Array], step: Step, y: int, d_s: Array, unit: str
) -> tuple[Array, Array]:
    """One target position without its alignment: towards s_{i-1} (n,) and c_i (2n,)."""
    d_logits = np.exp(step.log_probs)
    d_logits[y] -= 1.0
    (d_t,) = _affine_backward(p, grads, "b_y", d_logits, ("W_o", step.t))
    d_t_tilde = np.zeros_like(step.t_tilde)
    for k, d in enumerate(d_t):  # the derivative goes to the member of the pair that won
        winner = 2 * k if step.t_tilde[2 * k] >= step.t_tilde[2 * k + 1] else 2 * k + 1
        d_t_tilde[winner] = d
    d_s_prev, d_embedded, d_context = _affine_backward(
        p,
        grads,
        "b_o",
        d_t_tilde,
        ("U_o", step.s_prev),
        ("V_o", step.unit.x),
        ("C_o", step.context),
    )
    d_h_prev, d_x, d_c = _unit_backward(p, grads, "dec", step.unit, d_s, unit)
    assert d_c is not None
    grads["E_y"][step.y_prev] += d_embedded + d_x
    return d_s_prev + d_h_prev, d_context + d_c


def _align_backward(
    p: Parameters,
    grads: dict[str, Array],
    step: Step,
    annotations: Array,
    d_annotations: Array,
    d_context: Array,
) -> Array:
    """c_i = sum_j alpha_ij h_j: adds to `d_annotations`, returns towards s_{i-1} (n,)."""
    assert step.alpha is not None
    assert step.hidden is not None
    d_alpha = np.array([d_context @ h_j for h_j in annotations])
    d_energies = step.alpha * (d_alpha - step.alpha @ d_alpha)
    d_s_prev = np.zeros_like(step.s_prev)
    for j, h_j in enumerate(annotations):
        d_annotations[j] += step.alpha[j] * d_context
        grads["v_a"] += d_energies[j] * step.hidden[j]
        d_hidden = d_energies[j] * p["v_a"] * (1 - step.hidden[j] ** 2)
        d_query, d_h_j = _affine_backward(
            p, grads, "b_a", d_hidden, ("W_a", step.s_prev), ("U_a", h_j)
        )
        d_s_prev += d_query
        d_annotations[j] += d_h_j
    return d_s_prev


def _unit_backward(
    p: Parameters, grads: dict[str, Array], of: str, step: UnitStep, d_h: Array, unit: str
) -> tuple[Array, Array, Array | None]:
    """One update of the gated unit: towards h_prev, x and, in the decoder, c."""
    z, r, h_prev, candidate = step.z, step.r, step.h_prev, step.candidate
    inputs = [("W", step.x)] if step.context is None else [("W", step.x), ("C", step.context)]

    if unit == "paper":  # h = (1 - z) o h_prev + z o h~
        d_z, d_candidate, d_h_prev = d_h * (candidate - h_prev), d_h * z, d_h * (1 - z)
    else:  # h = (1 - z) o h~ + z o h_prev
        d_z, d_candidate, d_h_prev = d_h * (h_prev - candidate), d_h * (1 - z), d_h * z
    d_a = d_candidate * (1 - candidate**2)
    if unit == "paper":  # h~ = tanh(.. + U [r o h_prev])
        grads[f"{of}.U"] += np.outer(d_a, r * h_prev)
        d_reset = p[f"{of}.U"].T @ d_a
        d_r = d_reset * h_prev
        d_h_prev = d_h_prev + d_reset * r
    else:  # h~ = tanh(.. + r o (U h_prev + b_U))
        d_r = d_a * step.recurrent
        d_h_prev = (
            d_h_prev + _affine_backward(p, grads, f"{of}.b_U", d_a * r, (f"{of}.U", h_prev))[0]
        )

    d_inputs = _affine_backward(
        p, grads, f"{of}.b", d_a, *[(f"{of}.{name}", vector) for name, vector in inputs]
    )
    for gate, value, d_gate in [("_z", z, d_z), ("_r", r, d_r)]:
        products = [(f"{of}.{name}{gate}", vector) for name, vector in [*inputs, ("U", h_prev)]]
        *d_more, d_h_more = _affine_backward(
            p, grads, f"{of}.b{gate}", d_gate * value * (1 - value), *products
        )
        d_inputs = [d + more for d, more in zip(d_inputs, d_more, strict=True)]
        d_h_prev = d_h_prev + d_h_more
    return d_h_prev, d_inputs[0], d_inputs[1] if len(d_inputs) == 2 else None


def _read_backward(
    p: Parameters,
    grads: dict[str, Array],
    of: str,
    steps: Sequence[UnitStep],
    d_states: Array,
    words: Sequence[int],
    unit: str,
) -> None:
    """One direction of the encoder, given the derivative towards each of its states (Tx, n)."""
    d_h = np.zeros(d_states.shape[1])
    for step, word, d_state in zip(reversed(steps), reversed(words), d_states[::-1], strict=True):
        d_h, d_x, _ = _unit_backward(p, grads, of, step, d_h + d_state, unit)
        grads["E_x"][word] += d_x
