"""Every encoder-decoder of the course in float64 NumPy, one sentence and one position at a time.

Each choice that the course offers is written from the equations of the paper that introduced it and
from nothing else: no batches, no masks, no torch. It is slow on purpose; the library has to agree.
Parameters are a dict with the names of Bahdanau et al. (2015), Appendix A:

    E_x (K_x, m)  E_y (K_y, m)                embeddings, one row a word
    fwd.W fwd.W_z fwd.W_r (n, m)   fwd.U fwd.U_z fwd.U_r (n, n)   and bwd. the same
    W_a (n', n)  U_a (n', 2n)  v_a (n',)      alignment model
    dec.W dec.W_z dec.W_r (n, m)   dec.U .. (n, n)   dec.C .. (n, 2n)
    U_o (2l, n)  V_o (2l, m)  C_o (2l, 2n)  W_o (K_y, l)          readout
    b_s b_o b_y fwd.b ..                      biases, which the paper leaves out

    fwd2. bwd2. dec2.    the second layers, and so on; an upper layer reads the one below
    dec.F                input feeding: what multiplies t_{i-1}, beside dec.W and dec.C
    second.              the conditional decoder's second unit, which reads c_i
    W_p (n, n)  v_p (n,)    local-p's predicted position
    W_s (S, n)           s_0 of all layers in one: for each layer h, or for an LSTM cell and then h
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tests.reference.attention import look
from tests.reference.cells import Array, Parameters, State, cell_step, run

BOS = 1  # y_0, the word before the first one

SCORES = ("additive", "concat", "general", "dot", "scaled-dot")
DECODERS = ("paper", "luong", "conditional", "sutskever")


@dataclass(frozen=True)
class Choices:
    """What the model is made of, in the library's words; the defaults are RNNsearch."""

    context: str = "additive"  # a score, or fixed: the last forward state
    window: int = 0  # local-p's D; 0: every word
    decoder: str = "paper"
    unit: str = "paper"
    layers: int = 1
    encoder: str = "bidirectional"
    reverse_source: bool = False


class Encoded:
    def __init__(self, annotations: Array, summary: Array, last_forward: Array) -> None:
        self.annotations = annotations  # (Tx, 2n or n), in the order of the sentence
        self.summary = summary  # (n,), the state that has read everything
        self.last_forward = last_forward  # (n,)


@dataclass(frozen=True)
class Step:
    """One target position."""

    states: list[State]  # after the update, a layer each
    alpha: Array | None  # (Tx,)
    context: Array | None
    t: Array  # (l,)
    log_probs: Array  # (K_y,)


def layer_name(of: str, layer: int) -> str:
    return of if layer == 1 else f"{of}{layer}"


def encode(p: Parameters, source: Sequence[int], choices: Choices) -> Encoded:
    """Read a sentence, its end mark last.

    Reversed, the words are read last to first, and the end mark still last (Sutskever et al. 2014,
    Section 3.3); each annotation goes back to its word.
    """
    positions = list(range(len(source)))
    if choices.reverse_source:
        positions = [*positions[-2::-1], positions[-1]]
    states = [p["E_x"][source[j]] for j in positions]
    for layer in range(1, choices.layers + 1):
        forward = run(p, layer_name("fwd", layer), choices.unit, states)
        if choices.encoder == "forward":
            states, summary = forward, forward[-1]
        else:
            backward = run(p, layer_name("bwd", layer), choices.unit, states[::-1])
            summary = backward[-1]
            states = [
                np.concatenate([f, b]) for f, b in zip(forward, reversed(backward), strict=True)
            ]
    annotations = np.stack([states[positions.index(j)] for j in range(len(source))])
    return Encoded(annotations, summary, forward[-1])


def start(p: Parameters, encoded: Encoded, choices: Choices) -> list[State]:
    """s_0 = tanh(W_s summary), cut into layers and, for the LSTM, into cell and h."""
    states = []
    for part in np.split(np.tanh(p["W_s"] @ encoded.summary + p["b_s"]), choices.layers):
        if choices.unit == "lstm":
            cell, h = np.split(part, 2)
            states.append(State(h, cell))
        else:
            states.append(State(part))
    return states


def update(
    p: Parameters, choices: Choices, inputs: list[tuple[str, Array]], states: list[State]
) -> list[State]:
    """The next states: the lowest layer reads `inputs`, each other the new h of the one below."""
    new: list[State] = []
    for number, state in enumerate(states, start=1):
        new.append(cell_step(p, layer_name("dec", number), choices.unit, inputs, state))
        inputs = [("W", new[-1].h)]
    return new


def maxout(t_tilde: Array) -> Array:
    """t_k = max(t~_{2k-1}, t~_{2k}), counted from 1 (A.2.2)."""
    pairs = t_tilde.reshape(-1, 2)
    return np.array([pair[0] if pair[0].real >= pair[1].real else pair[1] for pair in pairs])


def decode_step(
    p: Parameters,
    encoded: Encoded,
    choices: Choices,
    states: list[State],
    y_prev: int,
    t_prev: Array,
) -> Step:
    """Everything that happens at one position, given the states before it."""

    def look_back(s: Array) -> tuple[Array, Array | None]:
        if choices.context == "fixed":
            return encoded.last_forward, None
        found = look(p, choices.context, choices.window, s, encoded.annotations)
        return found.context, found.alpha

    word = p["E_y"][y_prev]
    context: Array | None
    alpha: Array | None
    if choices.decoder == "paper":  # look back with s_{i-1}, read it out, update
        s_prev = states[-1].h
        context, alpha = look_back(s_prev)
        t = maxout(p["U_o"] @ s_prev + p["V_o"] @ word + p["C_o"] @ context + p["b_o"])
        states = update(p, choices, [("W", word), ("C", context)], states)
    elif choices.decoder == "conditional":  # look back with s'_i, between two units
        middle = cell_step(p, "dec", choices.unit, [("W", word)], states[0])
        context, alpha = look_back(middle.h)
        states = [cell_step(p, "second", choices.unit, [("W", context)], middle)]
        t = maxout(p["U_o"] @ states[0].h + p["V_o"] @ word + p["C_o"] @ context + p["b_o"])
    elif choices.decoder == "luong":  # update, look back with s_i, tanh(W_c [c_i ; s_i]) (eq. 5)
        states = update(p, choices, [("W", word), ("F", t_prev)], states)
        context, alpha = look_back(states[-1].h)
        W_c = np.concatenate([p["C_o"], p["U_o"]], axis=1)
        t = np.tanh(W_c @ np.concatenate([context, states[-1].h]))
    else:
        assert choices.decoder == "sutskever"  # update; nothing else is known of the source
        context, alpha = None, None
        states = update(p, choices, [("W", word)], states)
        t = p["U_o"] @ states[-1].h + p["V_o"] @ word + p["b_o"]
    logits = p["W_o"] @ t + p["b_y"]
    shifted = logits - logits.real.max()
    return Step(states, alpha, context, t, shifted - np.log(np.exp(shifted).sum()))


def decode(
    p: Parameters, source: Sequence[int], target: Sequence[int], choices: Choices
) -> list[Step]:
    """The steps that predict `target`, each given the true words before it; both hold their end."""
    encoded = encode(p, source, choices)
    states = start(p, encoded, choices)
    t = np.zeros(p["W_o"].shape[1])
    steps: list[Step] = []
    for y_prev in [BOS, *target[:-1]]:
        steps.append(decode_step(p, encoded, choices, states, y_prev, t))
        states, t = steps[-1].states, steps[-1].t
    return steps


def log_prob(
    p: Parameters, source: Sequence[int], target: Sequence[int], choices: Choices
) -> float:
    """log p(target | source); both sentences hold their end mark."""
    steps = decode(p, source, target, choices)
    return sum(step.log_probs[y] for step, y in zip(steps, target, strict=True))


def alpha_matrix(steps: Sequence[Step]) -> Array:
    """The weights of all steps, a row for each target position (Ty, Tx)."""
    return np.stack([step.alpha for step in steps if step.alpha is not None])


def slope(
    p: Parameters,
    pairs: Sequence[tuple[Sequence[int], Sequence[int]]],
    choices: Choices,
    direction: Parameters,
) -> float:
    """The derivative of the summed -log p along `direction`, by the complex step.

    f'(x) = Im f(x + ih) / h has no cancellation, so it is exact to rounding. `direction` names the
    parameters that move; the others stand still.
    """
    h = 1e-30
    moved = {**p, **{name: p[name] + 1j * h * change for name, change in direction.items()}}
    return -sum(log_prob(moved, x, y, choices) for x, y in pairs).imag / h
