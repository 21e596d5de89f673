"""One update of every recurrent unit, in float64 NumPy, from its equations.

A unit called `of` has, for each of its gates g, the matrices `{of}.W{g}` (input), `{of}.U{g}`
(state) and further ones for whatever else it reads, all summed, and where they are in the dict the
biases `{of}.b{g}` and, inside torch's reset product, `{of}.b_U`. An upper layer is a unit of its
own: "dec" is the first layer of the decoder, "dec2" the second.

    tanh    h = tanh(W x + U h)                                                     (Elman 1990)
    paper   z = sigma(W_z x + U_z h)        r = sigma(W_r x + U_r h)     (Bahdanau et al., A.1.1)
            h~ = tanh(W x + U [r o h])      h' = (1 - z) o h + z o h~
    torch   z, r the same                                                            (torch.nn.GRU)
            h~ = tanh(W x + r o (U h + b_U))    h' = (1 - z) o h~ + z o h
    lstm    i, f, o = sigma(W_i x + U_i h), ...     g = tanh(W_g x + U_g h)         (torch.nn.LSTM)
            cell' = f o cell + i o g        h' = o o tanh(cell')

Everything is analytic where it is smooth, so that derivatives can be taken by the complex step.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Parameters = Mapping[str, Array]
Inputs = Sequence[tuple[str, Array]]  # a matrix's letter and the vector that it multiplies

GATES = {
    "tanh": ("",),
    "paper": ("_z", "_r", ""),
    "torch": ("_r", "_z", ""),
    "lstm": ("_i", "_f", "_g", "_o"),
}
"""The gates of each unit, in the order in which the library (and torch) stacks them."""


class State(NamedTuple):
    """What a unit remembers: h (n,), and the LSTM's cell (n,)."""

    h: Array
    cell: Array | None = None


def sigma(a: Array) -> Array:
    return 1.0 / (1.0 + np.exp(-a))


def cell_step(p: Parameters, of: str, unit: str, inputs: Inputs, state: State) -> State:
    """The state after one update; see the module's text for the equations."""

    def into(gate: str, *more: tuple[str, Array]) -> Array:
        total = sum(p[f"{of}.{letter}{gate}"] @ vector for letter, vector in [*inputs, *more])
        return total + p.get(f"{of}.b{gate}", 0.0)

    h, cell = state
    before = ("U", h)
    if unit == "tanh":
        return State(np.tanh(into("", before)))
    if unit == "lstm":
        i, f, o = sigma(into("_i", before)), sigma(into("_f", before)), sigma(into("_o", before))
        cell = f * cell + i * np.tanh(into("_g", before))
        return State(o * np.tanh(cell), cell)
    z, r = sigma(into("_z", before)), sigma(into("_r", before))
    if unit == "paper":
        candidate = np.tanh(into("", ("U", r * h)))
        return State((1 - z) * h + z * candidate)
    candidate = np.tanh(into("") + r * (p[f"{of}.U"] @ h + p.get(f"{of}.b_U", 0.0)))
    return State((1 - z) * candidate + z * h)


def zero_state(n: int, unit: str) -> State:
    return State(np.zeros(n), np.zeros(n) if unit == "lstm" else None)


def run(p: Parameters, of: str, unit: str, inputs: Sequence[Array]) -> list[Array]:
    """Read vectors one after another from a zero state: h after each."""
    state = zero_state(p[f"{of}.U{GATES[unit][0]}"].shape[0], unit)
    states = []
    for x in inputs:
        state = cell_step(p, of, unit, [("W", x)], state)
        states.append(state.h)
    return states
