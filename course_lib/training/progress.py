"""Where a training stands."""

import math
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Progress:
    """Where a run stands; with weights, moments and generators it decides everything to come."""

    epoch: int = 0
    batch: int = 0  # batches of this epoch already used
    step: int = 0
    seconds: float = 0.0
    loss: float = 0.0  # summed over the words of this epoch so far
    words: int = 0
    best: float = math.inf
    since_best: int = 0
    finished: bool = False
    metrics: list[dict[str, Any]] = field(default_factory=list)

    def next_epoch(self) -> None:
        """An epoch is over: its sums and its count of batches begin anew."""
        self.epoch += 1
        self.batch = self.words = 0
        self.loss = 0.0
