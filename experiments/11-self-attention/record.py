"""Record what becomes of RNNsearch when another encoder writes its memory.

The same small RNNsearch on the embedded corpus with the bidirectional encoder, with one layer of
self-attention in its place, and with that layer robbed of its positions; the same pairs, recipe
and decoder for all, each trained until its validation loss no longer falls. Beside its result each
run says whether the encoder was told `positions` and how many `cpu_seconds` the training took.
"""

from functools import partial
from typing import Any

from experiments.recording import (
    SMALL,
    Part,
    Read,
    Runs,
    Trained,
    check_runs,
    check_same,
    name_of,
    searching_runs,
    small_runs,
)

SETTINGS: dict[str, Any] = {
    **SMALL,
    "corpus.clauses": [1, 1],
    "corpus.train": 3_000,
    "corpus.val": 100,
    "corpus.test": 300,
    "epochs": 30,
    "batch_size": 32,
    "learning_rate": 5e-3,
}
ENCODERS: dict[str, dict[str, Any]] = {
    "bidirectional": {"encoder": "bidirectional"},
    "self-attention": {"encoder": "self-attention"},
    "no-positions": {"encoder": "self-attention-without-positions"},
}
SEEDS = (0, 1, 2)


def runs() -> Runs:
    """Each encoder with each seed."""
    return searching_runs("reader", SETTINGS, ENCODERS, SEEDS)


def told(done: Trained) -> dict[str, Any]:
    """What is recorded beside a run's result."""
    positions = done.run.model.config.encoder != "self-attention-without-positions"
    return {"positions": positions, "cpu_seconds": round(done.cpu_seconds, 1)}


def check(read: Read) -> None:
    """Only the encoder and its positions differ."""
    check_runs(runs(), read)
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in ENCODERS}
    for tag, config in runs():
        run, name = read(name_of(config, tag)), tag.removeprefix("reader-")
        found[name].append(run)
        check_same(run, found["bidirectional"][-1], "corpus_sha256", "recipe", "git_commit")
        assert run["positions"] == (name != "no-positions")
        assert run["cpu_seconds"] > 0
    for one, other in zip(found["self-attention"], found["no-positions"], strict=True):
        assert one["parameters"] == other["parameters"]


PARTS = {"readers": Part(partial(small_runs, runs, told), "twenty minutes")}
