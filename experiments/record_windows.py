"""Record what the window and Luong's decoder change in a whole model.

    python experiments/record_windows.py

RNNsearch with the score general and a forward encoder on the verb-final strings: global attention,
the local scopes, and Luong's decoder without and with input feeding, one run each. Less than a
minute of training on a quiet core. Writes verbs-tokens-windows.json, anew after every
run.
"""

from typing import Any

from recording import SMALL, trained, write

from course_lib.training import RunConfig

SETTINGS: dict[str, Any] = {
    **SMALL,
    "corpus.max_length": 10,
    "corpus.train": 6_000,
    "corpus.val": 200,
    "corpus.test": 500,
    "context": "general",
    "encoder": "forward",
    "epochs": 3,
    "learning_rate": 1e-2,
    "warmup": 50,
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
    _, corpus, result, written, _ = trained(config)
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
        write("verbs-tokens-windows.json", {**shared, "settings": SETTINGS, "runs": rows})
        print(
            f"{name:12} {row['exact']:.3f} right, {row['best_val_loss']:.3f} nats a word,"
            f" {row['train_seconds']:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
