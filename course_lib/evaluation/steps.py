"""One translation, word by word: energies, weights and the most probable words of every step."""

from collections.abc import Sequence
from contextlib import nullcontext
from typing import NamedTuple

import torch
from torch import Tensor

from course_lib.corpora.batches import make_source
from course_lib.corpora.vocabulary import BOS
from course_lib.models import RNNsearch
from course_lib.search.hypothesis import evaluating


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
    score = getattr(getattr(model.decoder, "context", None), "score", None)
    # the decoder hands on weights alone; its energies are read where they are made
    hook = score and score.register_forward_hook(lambda _module, _given, e: scored.append(e[0]))
    alphas, best = [], []
    with hook or nullcontext(), evaluating(model):
        state = model.start(*make_source([list(source)]))
        for word in (BOS, *target):
            log_probs, alpha, state = model.step(torch.tensor([word]), state)
            alphas.append(alpha)
            best.append(log_probs[0].exp().topk(count))
    weights = [alpha[0] for alpha in alphas if alpha is not None]
    return Steps(
        torch.stack(scored) if scored else None,
        torch.stack(weights) if weights else None,
        torch.stack([one.indices for one in best]),
        torch.stack([one.values for one in best]),
    )
