"""The cost model against measurements: memory of real processes, time of updates and trainings."""

import json
import tempfile
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import torch

from benchmarks.growth import SOURCE_VOCABULARY, USUAL, random_pairs
from benchmarks.machine import about
from benchmarks.pipeline import MIB, alone
from benchmarks.rounds import peak_memory
from benchmarks.training import ours
from course_lib.corpora import load_corpus
from course_lib.freed_memory import keep_freed_memory
from course_lib.models import ModelConfig, model_config
from course_lib.training import RunConfig, cost, load_run, train
from course_lib.training.recipe import RECIPES

RESULTS = Path(__file__).parent / "results"
UPDATES = 2


class Point(NamedTuple):
    """A training whose memory is measured; `length` is that of both sides, marks included."""

    model: str
    preset: str
    vocabulary: int
    batch: int
    length: int


POINTS = (
    Point("rnnsearch", "smoke", 8_000, 32, 14),
    Point("rnnsearch", "cpu", 8_000, 64, 14),
    Point("rnnencdec", "cpu", 8_000, 64, 14),
    Point("rnnsearch", "cpu", 8_000, 256, 30),
    Point("rnnsearch", "gpu", 8_000, 128, 14),
    Point("rnnsearch", "paper", 30_000, 16, 20),
    Point("rnnencdec", "paper", 30_000, 16, 20),
)
"""The two constants of the cost model's memory were set on these."""
OTHERS = (
    Point("rnnsearch", "cpu", 16_000, 128, 20),
    Point("rnnencdec", "gpu", 8_000, 32, 40),
    Point("rnnsearch", "laptop", 4_000, 64, 16),
    Point("rnnencdec", "laptop", 4_000, 128, 30),
    Point("rnnsearch", "best", 10_000, 64, 16),
)
"""What they have to hold for."""


WHOLE = tuple(
    RunConfig(
        model, "multi30k", "en-de", "cpu", changes={**sizes, "epochs": 1, "precision": "bf16"}
    )
    for model in ("rnnencdec", "rnnsearch")
    for sizes in ({}, dict.fromkeys(("embedding", "hidden", "alignment", "readout"), 128))
)
"""Trainings of one pass, with the preset's sizes and with half of them."""


def measure_cost() -> dict[str, Any]:
    """Predictions beside measurements: updates are those of `growth`, the rest is measured now."""
    rows = [
        *memory_rows(POINTS),
        *memory_rows(OTHERS, "peak memory, MiB, other sizes"),
        *update_rows(),
        *whole_rows(WHOLE),
    ]
    return {"what": "cost", "rows": rows, "errors": errors_of(rows), **about()}


def errors_of(rows: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """For each quantity the points, the median size of the relative error, and the worst error."""
    errors: dict[str, list[float]] = {}
    for row in rows:
        errors.setdefault(row["quantity"], []).append(row["predicted"] / row["measured"] - 1)
    return {
        quantity: {
            "points": len(each),
            "median": median(map(abs, each)),
            "worst": max(each, key=abs),
        }
        for quantity, each in errors.items()
    }


def memory_rows(
    points: tuple[Point, ...], quantity: str = "peak memory, MiB"
) -> list[dict[str, Any]]:
    """Peak memory of a process that makes some updates, predicted and measured."""
    return [
        {
            "quantity": quantity,
            "what": f"{point.model}, {point.preset}, {point.batch} pairs of {point.length}",
            "predicted": sum(
                cost.memory(configured(point), point.batch, point.length, point.length).values()
            )
            / MIB,
            "measured": alone(peak_of_training, point) / MIB,
        }
        for point in points
    ]


def configured(point: Point) -> ModelConfig:
    """The model of a point."""
    return model_config(point.model, point.preset, point.vocabulary, point.vocabulary)


def peak_of_training(point: Point) -> int:
    """The most memory that a process holds which makes some updates as `course train` does."""
    side = point.length, point.vocabulary
    pairs = random_pairs(point.batch, side, side)
    update = ours(configured(point), [pairs], 1, RECIPES[point.preset])
    for _ in range(UPDATES):
        update(0)
    return peak_memory()


def update_rows() -> list[dict[str, Any]]:
    """Milliseconds of an update at the sizes of `growth`, from the rate of its usual one."""
    rows = json.loads((RESULTS / "growth.json").read_text())["rows"]

    def flops(row: dict[str, Any]) -> float:
        sizes = {**USUAL, row["factor"]: row["value"]}
        x, y, batch = (sizes[key] for key in ("source_length", "target_length", "batch"))
        config = ModelConfig(SOURCE_VOCABULARY, sizes["vocabulary"])
        return batch * cost.training_flops(config, x, y)

    [usual] = [row for row in rows if (row["factor"], row["value"]) == ("batch", USUAL["batch"])]
    rate = flops(usual) / usual["ours"]
    return [
        {
            "quantity": "time of an update, ms",
            "what": f"{row['factor'].replace('_', ' ')} {row['value']}",
            "predicted": 1e3 * flops(row) / rate,
            "measured": 1e3 * row["ours"],
        }
        for row in rows
        if row is not usual
    ]


def whole_rows(configs: tuple[RunConfig, ...]) -> list[dict[str, Any]]:
    """Minutes of whole trainings that have the machine to themselves."""
    rows = []
    for config in configs:
        model, updates, seconds = alone(trained, config)
        rows.append(
            {
                "quantity": "time of a training alone, minutes",
                "what": f"{config.model}, n = {model.hidden}, {updates} updates",
                "predicted": minutes(model, updates, config.recipe.batch_size),
                "measured": seconds / 60,
            }
        )
    return rows


def trained(config: RunConfig) -> tuple[ModelConfig, int, float]:
    """The model that `course train` makes, its updates, and their seconds on one thread."""
    torch.set_num_threads(1)
    keep_freed_memory()
    corpus = load_corpus(config.corpus, config.pair, **config.corpus_options)
    with tempfile.TemporaryDirectory() as name:
        out = Path(name) / "run"
        last = train(config, corpus, out, quiet=True).metrics[-1]
        return load_run(out).model.config, last["step"], last["seconds"]


def minutes(config: ModelConfig, updates: int, pairs: int) -> float:
    """What so many updates on Multi30k should take on one thread in bf16.

    From the rate of `course bench train` at the preset's size, in operations a second.
    """
    bench = json.loads((RESULTS / "train-1-threads-batch-64.json").read_text())
    words = bench["target_tokens"] / bench["pairs"] - 1
    rate = bench["ours_bf16"] * bench["mflop_a_token"] * 1e6
    return cost.seconds(config, cost.Workload(updates, pairs, words, words), flops=rate) / 60
