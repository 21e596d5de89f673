"""What a search may write: at a sentence's limit its end, else the most probable words.

Padding and the begin mark it never writes: a reader would not see them.
"""

import torch
from torch import Tensor

from course_lib.corpora.vocabulary import BOS, EOS, PAD

BLOCK = 64
"""Words in a block, of which the largest log-probability is found first."""


def no_marks(log_probs: Tensor) -> None:
    """Leave out padding and the begin mark; log_probs (..., K_y) become -inf there in place."""
    log_probs[..., [PAD, BOS]] = -torch.inf


def end_at_limit(log_probs: Tensor, last: Tensor) -> None:
    """Leave nothing but the end mark to the sentences whose last step this is.

    Args:
        log_probs: (..., S, K_y); what is forbidden becomes -inf in place.
        last: (S,) which sentences they are, on the CPU.
    """
    if last.any():
        last = last.nonzero().squeeze(1).to(log_probs.device)
        end = log_probs[..., last, EOS]
        log_probs[..., last, :] = -torch.inf
        log_probs[..., last, EOS] = end


def top_words(log_probs: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The `count` largest entries along the last axis, best first, and where they stand.

    The same as `topk`, but faster: the vocabulary is cut into blocks, and the largest entries lie
    in the blocks with the largest maxima. The words after the last whole block are always compared.

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
