"""How much of a gradient survives the way back through a recurrent unit.

unit = fresh_unit("tanh", inputs=32, size=64)
rows = gradients_through_time(unit, words)          # words: (B, T, m)
"""

import torch
from torch import Tensor, nn

from course_lib.models.initialisation import initialise
from course_lib.models.rnnsearch import GatedUnit
from course_lib.models.units import UNITS, state_size


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
