"""Greedy search: the most probable word, at every step."""

import torch
from torch import Tensor

from course_lib.corpora.vocabulary import BOS, EOS
from course_lib.models import EncoderDecoder
from course_lib.search.hypothesis import Hypothesis
from course_lib.search.rules import rules_for
from course_lib.search.written import Written


@torch.no_grad()
def greedy_search(
    model: EncoderDecoder,
    source: Tensor,
    lengths: Tensor,
    mask: Tensor,
    *,
    min_length: int = 0,
    forbid_unk: bool = False,
) -> list[Hypothesis]:
    """Translate a batch of sentences, (B, T_x) word numbers; finished sentences leave the batch.

    The end mark is not chosen before `min_length` words, and [UNK] not at all with `forbid_unk`.
    """
    rules = rules_for(lengths, source.device, min_length, forbid_unk)
    state = model.start(source, lengths, mask)
    rows = torch.arange(len(source), device=source.device)  # the sentences still being written
    y = torch.full_like(rows, BOS)
    written = Written(lengths)
    while len(rows):
        log_probs, alpha, state = model.step(y, state)
        rules.apply(log_probs, len(written) + 1, rows)
        best, y = log_probs.max(dim=-1)
        written.add(rows, y, best, alpha)
        going = y != EOS
        if not going.all():
            keep = going.nonzero().squeeze(1)
            rows, y, state = rows[keep], y[keep], state.select(keep)
    return written.hypotheses()
