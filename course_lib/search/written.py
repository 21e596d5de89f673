"""What a search of one hypothesis a sentence has written so far."""

import torch
from torch import Tensor

from course_lib.search.hypothesis import Hypothesis, cut


class Written:
    """Words, their log-probabilities and weights, of S sentences that end at different steps."""

    def __init__(self, lengths: Tensor) -> None:
        self.lengths = lengths
        self._steps: list[tuple[Tensor, Tensor, Tensor, Tensor | None]] = []

    def __len__(self) -> int:
        """Steps taken."""
        return len(self._steps)

    def add(self, rows: Tensor, y: Tensor, log_probs: Tensor, alpha: Tensor | None) -> None:
        """One step: the (R,) sentences still written, their words, log-probabilities, weights."""
        self._steps.append((rows, y, log_probs, alpha))

    def hypotheses(self) -> list[Hypothesis]:
        """One a sentence, the end mark its last word; the score is the mean log-probability."""
        device, steps = self._steps[0][0].device, len(self._steps)
        tokens = torch.zeros(len(self.lengths), steps, dtype=torch.long, device=device)
        log_probs = self._steps[0][2].new_zeros(len(self.lengths))
        written = torch.zeros(len(self.lengths), dtype=torch.long, device=device)
        alphas = None
        for step, (rows, y, log_prob, alpha) in enumerate(self._steps):
            tokens[rows, step] = y
            log_probs[rows] += log_prob
            written[rows] += 1
            if alpha is not None:
                if alphas is None:
                    alphas = alpha.new_zeros(len(self.lengths), steps, alpha.shape[1])
                alphas[rows, step] = alpha
        return cut(tokens, written, log_probs, log_probs / written, alphas, self.lengths)
