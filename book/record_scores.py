"""Record what the score, its dimension, the window and Luong's decoder change.

    python book/record_scores.py

RNNsearch with a forward encoder, so that annotations are as wide as the state and a dot product can
be taken, on the verb-final strings: every score at three sizes d of state and annotations, then the
local scopes and Luong's decoder at one size; two seeds each. About four minutes of training
on a quiet core. Writes book/results/verbs-tokens-scores.json, anew after every run.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

import torch

from course_lib.corpora import load_corpus
from course_lib.files import write_atomically
from course_lib.training import RunConfig, finish_run, train

RESULT = Path(__file__).parent / "results" / "verbs-tokens-scores.json"
SETTINGS: dict[str, Any] = {
    "corpus.max_length": 10,
    "corpus.train": 6_000,
    "corpus.val": 200,
    "corpus.test": 500,
    "encoder": "forward",
    "embedding": 64,
    "readout": 64,
    "dropout": 0.0,
    "label_smoothing": 0.0,
    "epochs": 3,
    "batch_size": 64,
    "learning_rate": 1e-2,
    "warmup": 50,
    "min_frequency": 1,
    "precision": "fp32",
}
SEEDS = (0, 1)
SIZES = (16, 64, 256)
SIZE = 64
"""The size at which windows and decoders are compared, all with the score general."""
SCORES = ("additive", "general", "dot", "scaled-dot")
LUONG = {"order": "after", "reads": "current", "output": "attentional"}
VARIANTS: dict[str, dict[str, Any]] = {
    "local-m": {"scope": "local-m", "window": 2},
    "local-p": {"scope": "local-p", "window": 2},
    "after": LUONG,
    "after, fed": {**LUONG, "input_feeding": True},
}
KEPT = ("train_seconds", "parameters", "best_val_loss", "metrics")
SHARED = ("corpus", "pair", "device", "threads", "versions", "git_commit", "corpus_sha256")


def planned() -> list[dict[str, Any]]:
    """What each run is called and changes: the small ones first."""
    sized = [
        {"name": score, "size": size, "changes": {"context": score}}
        for size in SIZES
        for score in SCORES
    ]
    changed = [
        {"name": name, "size": SIZE, "changes": {"context": "general", **changes}}
        for name, changes in VARIANTS.items()
    ]
    runs = [{**run, "seed": seed} for run in (*sized, *changed) for seed in SEEDS]
    return sorted(runs, key=lambda run: (run["size"], run["seed"]))


def record(run: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Train and score one run: its row, and what all runs share."""
    size = {"hidden": run["size"], "alignment": run["size"]}
    config = RunConfig(
        "rnnsearch", "verbs", "tokens", seed=run["seed"],
        changes={**SETTINGS, **size, **run["changes"]},
    )  # fmt: skip
    corpus = load_corpus(config.corpus, config.pair, **config.corpus_options)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run"
        train(config, corpus, path, quiet=True)
        result = finish_run(path, corpus, beam=1)
        written = [line.split() for line in (path / "hypotheses.test.txt").open()]
    pairs = list(zip(written, corpus.splits["test"].target, strict=True))
    exact = sum(words == target for words, target in pairs) / len(pairs)
    row = {**run, **{name: result[name] for name in KEPT}, "exact": exact}
    return row, {name: result[name] for name in SHARED}


def main() -> None:
    """All runs, written after each."""
    rows = []
    for run in planned():
        row, shared = record(run)
        rows.append(row)
        text = json.dumps({**shared, "settings": SETTINGS, "runs": rows}, indent=1)
        write_atomically(RESULT, text + "\n")
        print(
            f"{row['name']:12} d={row['size']:3} seed {row['seed']}: {row['exact']:.3f} right,"
            f" {row['best_val_loss']:.3f} nats a word, {row['train_seconds']:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
