"""RNNencdec and RNNsearch in float64 NumPy, one sentence and one position at a time.

Written from the equations of the paper (arXiv 1409.0473, Appendix A) and from nothing else: no
batches, no masks, no torch. It is slow on purpose; the library has to agree with it.

Parameters are a dict with the paper's names, so what is written here reads like the appendix:

    E_x (K_x, m)  E_y (K_y, m)                embeddings, one row a word
    fwd.W fwd.W_z fwd.W_r (n, m)   fwd.U fwd.U_z fwd.U_r (n, n)   and bwd. the same
    W_s (n, n)                                s_0 = tanh(W_s h_bwd_1)
    W_a (n', n)  U_a (n', 2n)  v_a (n',)      alignment model
    dec.W dec.W_z dec.W_r (n, m)   dec.U .. (n, n)   dec.C .. (n, 2n)
    U_o (2l, n)  V_o (2l, m)  C_o (2l, 2n)  W_o (K_y, l)          readout

The paper omits biases. A bias that is in the dict is added (fwd.b, fwd.b_z, fwd.b_r, bwd., dec. the
same, b_s, b_a, b_o, b_y), one that is missing is zero. torch's unit has one bias more inside the
reset product (fwd.b_U, bwd.b_U, dec.b_U).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Parameters = Mapping[str, Array]

BOS = 1  # y_0, the word before the first one


@dataclass(frozen=True)
class Setting:
    """Which model is meant.

    context: "additive" is RNNsearch; "fixed" is RNNencdec: c_i is the last forward state (n wide,
        so C and C_o are too), and there are no weights.
    encoder: "bidirectional", or "forward" as in the paper's own RNNencdec, which has no backward
        state, so that s_0 comes from the last forward state too.
    unit: "paper" resets before the recurrent product, U [r o h]; "torch" is torch.nn.GRU's, which
        resets after it, r o (U h + b_U), and gives the old state the weight z.
    """

    context: Literal["additive", "fixed"] = "additive"
    encoder: Literal["bidirectional", "forward"] = "bidirectional"
    unit: Literal["paper", "torch"] = "paper"


RNNSEARCH = Setting()
RNNENCDEC = Setting(context="fixed")  # the same encoder; only the context is swapped
RNNENCDEC_PAPER = Setting(context="fixed", encoder="forward")


@dataclass(frozen=True)
class UnitStep:
    """One update of the gated unit, with what its derivative needs."""

    x: Array  # the embedded input word (m,)
    context: Array | None  # c_i (2n,), in the decoder only
    h_prev: Array
    z: Array
    r: Array
    candidate: Array  # h~
    recurrent: Array  # torch's unit: U h_prev + b_U, what the reset gate multiplies
    h: Array


@dataclass(frozen=True)
class Step:
    """One target position i."""

    y_prev: int
    s_prev: Array  # s_{i-1} (n,)
    hidden: Array | None  # tanh(W_a s_{i-1} + U_a h_j + b_a), a row for each j (Tx, n')
    energies: Array | None  # e_ij (Tx,)
    alpha: Array | None  # alpha_ij (Tx,)
    context: Array  # c_i (2n,)
    unit: UnitStep  # s_i = unit.h
    t_tilde: Array  # (2l,)
    t: Array  # (l,)
    log_probs: Array  # log p(y_i = k | y_1 .. y_{i-1}, x) for every word k (K_y,)


@dataclass(frozen=True)
class Encoded:
    forward: list[UnitStep]
    backward: list[UnitStep]  # in reading order, the last word first; empty with a forward encoder
    annotations: Array  # h_j (Tx, 2n), or (Tx, n) with a forward encoder
    summary: Array  # what s_0 is made from: h_bwd_1, or h_fwd_Tx with a forward encoder (n,)
    s_0: Array


def sigma(a: Array) -> Array:
    return 1.0 / (1.0 + np.exp(-a))


def log_softmax(a: Array) -> Array:
    shifted = a - a.real.max()
    return shifted - np.log(np.exp(shifted).sum())


def affine(p: Parameters, bias: str, *products: tuple[str, Array | None]) -> Array:
    """The sum of matrix-vector products, plus the bias where there is one."""
    terms = (p[name] @ vector for name, vector in products if vector is not None)
    total: Array = sum(terms, start=np.zeros(()))
    return total + p[bias] if bias in p else total


def unit_step(
    p: Parameters, of: str, x: Array, h_prev: Array, context: Array | None, unit: str
) -> UnitStep:
    """The gated hidden unit; `of` is "fwd", "bwd" or "dec"."""
    z = sigma(
        affine(p, f"{of}.b_z", (f"{of}.W_z", x), (f"{of}.U_z", h_prev), (f"{of}.C_z", context))
    )
    r = sigma(
        affine(p, f"{of}.b_r", (f"{of}.W_r", x), (f"{of}.U_r", h_prev), (f"{of}.C_r", context))
    )
    inputs = affine(p, f"{of}.b", (f"{of}.W", x), (f"{of}.C", context))
    if unit == "paper":
        recurrent = p[f"{of}.U"] @ (r * h_prev)
        candidate = np.tanh(inputs + recurrent)
        h = (1 - z) * h_prev + z * candidate
    else:
        recurrent = affine(p, f"{of}.b_U", (f"{of}.U", h_prev))
        candidate = np.tanh(inputs + r * recurrent)
        h = (1 - z) * candidate + z * h_prev
    return UnitStep(x, context, h_prev, z, r, candidate, recurrent, h)


def read(p: Parameters, of: str, words: Sequence[int], unit: str) -> list[UnitStep]:
    """Run one direction of the encoder over the words in the order given, from a zero state."""
    steps: list[UnitStep] = []
    h = np.zeros(p[f"{of}.U"].shape[0])
    for word in words:
        steps.append(unit_step(p, of, p["E_x"][word], h, None, unit))
        h = steps[-1].h
    return steps


def encode(p: Parameters, source: Sequence[int], setting: Setting = RNNSEARCH) -> Encoded:
    forward = read(p, "fwd", source, setting.unit)
    if setting.encoder == "forward":
        backward: list[UnitStep] = []
        annotations = np.stack([step.h for step in forward])
        summary = forward[-1].h
    else:
        backward = read(p, "bwd", source[::-1], setting.unit)
        annotations = np.stack(
            [
                np.concatenate([f.h, b.h])  # h_j = [h_fwd_j ; h_bwd_j]
                for f, b in zip(forward, reversed(backward), strict=True)
            ]
        )
        summary = backward[-1].h  # read from the right, the last state is that of word 1
    return Encoded(
        forward, backward, annotations, summary, np.tanh(affine(p, "b_s", ("W_s", summary)))
    )


def align(p: Parameters, s_prev: Array, annotations: Array) -> tuple[Array, Array, Array, Array]:
    """Hidden layer, energies, weights and context of one step; the query is s_{i-1}."""
    hidden = np.stack(
        [np.tanh(affine(p, "b_a", ("W_a", s_prev), ("U_a", h_j))) for h_j in annotations]
    )
    energies = np.array([p["v_a"] @ row for row in hidden])
    alpha = np.exp(log_softmax(energies))
    context = sum(weight * h_j for weight, h_j in zip(alpha, annotations, strict=True))
    return hidden, energies, alpha, context


def decode_step(
    p: Parameters, encoded: Encoded, s_prev: Array, y_prev: int, setting: Setting = RNNSEARCH
) -> Step:
    """Everything that happens at position i, given s_{i-1} and y_{i-1}."""
    hidden = energies = alpha = None
    if setting.context == "additive":
        hidden, energies, alpha, context = align(p, s_prev, encoded.annotations)
    else:
        context = encoded.forward[-1].h
    embedded = p["E_y"][y_prev]
    unit = unit_step(p, "dec", embedded, s_prev, context, setting.unit)
    t_tilde = affine(p, "b_o", ("U_o", s_prev), ("V_o", embedded), ("C_o", context))
    # t_k = max(t~_{2k-1}, t~_{2k}), counted from 1
    t = np.array([max(pair, key=lambda value: value.real) for pair in t_tilde.reshape(-1, 2)])
    log_probs = log_softmax(affine(p, "b_y", ("W_o", t)))
    return Step(y_prev, s_prev, hidden, energies, alpha, context, unit, t_tilde, t, log_probs)


def decode(
    p: Parameters, encoded: Encoded, target: Sequence[int], setting: Setting = RNNSEARCH
) -> list[Step]:
    """The steps that predict `target`, each given the true words before it (y_0 = BOS)."""
    steps: list[Step] = []
    s_prev = encoded.s_0
    for y_prev in [BOS, *target[:-1]]:
        steps.append(decode_step(p, encoded, s_prev, y_prev, setting))
        s_prev = steps[-1].unit.h
    return steps


def log_prob(
    p: Parameters, source: Sequence[int], target: Sequence[int], setting: Setting = RNNSEARCH
) -> float:
    """log p(target | source); `target` holds every predicted word, the end mark included."""
    steps = decode(p, encode(p, source, setting), target, setting)
    return sum(step.log_probs[y] for step, y in zip(steps, target, strict=True))


def next_log_probs(
    p: Parameters, source: Sequence[int], prefix: Sequence[int], setting: Setting = RNNSEARCH
) -> Array:
    """log p(y | prefix, source) for every word y (K_y,), computed from the start each time."""
    return decode(p, encode(p, source, setting), [*prefix, 0], setting)[-1].log_probs


def alpha_matrix(steps: Sequence[Step]) -> Array:
    """The weights of all steps, a row for each target position (Ty, Tx)."""
    return np.stack([step.alpha for step in steps if step.alpha is not None])


def random_parameters(
    rng: np.random.Generator,
    setting: Setting = RNNSEARCH,
    *,
    source_words: int = 7,
    target_words: int = 6,
    m: int = 3,
    n: int = 4,
    n_align: int = 5,
    maxout: int = 3,
    biases: bool = True,
    scale: float = 0.7,
) -> dict[str, Array]:
    """Parameters of every name and shape that `setting` needs, drawn from N(0, scale^2)."""
    wide = n if setting.context == "fixed" or setting.encoder == "forward" else 2 * n
    shapes: dict[str, tuple[int, ...]] = {"E_x": (source_words, m), "E_y": (target_words, m)}
    directions = ["fwd"] if setting.encoder == "forward" else ["fwd", "bwd"]
    for of in [*directions, "dec"]:
        for gate in ["", "_z", "_r"]:
            shapes[f"{of}.W{gate}"] = (n, m)
            shapes[f"{of}.U{gate}"] = (n, n)
            if of == "dec":
                shapes[f"{of}.C{gate}"] = (n, wide)
            if biases:
                shapes[f"{of}.b{gate}"] = (n,)
        if biases and setting.unit == "torch":
            shapes[f"{of}.b_U"] = (n,)
    shapes["W_s"] = (n, n)
    if setting.context == "additive":
        shapes |= {"W_a": (n_align, n), "U_a": (n_align, wide), "v_a": (n_align,)}
    shapes |= {"U_o": (2 * maxout, n), "V_o": (2 * maxout, m), "C_o": (2 * maxout, wide)}
    shapes["W_o"] = (target_words, maxout)
    if biases:
        shapes |= {"b_s": (n,), "b_o": (2 * maxout,), "b_y": (target_words,)}
        if setting.context == "additive":
            shapes["b_a"] = (n_align,)
    return {name: rng.normal(0.0, scale, shape) for name, shape in shapes.items()}
