"""How the cost of an update grows with sentence lengths, vocabulary and batch."""

import random
from collections.abc import Callable
from statistics import median
from typing import Any, NamedTuple

from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks

from benchmarks.machine import about
from benchmarks.rounds import Program, Step, take_turns
from benchmarks.training import MIB, ours, products, textbook
from benchmarks.workload import Workload
from course_lib.corpora.batches import EncodedPair, make_batch
from course_lib.models import ModelConfig, build_model

USUAL = {"source_length": 13, "target_length": 13, "vocabulary": 8000, "batch": 64}
"""About what Multi30k has, marks included; one of the four changes at a time."""

VALUES = {
    "source_length": (5, 10, 20, 40, 80),
    "target_length": (5, 10, 20, 40, 80),
    "vocabulary": (1000, 2000, 4000, 8000, 16000, 32000),
    "batch": (1, 4, 16, 64, 256),
}
SOURCE_VOCABULARY = 6000


class Point(NamedTuple):
    """One update to be timed: what was changed, to what, and the minibatch."""

    factor: str
    value: int
    work: Workload


def points(values: dict[str, tuple[int, ...]], **sizes: Any) -> list[Point]:
    """Every value of every factor, the others as usual: a minibatch of random words, no padding."""
    return [
        Point(factor, value, minibatch(**{**USUAL, factor: value}, **sizes))
        for factor, each in values.items()
        for value in each
    ]


def minibatch(
    source_length: int, target_length: int, vocabulary: int, batch: int, **sizes: Any
) -> Workload:
    """`batch` pairs of random words; lengths count the end mark."""
    pairs = random_pairs(batch, (source_length, SOURCE_VOCABULARY), (target_length, vocabulary))
    return Workload(pairs, batch, ModelConfig(SOURCE_VOCABULARY, vocabulary, **sizes))


def random_pairs(batch: int, *sides: tuple[int, int]) -> list[EncodedPair]:
    """Pairs of random words; `sides`: the length, end mark included, and the vocabulary of each."""
    draw = random.Random(0)

    def words(length: int, among: int) -> list[int]:
        return draw.choices(range(4, among), k=length - 1)

    source, target = sides
    return [(words(*source), words(*target)) for _ in range(batch)]


def measure_growth(
    threads: int = 1,
    rounds: int = 5,
    values: dict[str, tuple[int, ...]] = VALUES,
    **sizes: Any,
) -> dict[str, Any]:
    """Seconds of an update and memory kept for its backward pass, at every point."""
    where = points(values, **sizes)
    works = [point.work for point in where]
    programs = {
        "ours": Program(updates, (works, threads, ours)),
        "textbook": Program(updates, (works, threads, textbook)),
        "products": Program(products, (threads,)),
    }
    timings = take_turns(programs, items=len(where), rounds=rounds, warmup=len(where))
    rate = max(max(values) for values in timings["products"].values)
    middle = {
        name: [median(row[i] for row in timings[name].values) for i in range(len(where))]
        for name in ("ours", "textbook")
    }
    rows = [
        {
            "factor": point.factor,
            "value": point.value,
            "ours": middle["ours"][i],
            "textbook": middle["textbook"][i],
            "limit": point.work.flops / rate,
            "kept_mib": kept_for_backward(point.work) / MIB,
        }
        for i, point in enumerate(where)
    ]
    return {
        "what": "growth",
        "unit": "seconds an update",
        "threads": threads,
        "rounds": rounds,
        "usual": USUAL,
        "gflops_of_products": rate / 1e9,
        "rows": rows,
        **about(),
    }


def updates(works: list[Workload], threads: int, program: Callable[..., Step]) -> Step:
    """One update on minibatch i, by a model of its own where the vocabulary is another."""
    batches = [work.pairs for work in works]
    learners: dict[ModelConfig, Step] = {}

    def step(i: int) -> None:
        config = works[i].config
        if config not in learners:
            learners[config] = program(config, batches, threads)
        learners[config](i)

    return step


def kept_for_backward(work: Workload) -> int:
    """Bytes of the activations that one forward pass keeps for the backward pass."""
    model = build_model(work.config)
    known = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    kept: dict[int, int] = {}
    alive: list[Tensor] = []  # so that no address is used twice

    def pack(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in known:
            kept[storage.data_ptr()] = storage.nbytes()
            alive.append(tensor)
        return tensor

    with saved_tensors_hooks(pack, lambda tensor: tensor):
        model(make_batch(work.pairs, range(work.batch)))
    return sum(kept.values())
