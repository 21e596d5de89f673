"""How much of a gradient survives the way back through a recurrent unit, and what its gates do.

unit = fresh_unit("tanh", inputs=32, size=64)
rows = gradients_through_time(unit, words)          # words: (B, T, m)

unit = forward_unit(model)                          # a trained one, on real sentences
rows = gradients_through_time(unit, *sentence_ends(model, sources, 20))
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from course_lib.corpora.vocabulary import EOS
from course_lib.errors import CourseError
from course_lib.models.encoders import DeepEncoder, PackedEncoder
from course_lib.models.initialisation import initialise
from course_lib.models.rnnsearch import Encoder, GatedUnit, RNNsearch
from course_lib.models.units import UNITS, LSTMUnit, TanhUnit, TorchUnit, state_size


def gradients_through_time(
    unit: GatedUnit, inputs: Tensor, start: Tensor | None = None
) -> list[dict[str, float]]:
    """What is left of a gradient after k steps back, for every k.

    Args:
        unit: one of `UNITS`, with any weights.
        inputs: (B, T, m), B sentences of T embedded words each, without padding.
        start: (B, S), the states before the first of these words; without, zeros.

    Returns:
        One row for each `distance` k = 0 to T: the `median` over the sentences of `gradient_norms`
        and its quartiles `low` and `high`.
    """
    norms = gradient_norms(unit, inputs, start)
    low, median, high = torch.quantile(norms, norms.new_tensor([0.25, 0.5, 0.75]), dim=0).tolist()
    return [
        {"distance": k, "median": median[k], "low": low[k], "high": high[k]}
        for k in range(len(median))
    ]


@torch.enable_grad()
def gradient_norms(unit: GatedUnit, inputs: Tensor, start: Tensor | None = None) -> Tensor:
    """The norm of d h_T / d h_{T-k} for k = 0 to T, sentence by sentence: (B, T + 1).

    It is the Frobenius norm divided by sqrt(n), the root mean square of the singular values: the
    length at h_{T-k} of a gradient of length 1 that arrives at h_T from a random direction. 1 means
    that nothing is lost. For an LSTM h_T is what the rest of the network sees of the state, and
    h_{T-k} stands for the whole state before, cell included.
    """
    steps = []
    after = inputs.new_zeros(len(inputs), state_size(unit)) if start is None else start
    for projected in unit.W(inputs).detach().unbind(dim=1):
        before = after.detach().requires_grad_()
        after = unit(projected, before)
        steps.append((before, after))
    n = unit.U.in_features
    # One gradient for each number of h_T: rows of the identity, then of d h_T / d h_{T-k}.
    seen = torch.eye(state_size(unit), dtype=inputs.dtype, device=inputs.device)[-n:]
    gradients = seen[:, None].expand(n, len(inputs), state_size(unit))
    norms = [_root_mean_square(gradients)]
    for before, after in reversed(steps):
        (gradients,) = torch.autograd.grad(after, before, gradients, is_grads_batched=True)
        norms.append(_root_mean_square(gradients))
    return torch.stack(norms, dim=1)


def _root_mean_square(gradients: Tensor) -> Tensor:
    """(n, B, S) gradients of the n numbers of h_T to their (B,) root mean square lengths."""
    return gradients.square().sum(dim=2).mean(dim=0).sqrt()


@torch.no_grad()
def gates_along(unit: GatedUnit, inputs: Tensor, start: Tensor | None = None) -> dict[str, Tensor]:
    """How far each gate is open at each word, 0 to 1, number by number.

    Args:
        unit, inputs, start: as in `gradients_through_time`; a unit with gates.

    Returns:
        (B, T, n) each. For the two gated units `update`, how much of the new state is let in, and
        `reset`, how much of the old one the new one is made from; both as the paper means them, so
        that for torch's unit `update` is 1 - z. For an LSTM `input`, `forget` (1 keeps the cell)
        and `output`.

    Raises:
        CourseError: a simple tanh unit has no gates.
    """
    state = inputs.new_zeros(len(inputs), state_size(unit)) if start is None else start
    gates: dict[str, list[Tensor]] = {}
    for projected in unit.W(inputs).unbind(dim=1):
        for name, gate in _gates(unit, projected, state).items():
            gates.setdefault(name, []).append(gate)
        state = unit(projected, state)
    return {name: torch.stack(steps, dim=1) for name, steps in gates.items()}


def _gates(unit: GatedUnit, projected: Tensor, state: Tensor) -> dict[str, Tensor]:
    """The gates of one step, each (B, n), from what the unit's `forward` takes."""
    n = unit.U.in_features
    if isinstance(unit, TorchUnit):
        r, z = torch.sigmoid(projected + unit.U(state))[:, : 2 * n].chunk(2, dim=-1)
        return {"update": 1 - z, "reset": r}
    if isinstance(unit, LSTMUnit):
        i, f, _, o = torch.sigmoid(projected + unit.U(state[:, n:])).chunk(4, dim=-1)
        return {"input": i, "forget": f, "output": o}
    if isinstance(unit, TanhUnit):
        raise CourseError("A tanh unit has no gates. Choose the unit torch, paper or lstm.")
    z, r = torch.sigmoid(projected[:, : 2 * n] + unit.U_gates(state)).chunk(2, dim=-1)
    return {"update": z, "reset": r}


def fresh_unit(
    name: str, *, inputs: int, size: int, recurrence: float = 1.0, seed: int = 0
) -> GatedUnit:
    """A unit of `UNITS` as training finds it, in float64.

    Its weights are those of the course's `modern` initialisation, recurrent matrices orthogonal and
    biases 0, but that the recurrent matrices are multiplied by `recurrence`.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        unit = UNITS[name](inputs, size).double()
        initialise(nn.ModuleDict({"unit": unit}), "modern")
    with torch.no_grad():
        for parameter, weight in unit.named_parameters():
            if parameter.startswith("U"):
                weight.mul_(recurrence)
    return unit


def forward_unit(model: RNNsearch) -> GatedUnit:
    """The unit that reads a model's source sentences forwards, in the lowest layer.

    Raises:
        CourseError: the model's encoder has no recurrent unit.
    """
    config, encoder = model.config, model.encoder
    if type(encoder) is Encoder:
        return encoder.ahead
    if isinstance(encoder, DeepEncoder):
        return encoder.lowest_ahead
    if not isinstance(encoder, PackedEncoder):
        raise CourseError(
            f"encoder={config.encoder} has no recurrent unit for a gradient to go back through. "
            "Choose encoder=forward or bidirectional."
        )
    kind = UNITS[config.unit]
    unit = kind(config.embedding, config.hidden).to(model.encoder.E.weight)
    w, u, b_w, b_u = (
        getattr(encoder.rnn, f"{part}_l0").detach()
        for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    # Only torch's gated unit has a use for a second bias.
    biases = {"W.bias": b_w, "U.bias": b_u} if kind is TorchUnit else {"W.bias": b_w + b_u}
    unit.load_state_dict({"W.weight": w, "U.weight": u, **biases})
    return unit


@torch.no_grad()
def sentence_ends(
    model: RNNsearch, sources: Sequence[Sequence[int]], words: int
) -> tuple[Tensor, Tensor]:
    """The last words of real sentences, and the states in which a model comes to them.

    Args:
        model: its forward unit reads the words before the last ones.
        sources: word numbers without end marks; the end mark is added, as in training, and counts.
            A model that reads its source last word first is given them in that order.
        words: how many words each end has; shorter sentences are left out.

    Returns:
        (B, words, m) embedded words and (B, S) states, for `gradients_through_time`.

    Raises:
        CourseError: no sentence is long enough.
    """
    turn = -1 if model.config.reverse_source else 1
    long = [[*source[::turn], EOS] for source in sources if len(source) + 1 >= words]
    if not long:
        raise CourseError(f"No sentence has {words} words, end mark included. Ask for fewer.")
    unit, inputs, states = forward_unit(model), [], []
    for sentence in long:
        embedded = model.encoder.E(torch.tensor(sentence, device=model.encoder.E.weight.device))
        state = embedded.new_zeros(1, state_size(unit))
        for projected in unit.W(embedded[:-words])[:, None]:
            state = unit(projected, state)
        inputs.append(embedded[-words:])
        states.append(state)
    return torch.stack(inputs), torch.cat(states)
