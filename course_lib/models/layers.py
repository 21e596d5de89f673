"""A matrix as wide as a vocabulary."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class WideLinear(nn.Linear):
    """`nn.Linear` for an output as wide as a vocabulary.

    On a CPU the product needs half as long again, or twice as long, if the width is no multiple of
    16: each row of the result then begins in the middle of a cache line. So a few columns more are
    laid out beside it and cut off again, where there are rows enough to pay for that.
    """

    def forward(self, t: Tensor) -> Tensor:
        """(..., l) to (..., K) numbers."""
        missing = self.missing(t)
        if not missing:
            return super().forward(t)
        weight = functional.pad(self.weight, (0, 0, 0, missing))
        wide = functional.linear(t, weight, functional.pad(self.bias, (0, missing)))
        return wide[..., : self.out_features]

    def log_softmax(self, t: Tensor) -> Tensor:
        """Log-probabilities, (..., K); without gradients no weight is copied for them."""
        missing = self.missing(t)
        if not missing or torch.is_grad_enabled():
            return torch.log_softmax(self(t), dim=-1)
        wide = t.new_empty(*t.shape[:-1], self.out_features + missing)
        logits = wide.flatten(0, -2)[:, : self.out_features]
        torch.addmm(self.bias, t.flatten(0, -2), self.weight.t(), out=logits)
        wide[..., self.out_features :] = -torch.inf
        return torch.log_softmax(wide, dim=-1)[..., : self.out_features]

    def missing(self, t: Tensor) -> int:
        """How many columns are to be laid out beside the product."""
        few = t.is_cuda or t.numel() < 64 * self.in_features
        return 0 if few else -self.out_features % 16
