"""Where an update's time goes, and what the same product costs when it is asked for in two ways."""

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional
from torch.profiler import ProfilerActivity, profile

from benchmarks.machine import about, seconds_in_turn
from benchmarks.training import ours
from benchmarks.workload import workload

KINDS = {
    "matrix products": ("mm", "addmm", "bmm", "baddbmm"),
    "tanh and sigma, with derivatives": (
        *("tanh", "tanh_", "tanh_backward", "sigmoid", "sigmoid_", "sigmoid_backward"),
    ),
    "softmax and loss": (
        *("_softmax", "_softmax_backward_data", "_log_softmax", "_log_softmax_backward_data"),
        *("nll_loss_forward", "nll_loss_backward"),
    ),
    "clipping and Adam": ("_fused_adam_", "linalg_vector_norm", "stack", "clamp"),
    "sums of gradients": ("add_", "sum"),
    "other element-wise work, copies": (
        *("add", "mul", "mul_", "sub", "sub_", "lerp", "addcmul", "maximum", "copy_", "cat"),
        *("fill_", "masked_fill_", "where", "bitwise_not", "index_select", "_index_put_impl_"),
        *("scatter_add_", "neg", "rsub", "eq", "ge", "lt", "div", "constant_pad_nd"),
    ),
}
OTHER = "starting operations, keeping track of gradients"


def measure_update(corpus: str = "multi30k", batch: int = 64) -> dict[str, Any]:
    """Shares of the time of updates on one thread, by kind of operation, from torch's profiler."""
    work = workload(corpus, batch)
    step = ours(work.config, work.bucketed(), threads=1)
    items = range(len(work.bucketed()))
    for i in items:
        step(i)
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        for i in items:
            step(i)
    kind_of = {f"aten::{name}": kind for kind, names in KINDS.items() for name in names}
    microseconds = dict.fromkeys([*KINDS, OTHER], 0.0)
    for event in profiler.key_averages():
        microseconds[kind_of.get(event.key, OTHER)] += event.self_cpu_time_total
    everything = sum(microseconds.values())
    return {
        "what": "update",
        "corpus": corpus,
        "batch": batch,
        "threads": 1,
        "milliseconds_an_update": everything / len(items) / 1e3,
        "shares": {kind: each / everything for kind, each in microseconds.items()},
        **about(),
    }


def measure_products(rounds: int = 15) -> dict[str, Any]:
    """Milliseconds of the same result computed in the way one writes first and in the library's."""
    torch.set_num_threads(1)
    rows = []
    for what, *ways in _pairs():
        first, library = (1e3 * seconds for seconds in seconds_in_turn(ways, rounds))
        rows.append({"what": what, "first": first, "library": library})
    return {"what": "products", "threads": 1, "rounds": rounds, "rows": rows, **about()}


def _pairs() -> list[tuple[str, Callable[[], Any], Callable[[], Any]]]:
    """What is computed, as one writes it first, and as the library does."""
    t, W_o = torch.randn(832, 256), torch.randn(7859, 256)
    wide = functional.pad(W_o, (0, 0, 0, -len(W_o) % 16))
    keys, query = torch.randn(64, 14, 512), torch.randn(64, 512)
    return [
        (
            f"{len(t)} rows by 256 by {W_o.shape[0]:,} columns; by {wide.shape[0]:,}",
            lambda: t @ W_o.t(),
            lambda: t @ wide.t(),
        ),
        (
            "64 dot products of a query with 14 keys of 512 numbers: H s; s' H'",
            lambda: torch.bmm(keys, query[..., None]),
            lambda: torch.bmm(query[:, None], keys.transpose(1, 2)),
        ),
    ]
