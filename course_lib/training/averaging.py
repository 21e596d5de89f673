"""The mean of a model's weights over its last updates, which often translates better than they."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class Average:
    """An exponential moving average of weights: w' = d w' + (1 - d) w after every update.

    It stands for the mean of the last 1 / (1 - d) updates (Polyak and Juditsky, 1992, averaged all
    of them). So that the first weights, which know nothing, do not weigh in for long, d is at most
    (1 + t) / (10 + t) after t updates.
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.decay = decay
        self.weights = {name: value.detach().clone() for name, value in model.named_parameters()}

    @torch.no_grad()
    def update(self, model: nn.Module, updates: int) -> None:
        """Take in the weights after update number `updates` (from 1)."""
        decay = min(self.decay, (1 + updates) / (10 + updates))
        current = [value.detach() for value in model.parameters()]
        torch._foreach_lerp_(list(self.weights.values()), current, 1 - decay)

    @contextmanager
    def in_place(self, model: nn.Module) -> Iterator[None]:
        """Within the block the model has the averaged weights."""
        self._swap(model)
        try:
            yield
        finally:
            self._swap(model)

    @torch.no_grad()
    def _swap(self, model: nn.Module) -> None:
        for name, parameter in model.named_parameters():
            parameter.data, self.weights[name] = self.weights[name], parameter.data

    def load(self, tensors: dict[str, Tensor]) -> None:
        """Go on from the averaged weights of a checkpoint."""
        for name, value in self.weights.items():
            value.copy_(tensors[name])
