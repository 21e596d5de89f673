"""Greedy search: the most probable word, at every step."""

import torch
from torch import Tensor

from course_lib.corpora.vocabulary import BOS, EOS
from course_lib.models import EncoderDecoder
from course_lib.search.hypothesis import Hypothesis, length_limit


@torch.no_grad()
def greedy_search(
    model: EncoderDecoder, source: Tensor, lengths: Tensor, mask: Tensor
) -> list[Hypothesis]:
    """Translate a batch of sentences, (B, T_x) word numbers; finished sentences leave the batch."""
    state = model.start(source, lengths, mask)
    limits = length_limit(lengths).to(source.device)
    rows = torch.arange(len(source), device=source.device)  # the sentences still being written
    y = torch.full_like(rows, BOS)
    tokens: list[list[int]] = [[] for _ in rows]
    log_probs = state.s.new_zeros(len(rows))
    alphas: list[list[Tensor]] = [[] for _ in rows]
    step = 0
    while len(rows):
        step += 1
        scores, alpha, state = model.step(y, state)
        y = torch.where(limits[rows] == step, EOS, scores.argmax(dim=-1))
        log_probs[rows] += scores.gather(-1, y[:, None]).squeeze(-1)
        for place, (row, token) in enumerate(zip(rows.tolist(), y.tolist(), strict=True)):
            tokens[row].append(token)
            if alpha is not None:
                alphas[row].append(alpha[place, : int(lengths[row])])
        going = y != EOS
        if not going.all():
            keep = going.nonzero().squeeze(-1)
            rows, y, state = rows[keep], y[keep], state.select(keep)
    return [
        Hypothesis(written[:-1], log_prob, log_prob / len(written), torch.stack(a) if a else None)
        for written, log_prob, a in zip(tokens, log_probs.tolist(), alphas, strict=True)
    ]
