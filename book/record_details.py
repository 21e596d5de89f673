"""Record what each detail that re-implementations of RNNsearch change costs.

    python book/record_details.py

The paper's model on the embedded corpus, and the same model with one detail changed, three seeds
each; about half an hour on a quiet core. Writes
book/results/toy-en-de-rnnsearch-cpu-details.json: for each variant its changes, parameters and,
seed by seed, BLEU of the test split and the loss on the validation split.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

import torch

from course_lib.corpora import load_corpus
from course_lib.files import write_atomically
from course_lib.training import RunConfig, finish_run, read_metrics, train

TARGET = Path(__file__).parent / "results" / "toy-en-de-rnnsearch-cpu-details.json"
SEEDS = (0, 1, 2)
SETTINGS: dict[str, Any] = {
    "corpus.train": 10_000,
    "corpus.val": 200,
    "corpus.test": 500,
    "embedding": 64,
    "hidden": 64,
    "alignment": 64,
    "readout": 64,
    "dropout": 0.0,
    "label_smoothing": 0.0,
    "epochs": 6,
    "batch_size": 64,
    "learning_rate": 5e-3,
    "warmup": 100,
    "min_frequency": 1,
    "precision": "fp32",
    "unit": "paper",
}
VARIANTS: dict[str, dict[str, Any]] = {
    "paper": {},
    "reset-after": {"unit": "torch"},
    "query-after": {"order": "after", "reads": "current"},
    "reads-current": {"reads": "current"},
    "tanh-readout": {"output": "tanh"},
    "start-zero": {"start": "zero"},
    "forward-encoder": {"encoder": "forward"},
}


def run(changes: dict[str, Any], seed: int) -> dict[str, Any]:
    """One training: its result and the best loss on the validation split."""
    config = RunConfig("rnnsearch", "toy", seed=seed, changes={**SETTINGS, **changes})
    corpus = load_corpus(config.corpus, config.pair, **config.corpus_options)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run"
        train(config, corpus, path)
        result = finish_run(path, corpus, beam=1)
        losses = [line["val_loss"] for line in read_metrics(path)]
    return {**result, "val_loss": min(losses)}


def main() -> None:
    variants: dict[str, Any] = {}
    for name, changes in VARIANTS.items():
        results = [run(changes, seed) for seed in SEEDS]
        variants[name] = {
            "changes": changes,
            "parameters": results[0]["parameters"],
            "bleu_tok": [result["scores"]["test"]["bleu_tok"] for result in results],
            "val_loss": [result["val_loss"] for result in results],
        }
        print(name, variants[name])
    kept = ("corpus", "pair", "preset", "device", "versions", "git_commit", "corpus_sha256")
    record = {key: results[0][key] for key in kept}
    record |= {"settings": SETTINGS, "seeds": list(SEEDS), "variants": variants}
    write_atomically(TARGET, json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
