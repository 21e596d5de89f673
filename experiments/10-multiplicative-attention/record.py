"""Record what the window and Luong's decoder change in a whole model.

RNNsearch with the score general and a forward encoder on the verb-final strings: global attention,
the local scopes, and Luong's decoder without and with input feeding, one run each.
"""

from typing import Any

from course_lib.models import model_config
from course_lib.models.old_settings import renamed
from course_lib.training import RunConfig
from experiments.recording import SMALL, Part, Read, Records, check_corpus, trained

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
RUNS: dict[str, dict[str, Any]] = {
    "global": {},
    "local-m": {"context": "local-m-general", "window": 2},
    "local-p": {"context": "local-p-general", "window": 2},
    "after": {"decoder": "luong-unfed"},
    "after, fed": {"decoder": "luong"},
}
"""By name, what a run changes."""
KEPT = ("train_seconds", "parameters", "best_val_loss", "metrics")
SHARED = ("corpus", "pair", "device", "threads", "versions", "git_commit", "corpus_sha256")


def windows() -> Records:
    """All runs, in one record."""
    rows = []
    for name, changes in RUNS.items():
        config = RunConfig("rnnsearch", "verbs", "tokens", changes={**SETTINGS, **changes})
        _, corpus, result, written, _ = trained(config)
        pairs = list(zip(written, corpus.splits["test"].target, strict=True))
        exact = sum(words == target for words, target in pairs) / len(pairs)
        row = {"name": name, "changes": changes, **{key: result[key] for key in KEPT}}
        rows.append({**row, "exact": exact})
        print(f"{name:12} {exact:.3f} right, {row['best_val_loss']:.3f} nats a word", flush=True)
    shared = {key: result[key] for key in SHARED}
    yield "verbs-tokens-windows", {**shared, "settings": SETTINGS, "runs": rows}


def check(read: Read) -> None:
    """Every change makes a model that can be built, and only local-p has weights for its window."""
    record = read("verbs-tokens-windows")
    check_corpus(record)
    assert record["settings"] == SETTINGS
    trained = {run["name"]: renamed({**SETTINGS, **run["changes"]}) for run in record["runs"]}
    assert trained == {name: {**SETTINGS, **changes} for name, changes in RUNS.items()}
    shared = ("context", "encoder", "embedding", "hidden", "alignment", "readout", "dropout")
    settings = {name: SETTINGS[name] for name in shared}
    for run in record["runs"]:
        model_config("rnnsearch", "cpu", 64, 64, **{**settings, **RUNS[run["name"]]})
        assert 0 <= run["exact"] <= 1
        losses = [epoch["val_loss"] for epoch in run["metrics"]]
        assert len(losses) == SETTINGS["epochs"]
        assert run["best_val_loss"] == min(losses)
    count = {run["name"]: run["parameters"] for run in record["runs"]}
    n = SETTINGS["hidden"]
    assert count["local-m"] == count["global"]
    assert count["local-p"] == count["global"] + n * n + n
    assert count["after, fed"] > count["after"]


PARTS = {"windows": Part(windows, "less than a minute")}
