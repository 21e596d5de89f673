"""Scores and weights of one look at one sentence, in float64 NumPy, word by word.

    additive    v_a' tanh(W_a s + U_a h_j)              (Bahdanau et al. 2015, A.1.2)
    dot         s' h_j                                  (Luong et al. 2015, eq. 8)
    general     s' W_a h_j
    concat      v_a' tanh(W_a [s ; h_j])
    scaled-dot  s' h_j / sqrt(n)                        (Vaswani et al. 2017, eq. 1)

Positions are counted from 0. A sentence has T_x words, the end mark being one of them.
"""

from typing import NamedTuple

import numpy as np

from tests.reference.cells import Array, Parameters, sigma


class Look(NamedTuple):
    energies: Array  # (Tx,), of every word, whatever the window
    alpha: Array  # (Tx,)
    context: Array  # (2n,)


def energy(p: Parameters, score: str, s: Array, h_j: Array) -> Array:
    """e_ij, how well the word j fits the state s."""
    if score == "additive":
        return p["v_a"] @ np.tanh(p["W_a"] @ s + p["U_a"] @ h_j)
    if score == "concat":
        return p["v_a"] @ np.tanh(p["W_a"] @ np.concatenate([s, h_j]))
    if score == "general":
        return s @ p["W_a"] @ h_j
    if score == "scaled-dot":
        return s @ h_j / np.sqrt(len(s))
    assert score == "dot"
    return s @ h_j


def predicted_position(p: Parameters, s: Array, words: int) -> Array:
    """p_i = T_x sigma(v_p' tanh(W_p s)), Luong's eq. 9."""
    return words * sigma(p["v_p"] @ np.tanh(p["W_p"] @ s))


def look(p: Parameters, score: str, window: int, s: Array, annotations: Array) -> Look:
    """Weights and context of the query s, over every word.

    With a window D above 0, over the words of [p_i - D, p_i + D], their weights then times
    exp(-(j - p_i)^2 / (2 (D/2)^2)), Luong's eq. 10, and not normalised again. A window without
    words gives zeros.
    """
    words = len(annotations)
    centre = predicted_position(p, s, words) if window else np.array(0.0)
    inside = [j for j in range(words) if not window or abs(j - centre.real) <= window]
    energies = np.array([energy(p, score, s, h_j) for h_j in annotations])
    highest = max((energies[j].real for j in inside), default=0.0)
    total = sum(np.exp(energies[j] - highest) for j in inside)
    alpha = []
    for j in range(words):
        weight = np.exp(energies[j] - highest) / total if j in inside else 0.0
        if window:
            weight *= np.exp(-((j - centre) ** 2) / (2 * (window / 2) ** 2))
        alpha.append(weight)
    context = sum(weight * h_j for weight, h_j in zip(alpha, annotations, strict=True))
    return Look(energies, np.array(alpha), context)
