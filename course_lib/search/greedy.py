"""Greedy search: the most probable word, at every step."""

import torch
from torch import Tensor

from course_lib.corpora.vocabulary import BOS, EOS
from course_lib.models import EncoderDecoder
from course_lib.search.hypothesis import Hypothesis, length_limit
from course_lib.search.rules import end_at_limit
from course_lib.search.written import Written


@torch.no_grad()
def greedy_search(
    model: EncoderDecoder, source: Tensor, lengths: Tensor, mask: Tensor
) -> list[Hypothesis]:
    """Translate a batch of sentences, (B, T_x) word numbers; finished sentences leave the batch."""
    limits = length_limit(lengths).to(source.device)
    state = model.start(source, lengths, mask)
    rows = torch.arange(len(source), device=source.device)  # the sentences still being written
    y = torch.full_like(rows, BOS)
    written = Written(lengths)
    while len(rows):
        log_probs, alpha, state = model.step(y, state)
        end_at_limit(log_probs, limits[rows] == len(written) + 1)
        best, y = log_probs.max(dim=-1)
        written.add(rows, y, best, alpha)
        going = y != EOS
        if not going.all():
            keep = going.nonzero().squeeze(1)
            rows, y, state = rows[keep], y[keep], state.select(keep)
    return written.hypotheses()
