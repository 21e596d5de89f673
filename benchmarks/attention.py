"""What one look back costs, for every score: keys projected once a sentence, or at every step."""

from itertools import product
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.machine import about, copy_rate, product_rates, seconds_in_turn, tanh_rate
from course_lib.models import ModelConfig, assemble
from course_lib.models.local_attention import LocalAttention
from course_lib.models.rnnsearch import Attention
from course_lib.models.scores import ConcatAttention

SCORES: dict[str, dict[str, Any]] = {
    "additive": {},
    "concat": {"context": "concat"},
    "general": {"context": "general"},
    "dot": {"context": "dot", "encoder": "forward"},
    "scaled-dot": {"context": "scaled-dot", "encoder": "forward"},
    "local": {"context": "general", "window": 10},
}
"""Each as what it sets against RNNsearch; dot products need annotations as wide as s."""

LENGTHS = (10, 40, 160)
"""Source words; the first are about the mean length of a sentence."""


def measure_attention(
    threads: int = 1,
    batch: int = 64,
    rounds: int = 5,
    size: int = 256,
    lengths: tuple[int, ...] = LENGTHS,
) -> dict[str, Any]:
    """Steps a second of each score at each source length, and what bounds them.

    The summary is of the first row.

    One step is the energies, the weights and the context of a batch of queries, without gradients.
    The textbook's projects the keys within it. The limit is the longest of three times: that of its
    matrix products at the largest rate measured, that of reading keys and annotations once at the
    rate at which arrays of this size are read, and that of its tanh at the rate measured for them.
    """
    torch.set_num_threads(threads)
    products = max(rate() for rate in product_rates() for _ in range(5))
    rates = {"products": products, "tanh": tanh_rate()}
    rows = [
        {"score": score, "size": size, "source_length": t_x}
        | _measure(*_case(score, size), batch, size, t_x, rounds, rates)
        for score, t_x in product(SCORES, lengths)
    ]
    return {
        "what": "attention",
        "unit": "attention steps a second",
        "threads": threads,
        "batch": batch,
        "rounds": rounds,
        **rows[0],
        "gflops_of_products": rates["products"] / 1e9,
        "billion_tanh_a_second": rates["tanh"] / 1e9,
        "rows": rows,
        **about(),
    }


def _case(score: str, n: int) -> tuple[Attention, int]:
    """An attention, and the numbers in the annotations that it looks at."""
    sizes = {"embedding": n, "hidden": n, "alignment": n, "readout": n}
    config = ModelConfig(8, 8, **{**sizes, **SCORES[score]})
    attention = assemble(config).decoder.attention
    assert isinstance(attention, Attention)
    return attention, config.annotation_size


@torch.no_grad()
def _measure(
    attention: Attention,
    width: int,
    batch: int,
    n: int,
    t_x: int,
    rounds: int,
    rates: dict[str, float],
) -> dict[str, Any]:
    annotations = torch.randn(batch, t_x, width)
    mask = torch.ones(batch, t_x, dtype=torch.bool)
    query = torch.randn(batch, n)
    keys = attention.keys(annotations)

    def ours() -> None:
        attention(query, keys, annotations, mask)

    def textbook() -> None:
        attention(query, attention.keys(annotations), annotations, mask)

    seconds, seconds_textbook = seconds_in_turn((ours, textbook), rounds)
    with FlopCounterMode(display=False) as counter:
        ours()
    numbers = keys.numel() + annotations.numel()
    times_at_best = {
        "products": counter.get_total_flops() / rates["products"],
        "memory": 4 * numbers / copy_rate(max(1, numbers // 3)),
        "tanh": _tanhs(attention, batch, n, t_x) / rates["tanh"],
    }
    bound = max(times_at_best, key=lambda name: times_at_best[name])
    limit = 1 / times_at_best[bound]
    return {
        "ours": 1 / seconds,
        "textbook": 1 / seconds_textbook,
        "ratio": seconds_textbook / seconds,
        "limit": limit,
        "fraction_of_limit": 1 / seconds / limit,
        "bounded_by": bound,
    }


def _tanhs(attention: Attention, batch: int, n: int, t_x: int) -> int:
    """How many numbers go through tanh in one step: a hidden layer's, and those of a window."""
    hidden = type(attention) in (Attention, ConcatAttention)
    return batch * n * (t_x * hidden + isinstance(attention, LocalAttention))
