"""Units in the place of `GatedUnit`: torch's gated one, the LSTM, plain tanh, and layers of units.

All are used as it is: `unit.W(x)` for all words at once, then `unit(Wx, state)` a step. The two
gated units differ in three ways, and only the first changes what can be computed:

                               the paper (GatedUnit)     torch.nn.GRU (TorchUnit)
    the reset gate acts        before the product        after the product
                               U [r o h]                 r o (U h + b_U)
    z = 1 means                take the new state        keep the old state
    recurrent products         two, one after another    one
"""

from typing import Any

import torch
from torch import Tensor, nn

from course_lib.models.config import ModelConfig
from course_lib.models.rnnsearch import GatedUnit


class TorchUnit(GatedUnit):
    """The gated unit of `torch.nn.GRU`: the reset gate acts after the recurrent product.

        z = sigma(W_z x + U_z h)            r = sigma(W_r x + U_r h)
        h~ = tanh(W x + r o (U h + b_U))    h' = (1 - z) o h~ + z o h

    One matrix product a step instead of two. Note z: here it keeps the old state, in the paper it
    lets the new one in. `W` and `U` stack r, z, candidate in torch's order.
    """

    def __init__(self, inputs: int, n: int) -> None:
        nn.Module.__init__(self)
        self.W = nn.Linear(inputs, 3 * n)
        self.U = nn.Linear(n, 3 * n)

    def forward(self, Wx: Tensor, h: Tensor) -> Tensor:
        """One step: (B, 3n) products W x and the (B, n) state before to the (B, n) new state."""
        n = h.shape[-1]
        Uh = self.U(h)
        r, z = torch.sigmoid(Wx[..., : 2 * n] + Uh[..., : 2 * n]).chunk(2, dim=-1)
        candidate = torch.tanh(torch.addcmul(Wx[..., 2 * n :], r, Uh[..., 2 * n :]))
        return torch.lerp(candidate, h, z)  # (1 - z) o candidate + z o h


class TanhUnit(GatedUnit):
    """The simple recurrent unit (Elman, 1990): h' = tanh(W x + U h), no gates."""

    def __init__(self, inputs: int, n: int) -> None:
        nn.Module.__init__(self)
        self.W = nn.Linear(inputs, n)
        self.U = nn.Linear(n, n, bias=False)

    def forward(self, Wx: Tensor, h: Tensor) -> Tensor:
        """One step: (B, n) products W x and the (B, n) state before to the (B, n) new state."""
        return torch.tanh(Wx + self.U(h))


class LSTMUnit(GatedUnit):
    """Long short-term memory with forget gate and without peepholes, as `torch.nn.LSTM`.

        i = sigma(W_i x + U_i h)        f = sigma(W_f x + U_f h)        o = sigma(W_o x + U_o h)
        g = tanh(W_g x + U_g h)         cell' = f o cell + i o g        h' = o o tanh(cell')

    Its state is [cell; h], 2n numbers. `W` and `U` stack i, f, g, o in torch's order.
    """

    def __init__(self, inputs: int, n: int) -> None:
        nn.Module.__init__(self)
        self.W = nn.Linear(inputs, 4 * n)
        self.U = nn.Linear(n, 4 * n, bias=False)

    def forward(self, Wx: Tensor, state: Tensor) -> Tensor:
        """One step: (B, 4n) products W x and the (B, 2n) [cell; h] before to the (B, 2n) new."""
        cell, h = state.chunk(2, dim=-1)
        i, f, g, o = (Wx + self.U(h)).chunk(4, dim=-1)
        cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g)
        return torch.cat([cell, torch.sigmoid(o) * torch.tanh(cell)], dim=-1)


UNITS: dict[str, type[GatedUnit]] = {
    "paper": GatedUnit,
    "torch": TorchUnit,
    "tanh": TanhUnit,
    "lstm": LSTMUnit,
}


def state_size(unit: GatedUnit) -> int:
    """Numbers in a unit's state: n, for an LSTM with its cell 2n."""
    return unit.U.in_features * (2 if isinstance(unit, LSTMUnit) else 1)


class Layers(GatedUnit):
    """Units above each other, each reading the h of the one below (Sutskever et al., 2014).

    Its state has the states of all layers side by side, the top one last.
    """

    def __init__(
        self, kind: type[GatedUnit], inputs: int, n: int, layers: int, dropout: float
    ) -> None:
        nn.Module.__init__(self)
        self.n = n
        self.lowest = kind(inputs, n)
        self.W = self.lowest.W  # what is called with the words, so that it is here and not there
        del self.lowest.W
        self.upper = nn.ModuleList(kind(n, n) for _ in range(layers - 1))
        self.dropout = nn.Dropout(dropout)

    def forward(self, Wx: Tensor, state: Tensor) -> Tensor:
        """One step of all layers, from the products for the lowest: (B, S) to (B, S)."""
        before = state.chunk(1 + len(self.upper), dim=-1)
        states = [self.lowest(Wx, before[0])]
        for unit, s_prev in zip(self.upper, before[1:], strict=True):
            below = self.dropout(states[-1][..., -self.n :])
            assert isinstance(unit, GatedUnit)
            states.append(unit(unit.W(below), s_prev))
        return torch.cat(states, dim=-1)


def build_unit(config: ModelConfig, inputs: int) -> GatedUnit:
    """The decoder's unit, or its layers of units; an input has `inputs` numbers."""
    kind = UNITS[config.unit]
    if config.layers == 1:
        return kind(inputs, config.hidden)
    return Layers(kind, inputs, config.hidden, config.layers, config.dropout)


def show_last(part: nn.Module, n: int) -> None:
    """Let a part that reads a state see its last n numbers: the top layer's, without its cell."""

    def cut(_: nn.Module, given: tuple[Any, ...]) -> tuple[Any, ...]:
        return (given[0][..., -n:], *given[1:])

    part.register_forward_pre_hook(cut)
