"""What a search may write: what is forbidden at a step, and the most probable of the rest."""

from typing import NamedTuple

import torch
from torch import Tensor

from course_lib.corpora.vocabulary import EOS, UNK
from course_lib.errors import CourseError
from course_lib.search.hypothesis import length_limit

BLOCK = 64
"""Words whose largest log-probability is looked at before any of them is."""


class Rules(NamedTuple):
    """What may not be written.

    limits: (S,) the step at which each sentence must end.
    min_length: no end mark before so many words.
    forbid_unk: no [UNK] at all.
    """

    limits: Tensor
    min_length: int
    forbid_unk: bool

    def apply(self, log_probs: Tensor, number: int, sentence: Tensor | slice) -> None:
        """Set to -inf what is forbidden at step `number`, the first being 1.

        The rest stays as it is: what is forbidden is not shared out among the other words.

        Args:
            log_probs: (..., S', K_y), changed in place.
            number: of the step.
            sentence: which S' sentences of the batch these are.
        """
        if self.forbid_unk:
            log_probs[..., UNK] = -torch.inf
        if number <= self.min_length:
            log_probs[..., EOS] = -torch.inf
        last = self.limits[sentence] == number
        if last.any():
            end = log_probs[..., last, EOS]
            log_probs[..., last, :] = -torch.inf
            log_probs[..., last, EOS] = end


def rules_for(lengths: Tensor, device: torch.device, min_length: int, forbid_unk: bool) -> Rules:
    """The rules of a search over sentences of these lengths, (S,)."""
    if min_length < 0:
        raise CourseError(f"A minimum of {min_length} words is none. Use --min-length 0 or more.")
    limits = length_limit(lengths).clamp(min=min_length + 1).to(device)
    return Rules(limits, min_length, forbid_unk)


def top_words(log_probs: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The `count` largest entries along the last axis, best first, and where they stand.

    This is `topk`, sooner: the largest entries lie in the blocks with the largest maxima, and a
    maximum is found without any order among the rest. What is left over beside whole blocks is
    looked at in any case.

    Args:
        log_probs: (..., K_y).

    Returns:
        (..., count) values and words.
    """
    width = log_probs.shape[-1]
    whole = width - width % BLOCK
    words = torch.arange(whole, width, device=log_probs.device)
    words = words.expand(*log_probs.shape[:-1], -1)
    if whole:
        maxima = log_probs[..., :whole].unflatten(-1, (-1, BLOCK)).amax(dim=-1)
        blocks = maxima.topk(min(count, maxima.shape[-1]), dim=-1).indices
        inside = blocks[..., None] * BLOCK + torch.arange(BLOCK, device=log_probs.device)
        words = torch.cat([inside.flatten(-2), words], dim=-1)
    values, places = log_probs.gather(-1, words).topk(count, dim=-1)
    return values, words.gather(-1, places)
