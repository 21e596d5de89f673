"""A model's weights under the paper's names, for `tests.reference`."""

import numpy as np
import torch
from numpy.typing import NDArray

from course_lib.models import Encoder, RNNsearch
from tests.reference.cells import GATES
from tests.reference.translator import layer_name

Array = NDArray[np.float64]

PLAIN = {
    "encoder.E.weight": "E_x",
    "decoder.E.weight": "E_y",
    "decoder.W_s.weight": "W_s",
    "decoder.W_s.bias": "b_s",
    "decoder.U_o.weight": "U_o",
    "decoder.V_o.weight": "V_o",
    "decoder.V_o.bias": "b_o",
    "decoder.C_o.weight": "C_o",
    "decoder.W_o.weight": "W_o",
    "decoder.W_o.bias": "b_y",
    "decoder.attention.W_a.weight": "W_a",
    "decoder.attention.U_a.weight": "U_a",
    "decoder.attention.v_a.weight": "v_a",
    "decoder.attention.attention.W_a.weight": "W_a",
    "decoder.attention.attention.U_a.weight": "U_a",
    "decoder.attention.attention.v_a.weight": "v_a",
    "decoder.attention.W_p.weight": "W_p",
    "decoder.attention.v_p.weight": "v_p",
}
ROWS = ("v_a", "v_p")  # torch stores these vectors as matrices of one row


def paper_parameters(model: RNNsearch, gradients: bool = False) -> dict[str, Array]:
    """Weights (or their gradients) by the names of `tests.reference`; every weight has one.

    Nothing reads a forward encoder's states where s_0, the backward one's, is all that is known:
    the gradient that it then has not is 0.
    """
    tensors = {}
    for name, parameter in model.named_parameters():
        gradient = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        tensors[name] = (gradient if gradients else parameter.detach()).double().numpy()
    named = {ours: tensors.pop(name) for name, ours in PLAIN.items() if name in tensors}
    named |= {name: named[name][0] for name in ROWS if name in named}
    config = model.config
    unit = config.unit
    directions = ["fwd", "bwd"] if config.encoder == "bidirectional" else ["fwd"]
    for layer in range(config.layers):
        for number, of in enumerate(directions):
            if unit != "paper":  # torch's modules name the same matrices differently
                reverse = "_reverse" if number else ""
                weights = {
                    letter: tensors.pop(f"encoder.rnn.{kind}_l{layer}{reverse}")
                    for letter, kind in TORCH.items()
                }
            elif type(model.encoder) is Encoder:
                weights = _own(tensors, ("encoder.ahead.", "encoder.back.")[number])
            else:
                weights = _own(tensors, f"encoder.units.{layer}.{number}.")
            named |= _by_gate(weights, unit, layer_name(of, layer + 1), gradients)
        if not layer and config.layers > 1:  # the W of the lowest layer stands beside it
            for name in ("W.weight", "W.bias"):
                tensors[f"decoder.unit.lowest.{name}"] = tensors.pop(f"decoder.unit.{name}")
        where = f"upper.{layer - 1}." if layer else "" if config.layers == 1 else "lowest."
        weights = _own(tensors, f"decoder.unit.{where}")
        if not layer:
            for letter in ("C", "F"):
                if f"decoder.{letter}.weight" in tensors:
                    weights[letter] = tensors.pop(f"decoder.{letter}.weight")
        named |= _by_gate(weights, unit, layer_name("dec", layer + 1), gradients)
    if config.decoder.startswith("conditional"):
        named |= _by_gate(_own(tensors, "decoder.second."), unit, "second", gradients)
    assert not tensors, f"nameless: {sorted(tensors)}"
    return named


OWN = {"W": "W.weight", "b": "W.bias", "U": "U.weight"}
TORCH = {"W": "weight_ih", "b": "bias_ih", "U": "weight_hh", "b_U": "bias_hh"}


def unit_parameters(weights: dict[str, Array], unit: str, of: str) -> dict[str, Array]:
    """The weights of one unit of the library, by gate."""
    return _by_gate(_own(dict(weights), ""), unit, of, gradients=False)


def _own(tensors: dict[str, Array], where: str) -> dict[str, Array]:
    """Take one of the library's units out of `tensors`."""
    weights = {letter: tensors.pop(f"{where}{name}") for letter, name in OWN.items()}
    if f"{where}U_gates.weight" in tensors:
        weights["U"] = np.concatenate([tensors.pop(f"{where}U_gates.weight"), weights["U"]])
    if f"{where}U.bias" in tensors:
        weights["b_U"] = tensors.pop(f"{where}U.bias")
    return weights


def _by_gate(weights: dict[str, Array], unit: str, of: str, gradients: bool) -> dict[str, Array]:
    """Stacked weights cut into gates.

    torch adds two biases in each gate where the equations have one; both have its gradient. Only in
    the candidate of its gated unit does the second stand elsewhere, inside the reset product.
    """
    gates = GATES[unit]
    named = {}
    for letter in weights.keys() - {"b", "b_U"}:
        blocks = np.split(weights[letter], len(gates))
        named |= {f"{of}.{letter}{g}": block for g, block in zip(gates, blocks, strict=True)}
    inner = np.split(weights.get("b_U", np.zeros_like(weights["b"])), len(gates))
    for g, b, b_U in zip(gates, np.split(weights["b"], len(gates)), inner, strict=True):
        if unit == "torch" and g == "":
            named |= {f"{of}.b": b, f"{of}.b_U": b_U}
        else:
            named[f"{of}.b{g}"] = b if gradients else b + b_U
    return named
