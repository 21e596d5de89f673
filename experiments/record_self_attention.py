"""Record what becomes of RNNsearch when another encoder writes its memory.

    python experiments/record_self_attention.py

The same small RNNsearch on the embedded corpus with the bidirectional encoder, with one layer of
self-attention in its place, and with that layer robbed of its positions; the same pairs, updates
and decoder for all. About two minutes on a quiet core. Writes
toy-en-de-rnnsearch-cpu-reader-NAME-seedN.json: each run's result.json, and whether the
encoder was told `positions` and how many `cpu_seconds` the training took.
"""

from typing import Any

from recording import SMALL, Runs, searching_runs, trained, write

from course_lib.training import RunConfig, recorded_name

SETTINGS: dict[str, Any] = {
    **SMALL,
    "corpus.clauses": [1, 1],
    "corpus.train": 3_000,
    "corpus.val": 100,
    "corpus.test": 300,
    "epochs": 5,
    "batch_size": 32,
    "learning_rate": 5e-3,
}
ENCODERS: dict[str, dict[str, Any]] = {
    "bidirectional": {"encoder": "bidirectional"},
    "self-attention": {"encoder": "self-attention"},
    "no-positions": {"encoder": "self-attention", "positions": False},
}
SEEDS = (0, 1)


def runs() -> Runs:
    return searching_runs("reader", SETTINGS, ENCODERS, SEEDS)


def record(tag: str, config: RunConfig) -> None:
    """Train, score and write one run."""
    run, _, result, _, seconds = trained(config)
    result["positions"] = run.model.config.positions
    result["cpu_seconds"] = round(seconds, 1)
    write(recorded_name(result, tag), result)


if __name__ == "__main__":
    for tag, config in runs():
        record(tag, config)
