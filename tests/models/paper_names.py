"""A model's weights under the paper's names, for `tests.reference`."""

import numpy as np
from numpy.typing import NDArray

from course_lib.models import EncoderDecoder

Array = NDArray[np.float64]


def paper_parameters(model: EncoderDecoder, gradients: bool = False) -> dict[str, Array]:
    """Weights (or their gradients) by the names of `tests.reference.rnnsearch`."""
    tensors = {
        name: (p.grad if gradients else p.detach()).double().numpy()
        for name, p in model.named_parameters()
    }
    named = {
        "E_x": tensors["encoder.E.weight"],
        "E_y": tensors["decoder.E.weight"],
        "W_s": tensors["decoder.W_s.weight"],
        "b_s": tensors["decoder.W_s.bias"],
        "U_o": tensors["decoder.U_o.weight"],
        "V_o": tensors["decoder.V_o.weight"],
        "C_o": tensors["decoder.C_o.weight"],
        "b_o": tensors["decoder.V_o.bias"],
        "W_o": tensors["decoder.W_o.weight"],
        "b_y": tensors["decoder.W_o.bias"],
    }
    if model.config.context == "additive":
        named["W_a"] = tensors["decoder.context.score.W_a.weight"]
        named["U_a"] = tensors["decoder.context.score.U_a.weight"]
        named["v_a"] = tensors["decoder.context.score.v_a.weight"][0]
    directions = ["fwd", "bwd"] if model.config.encoder == "bidirectional" else ["fwd"]
    if model.config.unit == "paper":
        for number, of in enumerate(directions):
            named |= _paper_unit(tensors, f"encoder.rnn.units.0.{number}", of)
        named |= _paper_unit(tensors, "decoder.unit", "dec")
        gates = ("_z", "_r", "")
    else:
        for suffix, of in zip(("", "_reverse"), directions, strict=False):
            weights = [f"encoder.rnn.units.{kind}_l0{suffix}" for kind in TORCH_GRU]
            named |= _torch_unit(*(tensors[name] for name in weights), of, gradients)
        weights = [f"decoder.unit.{kind}" for kind in ("W.weight", "W.bias", "U.weight", "U.bias")]
        named |= _torch_unit(*(tensors[name] for name in weights), "dec", gradients)
        gates = ("_r", "_z", "")
    for gate, block in zip(gates, np.split(tensors["decoder.C.weight"], 3), strict=True):
        named[f"dec.C{gate}"] = block
    return named


TORCH_GRU = ("weight_ih", "bias_ih", "weight_hh", "bias_hh")


def _paper_unit(tensors: dict[str, Array], where: str, of: str) -> dict[str, Array]:
    W = np.split(tensors[f"{where}.W.weight"], 3)
    b = np.split(tensors[f"{where}.W.bias"], 3)
    U = [*np.split(tensors[f"{where}.U_gates.weight"], 2), tensors[f"{where}.U.weight"]]
    return _named(of, ("_z", "_r", ""), W, b, U)


def _torch_unit(
    W: Array, b_W: Array, U: Array, b_U: Array, of: str, gradients: bool
) -> dict[str, Array]:
    """torch adds two biases in each gate where the equations have one; both have its gradient."""
    b = [
        at_input if gradients else at_input + at_state
        for at_input, at_state in zip(np.split(b_W, 3)[:2], np.split(b_U, 3)[:2], strict=True)
    ]
    b.append(np.split(b_W, 3)[2])
    named = _named(of, ("_r", "_z", ""), np.split(W, 3), b, np.split(U, 3))
    return {**named, f"{of}.b_U": np.split(b_U, 3)[2]}


def _named(
    of: str, gates: tuple[str, ...], W: list[Array], b: list[Array], U: list[Array]
) -> dict[str, Array]:
    named = {}
    for gate, W_gate, b_gate, U_gate in zip(gates, W, b, U, strict=True):
        named |= {f"{of}.W{gate}": W_gate, f"{of}.b{gate}": b_gate, f"{of}.U{gate}": U_gate}
    return named
