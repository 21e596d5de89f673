"""Where a training stands."""

import math
import sys
from dataclasses import dataclass, field
from typing import Any

from tqdm import tqdm

from course_lib.errors import CourseError


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
    parts: int = 1  # a minibatch is computed in so many, one after another
    metrics: list[dict[str, Any]] = field(default_factory=list)

    def next_epoch(self) -> None:
        """An epoch is over: its sums and its count of batches begin anew."""
        self.epoch += 1
        self.batch = self.words = 0
        self.loss = 0.0

    def halve(self, pairs: int) -> None:
        """Memory ran out with `pairs` sentence pairs in this many parts: twice as many from now on.

        Raises:
            CourseError: a part is one pair already.
        """
        if self.parts >= pairs:
            raise CourseError(
                f"There is not enough memory for one sentence pair at a time (update "
                f"{self.step + 1}). Choose a smaller model or --set max_length=..."
            )
        self.parts *= 2
        tqdm.write(
            f"Memory ran out at update {self.step + 1}: from now on a minibatch is computed in "
            f"{self.parts} parts, to the same result.",
            file=sys.stderr,
        )
