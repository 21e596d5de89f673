"""The recurrent units: simple tanh, LSTM, the paper's gated unit and the one of `torch.nn.GRU`.

All are used in the same two moves. `unit.project(inputs)` multiplies the inputs of a whole sentence
at once, because no input product depends on the state; `unit(projected, state)` then takes one
step. A decoder adds the context's product to `projected` before the step: W E y + C c.

The two gated units differ in three ways, and only the first changes what can be computed:

                               the paper (PaperUnit)     torch.nn.GRU (TorchUnit)
    the reset gate acts        before the product        after the product
                               U [r o h]                 r o (U h + b_U)
    z = 1 means                take the new state        keep the old state
    recurrent products         two, one after another    one
"""

import torch
from torch import Tensor, nn


class PaperUnit(nn.Module):
    """The paper's gated unit (Appendix A.1.1): the reset gate acts before the recurrent product.

        z = sigma(W_z x + U_z h)        r = sigma(W_r x + U_r h)
        h~ = tanh(W x + U [r o h])      h' = (1 - z) o h + z o h~

    `W` stacks W_z, W_r, W and `U_gates` stacks U_z, U_r.
    """

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.hidden_size = self.state_size = hidden_size
        self.W = nn.Linear(input_size, 3 * hidden_size)
        self.U_gates = nn.Linear(hidden_size, 2 * hidden_size, bias=False)
        self.U = nn.Linear(hidden_size, hidden_size, bias=False)

    def project(self, inputs: Tensor) -> Tensor:
        """(..., m) inputs to (..., 3n) products W x + b, in the order z, r, candidate."""
        return self.W(inputs)

    def forward(self, projected: Tensor, state: Tensor) -> Tensor:
        """One step: (B, 3n) products and (B, n) previous state to the (B, n) new state."""
        n = self.hidden_size
        for_gates, for_candidate = projected.split([2 * n, n], dim=-1)
        z, r = torch.sigmoid(for_gates + self.U_gates(state)).chunk(2, dim=-1)
        candidate = torch.tanh(for_candidate + self.U(r * state))
        return torch.lerp(state, candidate, z)  # (1 - z) o state + z o candidate


class TorchUnit(nn.Module):
    """The gated unit of `torch.nn.GRU`: the reset gate acts after the recurrent product.

        z = sigma(W_z x + U_z h)            r = sigma(W_r x + U_r h)
        h~ = tanh(W x + r o (U h + b_U))    h' = (1 - z) o h~ + z o h

    One matrix product a step instead of two. Note z: here it keeps the old state, in the paper it
    lets the new one in. `W` and `U` stack r, z, candidate in torch's order.
    """

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.hidden_size = self.state_size = hidden_size
        self.W = nn.Linear(input_size, 3 * hidden_size)
        self.U = nn.Linear(hidden_size, 3 * hidden_size)

    def project(self, inputs: Tensor) -> Tensor:
        """(..., m) inputs to (..., 3n) products W x + b, in the order r, z, candidate."""
        return self.W(inputs)

    def forward(self, projected: Tensor, state: Tensor) -> Tensor:
        """One step: (B, 3n) products and (B, n) previous state to the (B, n) new state."""
        n = self.hidden_size
        for_gates, for_candidate = projected.split([2 * n, n], dim=-1)
        gates, recurrent = self.U(state).split([2 * n, n], dim=-1)
        r, z = torch.sigmoid(for_gates + gates).chunk(2, dim=-1)
        candidate = torch.tanh(torch.addcmul(for_candidate, r, recurrent))
        return torch.lerp(candidate, state, z)  # (1 - z) o candidate + z o state


class TanhUnit(nn.Module):
    """The simple recurrent unit (Elman, 1990): h' = tanh(W x + U h), no gates."""

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.hidden_size = self.state_size = hidden_size
        self.W = nn.Linear(input_size, hidden_size)
        self.U = nn.Linear(hidden_size, hidden_size, bias=False)

    def project(self, inputs: Tensor) -> Tensor:
        """(..., m) inputs to (..., n) products W x + b."""
        return self.W(inputs)

    def forward(self, projected: Tensor, state: Tensor) -> Tensor:
        """One step: (B, n) products and (B, n) previous state to the (B, n) new state."""
        return torch.tanh(projected + self.U(state))


class LSTMUnit(nn.Module):
    """Long short-term memory with forget gate and without peepholes, as `torch.nn.LSTM`.

        i = sigma(W_i x + U_i h)        f = sigma(W_f x + U_f h)        o = sigma(W_o x + U_o h)
        g = tanh(W_g x + U_g h)         cell' = f o cell + i o g        h' = o o tanh(cell')

    Its state is [cell; h], 2n numbers, of which the rest of the network sees h, the last n. `W` and
    `U` stack i, f, g, o in torch's order.
    """

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.hidden_size, self.state_size = hidden_size, 2 * hidden_size
        self.W = nn.Linear(input_size, 4 * hidden_size)
        self.U = nn.Linear(hidden_size, 4 * hidden_size, bias=False)

    def project(self, inputs: Tensor) -> Tensor:
        """(..., m) inputs to (..., 4n) products W x + b, in the order i, f, g, o."""
        return self.W(inputs)

    def forward(self, projected: Tensor, state: Tensor) -> Tensor:
        """One step: (B, 4n) products and (B, 2n) previous [cell; h] to the (B, 2n) new one."""
        cell, h = state.chunk(2, dim=-1)
        i, f, g, o = (projected + self.U(h)).chunk(4, dim=-1)
        cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g)
        return torch.cat([cell, torch.sigmoid(o) * torch.tanh(cell)], dim=-1)


Unit = PaperUnit | TorchUnit | TanhUnit | LSTMUnit

UNITS: dict[str, type[Unit]] = {
    "torch": TorchUnit,
    "paper": PaperUnit,
    "tanh": TanhUnit,
    "lstm": LSTMUnit,
}
