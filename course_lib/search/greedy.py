"""Greedy search: the most probable word, at every step."""

import torch
from torch import Tensor

from course_lib.corpora.vocabulary import BOS, EOS
from course_lib.models import EncoderDecoder
from course_lib.search.hypothesis import Hypothesis
from course_lib.search.next_words import NextWords
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
    words = NextWords(model, source, lengths, mask, min_length, forbid_unk)
    state = words.start
    rows = torch.arange(len(source), device=source.device)  # the sentences still being written
    y = torch.full_like(rows, BOS)
    written = Written(lengths)
    while len(rows):
        t, alpha, state = words.advance(y, state, [len(rows)])
        log_probs, best = words.best(t, len(written) + 1, rows, 1)
        y = best[:, 0]
        written.add(rows, y, log_probs[:, 0], alpha)
        going = y != EOS
        if not going.all():
            keep = going.nonzero().squeeze(1)
            rows, y, state = rows[keep], y[keep], state.select(keep)
    return written.hypotheses()
