"""Record what the window and Luong's decoder change in a whole model.

    python book/record_windows.py

RNNsearch with the score general and a forward encoder on the verb-final strings: global attention,
the local scopes, and Luong's decoder without and with input feeding, one run each. Less than a
minute of training on a quiet core. Writes book/results/verbs-tokens-windows.json, anew after every
run.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

import torch

from course_lib.corpora import load_corpus
from course_lib.files import write_atomically
from course_lib.training import RunConfig, finish_run, train

RESULT = Path(__file__).parent / "results" / "verbs-tokens-windows.json"
SETTINGS: dict[str, Any] = {
    "corpus.max_length": 10,
    "corpus.train": 6_000,
    "corpus.val": 200,
    "corpus.test": 500,
    "context": "general",
    "encoder": "forward",
    "embedding": 64,
    "hidden": 64,
    "alignment": 64,
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
LUONG = {"order": "after", "reads": "current", "output": "attentional"}
RUNS: dict[str, dict[str, Any]] = {
    "global": {},
    "local-m": {"scope": "local-m", "window": 2},
    "local-p": {"scope": "local-p", "window": 2},
    "after": LUONG,
    "after, fed": {**LUONG, "input_feeding": True},
}
"""By name, what a run changes."""
KEPT = ("train_seconds", "parameters", "best_val_loss", "metrics")
SHARED = ("corpus", "pair", "device", "threads", "versions", "git_commit", "corpus_sha256")


def record(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Train and score one run: its row, and what all runs share."""
    config = RunConfig("rnnsearch", "verbs", "tokens", changes={**SETTINGS, **RUNS[name]})
    corpus = load_corpus(config.corpus, config.pair, **config.corpus_options)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run"
        train(config, corpus, path, quiet=True)
        result = finish_run(path, corpus, beam=1)
        written = [line.split() for line in (path / "hypotheses.test.txt").open()]
    pairs = list(zip(written, corpus.splits["test"].target, strict=True))
    exact = sum(words == target for words, target in pairs) / len(pairs)
    row = {"name": name, "changes": RUNS[name], **{key: result[key] for key in KEPT}}
    return {**row, "exact": exact}, {key: result[key] for key in SHARED}


def main() -> None:
    """All runs, written after each."""
    rows = []
    for name in RUNS:
        row, shared = record(name)
        rows.append(row)
        text = json.dumps({**shared, "settings": SETTINGS, "runs": rows}, indent=1)
        write_atomically(RESULT, text + "\n")
        print(
            f"{name:12} {row['exact']:.3f} right, {row['best_val_loss']:.3f} nats a word,"
            f" {row['train_seconds']:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
