"""Scheduled sampling (S. Bengio et al., 2015): some of the words given are the model's own."""

import torch

from course_lib.corpora.batches import Batch
from course_lib.models import RNNsearch


@torch.no_grad()
def mixed_words(model: RNNsearch, batch: Batch, given: float) -> Batch:
    """The batch whose decoder is given each true word with probability `given`, else a drawn one.

    The drawn word is from the model's own distribution at that place, after the words given so far
    (Section 2.4). No gradient goes through the draw, so the words are drawn before the loss.
    """
    state = model.start(batch.source, batch.source_lengths, batch.source_mask)
    words = [batch.target_in[:, 0]]
    for true in batch.target_in[:, 1:].unbind(dim=1):
        log_probs, _, state = model.step(words[-1], state)
        drawn = torch.multinomial(log_probs.exp(), 1).squeeze(1)
        keep = torch.rand(len(true), device=true.device) < given
        words.append(torch.where(keep, true, drawn))
    return batch._replace(target_in=torch.stack(words, dim=1))
