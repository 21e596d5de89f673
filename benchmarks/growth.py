"""How the cost of an update grows with sentence lengths, vocabulary and batch."""

import random
from collections.abc import Iterator, Mapping
from statistics import median
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks

from benchmarks.flops import training_flops
from benchmarks.machine import about
from benchmarks.rounds import Program, Step, take_turns
from benchmarks.textbook import Seq2Seq, collate
from benchmarks.training import MIB, products, update
from benchmarks.workload import Workload
from course_lib.corpora.batches import EncodedPair, make_batch
from course_lib.freed_memory import keep_freed_memory
from course_lib.models import ModelConfig, build_model
from course_lib.training.recipe import Recipe, make_optimiser

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
    draw = random.Random(0)

    def words(length: int, among: int) -> list[int]:
        return [draw.randrange(4, among) for _ in range(length - 1)]

    pairs: list[EncodedPair] = [
        (words(source_length, SOURCE_VOCABULARY), words(target_length, vocabulary))
        for _ in range(batch)
    ]
    return Workload(pairs, batch, ModelConfig(SOURCE_VOCABULARY, vocabulary, **sizes))


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
        "ours": Program(updates, (works, threads, True)),
        "textbook": Program(updates, (works, threads, False)),
        "products": Program(products, (threads, torch.float32)),
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
            "limit": training_flops(point.work.pairs, point.work.config) / rate,
            "kept_mib": kept_for_backward(point.work, library=True) / MIB,
            "kept_mib_textbook": kept_for_backward(point.work, library=False) / MIB,
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


def updates(works: list[Workload], threads: int, library: bool) -> Step:
    """One update on minibatch i, by a model of its own where the vocabulary is another."""
    torch.set_num_threads(threads)
    if library:
        keep_freed_memory()
    learners: dict[ModelConfig, Step] = {}

    def step(i: int) -> None:
        config = works[i].config
        if config not in learners:
            learners[config] = learner(works, config, library)
        learners[config](i)

    return step


def learner(works: list[Workload], config: ModelConfig, library: bool) -> Step:
    """One update of a model on minibatch i, all pairs of which are one batch."""
    if library:
        model = build_model(config)

        def loss_of(i: int) -> Tensor:
            loss, count = model.loss(make_batch(works[i].pairs, range(works[i].batch)))
            return loss / count

        return update(model, make_optimiser(model.parameters(), Recipe()), loss_of, bf16=False)
    other = Seq2Seq(config)

    def textbook_loss(i: int) -> Tensor:
        loss, count = other(*collate(works[i].pairs))
        return loss / count

    return update(other, torch.optim.Adam(other.parameters()), textbook_loss, bf16=False)


def kept_for_backward(work: Workload, library: bool) -> int:
    """Bytes of the activations that one forward pass keeps for the backward pass."""
    model = build_model(work.config) if library else Seq2Seq(work.config)
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
        if library:
            model(make_batch(work.pairs, range(work.batch)))
        else:
            model(*collate(work.pairs))
    return sum(kept.values())


def by_factor(result: Mapping[str, Any]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The rows of each factor, in the order of its values."""
    for factor in dict.fromkeys(row["factor"] for row in result["rows"]):
        yield factor, [row for row in result["rows"] if row["factor"] == factor]
