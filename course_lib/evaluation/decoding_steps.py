"""One translation, word by word: energies, weights and the most probable words of every step."""

from collections.abc import Sequence
from contextlib import nullcontext
from typing import NamedTuple

import torch
from torch import Tensor

from course_lib.corpora.vocabulary import BOS
from course_lib.models import Attention, RNNsearch
from course_lib.search.hypothesis import evaluating, sources_for


class Steps(NamedTuple):
    """What a decoder did at each of its T_y steps, the end mark's included.

    Attributes:
        energies: (T_y, T_x), e_ij; None where the context scores nothing.
        alpha: (T_y, T_x), the weights; None where there are none.
        words: (T_y, count), the most probable words, best first.
        probabilities: (T_y, count), theirs.
    """

    energies: Tensor | None
    alpha: Tensor | None
    words: Tensor
    probabilities: Tensor


@torch.no_grad()
def decoding_steps(
    model: RNNsearch, source: Sequence[int], target: Sequence[int], count: int = 5
) -> Steps:
    """Follow a model while it writes `target` for `source`, both without their end marks."""
    scored: list[Tensor] = []
    attention = getattr(model.decoder, "attention", None)

    def score(module: Attention, given: tuple[Tensor, ...]) -> None:
        """Note the energies of what attention is about to be asked."""
        scored.append(module.energies(*given[:2])[0])

    hook = None
    if isinstance(attention, Attention):
        hook = attention.register_forward_pre_hook(score)
    alphas, best = [], []
    with hook or nullcontext(), evaluating(model):
        state = model.start(*sources_for(model, [list(source)]))
        for word in (BOS, *target):
            y = torch.tensor([word], device=state.s.device)
            log_probs, alpha, state = model.step(y, state)
            alphas.append(alpha)
            best.append(log_probs[0].exp().topk(count))
    weights = [alpha[0] for alpha in alphas if alpha is not None]
    return Steps(
        torch.stack(scored) if scored else None,
        torch.stack(weights) if weights else None,
        torch.stack([one.indices for one in best]),
        torch.stack([one.values for one in best]),
    )
