"""Greedy search: the most probable word, at every step."""

from collections.abc import Callable

import torch
from torch import Tensor

from course_lib.corpora.vocabulary import BOS, EOS
from course_lib.models import RNNsearch
from course_lib.models.precision import at_least_single
from course_lib.search.hypothesis import Hypothesis, check_numbers, cut, length_limit, look_back_of
from course_lib.search.rules import end_at_limit, no_marks

Choose = Callable[[Tensor, Tensor, int], Tensor]
"""The next words, (R,), on the device of the (R, K_y) log-probabilities; which sentences they are,
on the CPU, and the steps before."""


def greedy_search(
    model: RNNsearch, source: Tensor, lengths: Tensor, mask: Tensor
) -> list[Hypothesis]:
    """Translate a batch of sentences, (B, T_x) word numbers."""
    return write_hypotheses(
        model, source, lengths, mask, lambda log_probs, *_: log_probs.max(dim=-1).indices
    )


@torch.no_grad()
def write_hypotheses(
    model: RNNsearch, source: Tensor, lengths: Tensor, mask: Tensor, choose: Choose
) -> list[Hypothesis]:
    """One hypothesis of each sentence, word by word; finished sentences leave the batch.

    Its score is the mean log-probability of its words, the end mark the last of them.
    """
    limits = length_limit(lengths)  # on the CPU, as `going`: a card is asked once a step
    state = model.start(source, lengths, mask)
    going = torch.arange(len(source))  # the sentences still being written
    rows = going.to(source.device)
    y = torch.full_like(rows, BOS)
    tokens = rows.new_zeros(len(rows), int(limits.max()))
    written, total = torch.zeros_like(rows), at_least_single(state.s.new_zeros(len(rows)))
    alphas = None
    for step in range(tokens.shape[1]):
        log_probs, alpha, state = model.step(y, state)
        no_marks(log_probs)
        end_at_limit(log_probs, limits[going] == step + 1)
        y = choose(log_probs, going, step)
        # The one place in a step where the CPU waits for a card.
        goes_on, nan = torch.stack([y != EOS, log_probs[:, EOS].isnan()]).cpu()
        check_numbers(nan)
        tokens[rows, step] = y
        total[rows] += log_probs.gather(1, y[:, None]).squeeze(1)
        written[rows] += 1
        if alpha is not None:
            alphas = alpha.new_zeros(*tokens.shape, alpha.shape[1]) if alphas is None else alphas
            alphas[rows, step] = alpha
        keep = goes_on.nonzero().squeeze(1)
        if not len(keep):
            break
        if len(keep) < len(rows):
            going, keep = going[keep], keep.to(y.device)
            rows, y = rows[keep], y[keep]
            state = look_back_of(state._replace(s=state.s[keep]), keep)
    return cut(tokens, written, total, total / written, alphas, lengths)
