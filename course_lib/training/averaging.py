"""The mean of a model's weights over its last updates, which often translates better than they."""

from collections.abc import Mapping
from typing import TypeAlias

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

Tensors: TypeAlias = tuple[Tensor, ...] | list[Tensor]


def moving_average(model: nn.Module, decay: float) -> AveragedModel:
    """An exponential moving average of weights: w' = d w' + (1 - d) w after every update.

    It stands for the mean of the last 1 / (1 - d) updates (Polyak and Juditsky, 1992, averaged all
    of them). So that the first weights, which know nothing, do not weigh in for long, d is at most
    (1 + t) / (10 + t) after t updates.

    Its `update_parameters` takes in the weights of an update, `module` has the average.
    """

    def take_in(averaged: Tensors, current: Tensors, update: Tensor | int) -> None:
        most = min(decay, float((1 + update) / (10 + update)))
        get_ema_multi_avg_fn(most)(averaged, current, update)

    average = AveragedModel(model, multi_avg_fn=take_in)
    average.update_parameters(model)  # the weights before the first update
    return average


@torch.no_grad()
def go_on(average: AveragedModel, weights: Mapping[str, Tensor], updates: int) -> None:
    """Put the average back as it was after `updates` updates."""
    for name, value in average.module.named_parameters():
        value.copy_(weights[name])
    average.n_averaged.fill_(1 + updates)
