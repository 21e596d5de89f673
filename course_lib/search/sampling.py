"""Sampling: the next word drawn from the model's distribution, or from its most probable part."""

import math
import random
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from course_lib.errors import CourseError
from course_lib.models import RNNsearch
from course_lib.search.greedy import write_hypotheses
from course_lib.search.hypothesis import Hypothesis, length_limit


def generators(seed: int, positions: Sequence[int]) -> list[torch.Generator]:
    """A source of randomness for each sentence, from the seed and its position in its list alone.

    So a sentence's sample depends neither on its batch nor on the order in which batches are made,
    and the same sentence at two positions is sampled twice.
    """
    return [
        torch.Generator().manual_seed(random.Random(f"{seed}-{position}").getrandbits(63))
        for position in positions
    ]


def sample_search(
    model: RNNsearch,
    source: Tensor,
    lengths: Tensor,
    mask: Tensor,
    draws: Sequence[torch.Generator],
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> list[Hypothesis]:
    """Draw one translation of each sentence of a batch, (B, T_x) word numbers.

    Args:
        draws: a generator on the CPU for each sentence (see `generators`), from which a number is
            taken for each step that the sentence may have.
        temperature, top_k, top_p: see `narrowed`. Without them words come from p(y_i | y_<i, x).

    Returns:
        hypotheses whose log_prob is the model's own, whatever the narrowing.
    """
    check_sampling(temperature, top_k, top_p)
    uniform = pad_sequence(
        [
            torch.rand(limit, generator=draw, dtype=torch.float64)
            for limit, draw in zip(length_limit(lengths).tolist(), draws, strict=True)
        ],
        batch_first=True,
    )

    def choose(log_probs: Tensor, going: Tensor, step: int) -> Tensor:
        # On the CPU: Apple's cards have no double precision.
        shares = narrowed(log_probs.cpu(), temperature, top_k, top_p)
        return draw_words(shares, uniform[going, step]).to(log_probs.device)

    return write_hypotheses(model, source, lengths, mask, choose)


def narrowed(
    log_probs: Tensor,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Tensor:
    """The distribution that words are drawn from, (..., K_y), of (..., K_y) log-probabilities.

    First p ** (1 / temperature), normalised again: below 1 the probable becomes more probable, 1
    leaves p as it is. Of that the `top_k` most probable words (Fan et al., 2018), and of what is
    then left, normalised again, the nucleus: the smallest set of most probable words that together
    have at least `top_p` (Holtzman et al., 2020). What remains is normalised a last time. In double
    precision, so that sums over a vocabulary come out exactly enough to draw from.
    """
    scaled = torch.softmax(log_probs.double() / temperature, dim=-1)
    if top_k is None and top_p is None:
        return scaled
    count = scaled.shape[-1] if top_k is None else min(top_k, scaled.shape[-1])
    best, words = scaled.topk(count, dim=-1)
    if top_p is not None:
        share = best / best.sum(dim=-1, keepdim=True)
        # A word is in the nucleus while those before it do not yet have enough.
        before = functional.pad(share.cumsum(dim=-1)[..., :-1], (1, 0))
        best = best.masked_fill(before >= top_p, 0.0)
    kept = torch.zeros_like(scaled).scatter(-1, words, best)
    return kept / kept.sum(dim=-1, keepdim=True)


def draw_words(probabilities: Tensor, uniform: Tensor) -> Tensor:
    """A word for each row: (R, K_y) probabilities and (R,) numbers in [0, 1) to (R,) words.

    The interval from 0 to 1 is cut into pieces as long as the words are probable, in the order of
    their numbers; the word is the piece that the number falls into. One number makes one word, so
    the rest of the batch has no part in it.
    """
    ends = probabilities.cumsum(dim=-1)
    return torch.searchsorted(ends, uniform[:, None] * ends[:, -1:], right=True).squeeze(1)


def check_sampling(temperature: float, top_k: int | None, top_p: float | None) -> None:
    """Refuse settings that say nothing."""
    if not 0 < temperature < math.inf:
        raise CourseError(
            f"Nothing can be drawn at temperature {temperature}. Use one above 0, or greedy search "
            "for the most probable words."
        )
    if top_k is not None and top_k < 1:
        raise CourseError(f"The {top_k} most probable words are none. Use top_k=1 or more.")
    if top_p is not None and not 0 < top_p <= 1:
        raise CourseError(f"No set of words has probability {top_p}. Use top_p above 0, up to 1.")
