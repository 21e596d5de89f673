"""Training speed: the library against the textbook, bucketed and not, and against the limit."""

from collections.abc import Callable
from contextlib import nullcontext
from statistics import median
from typing import Any

import torch
from torch import nn

from benchmarks.machine import about, product_rates
from benchmarks.rounds import Program, Step, Timing, take_turns
from benchmarks.textbook import Seq2Seq, collate
from benchmarks.workload import Workload, workload
from course_lib.allocator import keep_freed_memory
from course_lib.corpora.batches import EncodedPair, make_batch
from course_lib.models import ModelConfig, RNNsearch, build_model
from course_lib.training.recipe import Recipe, has_fast_bf16, make_optimiser

MIB = 2**20
CLIP = 1.0
RECIPE = Recipe()

Minibatches = list[list[EncodedPair]]


def measure_training(
    corpus: str = "multi30k", threads: int = 1, batch: int = 64, rounds: int = 5
) -> dict[str, Any]:
    """Target tokens a second of forward, backward, clipping and update, all on the same pairs.

    Returns the numbers of `course bench train`: speeds are medians over the rounds, `limit` is what
    the largest matrix-product rate seen in any round would allow.
    """
    return compare(workload(corpus, batch), corpus, threads, rounds)


def compare(work: Workload, corpus: str, threads: int, rounds: int) -> dict[str, Any]:
    """Measure all programs on one workload."""
    programs = {
        "ours": Program(ours, (work.config, work.bucketed(), threads)),
        "textbook": Program(textbook, (work.config, work.shuffled(), threads)),
        "textbook_bucketed": Program(textbook, (work.config, work.bucketed(), threads)),
        "products": Program(products, (threads,)),
    }
    if has_fast_bf16():
        programs["ours_bf16"] = Program(
            ours, (work.config, work.bucketed(), threads, Recipe(), True)
        )
    timings = take_turns(programs, items=len(work.shuffled()), rounds=rounds)
    return {"what": "train", "corpus": corpus, **summary(work, timings, threads, rounds)}


def summary(
    work: Workload, timings: dict[str, Timing], threads: int, rounds: int
) -> dict[str, Any]:
    """Speeds, ratios and memory from what was timed."""
    speeds = {
        name: median(work.target_tokens / sum(seconds) for seconds in timing.values)
        for name, timing in timings.items()
        if name != "products"
    }
    flops_a_token = work.flops / work.target_tokens
    rate = max(max(values) for values in timings["products"].values)
    limit = rate / flops_a_token
    return {
        "unit": "target tokens a second",
        "threads": threads,
        "batch": work.batch,
        "rounds": rounds,
        "pairs": len(work.pairs),
        "target_tokens": work.target_tokens,
        "ours": speeds["ours"],
        "textbook": speeds["textbook"],
        "textbook_bucketed": speeds["textbook_bucketed"],
        "ratio": speeds["ours"] / speeds["textbook"],
        "ratio_bucketed": speeds["ours"] / speeds["textbook_bucketed"],
        "limit": limit,
        "fraction_of_limit": speeds["ours"] / limit,
        "mflop_a_token": flops_a_token / 1e6,
        "gflops_of_products": rate / 1e9,
        "ours_bf16": speeds.get("ours_bf16"),
        "peak_mib": {name: timings[name].peak / MIB for name in speeds},
        **about(),
    }


def ours(
    config: ModelConfig,
    batches: Minibatches,
    threads: int,
    recipe: Recipe = RECIPE,
    bf16: bool = False,
) -> Step:
    """One update of the library's model on minibatch i, as `course train` does it."""
    torch.set_num_threads(threads)
    keep_freed_memory()
    return learning(build_model(config), batches, recipe, bf16)


def learning(model: RNNsearch, batches: Minibatches, recipe: Recipe, bf16: bool = False) -> Step:
    """One update of this model on minibatch i."""

    def loss_of(i: int) -> torch.Tensor:
        loss, count = model.loss(make_batch(batches[i], range(len(batches[i]))))
        return loss / count

    return update(model, make_optimiser(model.parameters(), recipe), loss_of, bf16)


def textbook(config: ModelConfig, batches: Minibatches, threads: int) -> Step:
    """One update of the textbook's model on minibatch i."""
    torch.set_num_threads(threads)
    model = Seq2Seq(config)

    def loss_of(i: int) -> torch.Tensor:
        loss, count = model(*collate(batches[i]))
        return loss / count

    return update(model, torch.optim.Adam(model.parameters()), loss_of, bf16=False)


def update(
    model: nn.Module,
    optimiser: torch.optim.Optimizer,
    loss_of: Callable[[int], torch.Tensor],
    bf16: bool,
) -> Step:
    """Forward, backward, clipping and update on item i."""

    def step(i: int) -> None:
        with torch.autocast("cpu", torch.bfloat16) if bf16 else nullcontext():
            loss = loss_of(i)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimiser.step()
        optimiser.zero_grad()

    return step


def products(threads: int) -> Step:
    """The rate of a large matrix product, in operations a second: another shape with each item."""
    torch.set_num_threads(threads)
    rates = product_rates()
    return lambda i: rates[i % len(rates)]()
