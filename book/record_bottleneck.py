"""Record the runs that chapter 1 has no time for: the fixed context on the verb-final strings.

    python book/record_bottleneck.py

Longer than on the page with three sizes of the one vector, and once with an encoder that reads both
ways. About seven minutes of training on a quiet core. Writes
book/results/verbs-tokens-rnnencdec-cpu-TAG-seed0.json: each run's result.json and, under
`accuracy`, its tokens right by source length.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

import torch

from course_lib.corpora import load_corpus
from course_lib.evaluation.accuracy import accuracy_by_length
from course_lib.files import write_atomically
from course_lib.training import RunConfig, finish_run, recorded_name, train

RESULTS = Path(__file__).parent / "results"
PAGE = {
    "corpus.max_length": 20,
    "corpus.train": 20_000,
    "corpus.val": 200,
    "corpus.test": 2_000,
    "encoder": "forward",
    "embedding": 64,
    "hidden": 64,
    "alignment": 64,
    "readout": 64,
    "dropout": 0.0,
    "label_smoothing": 0.0,
    "epochs": 2,
    "batch_size": 64,
    "learning_rate": 1e-2,
    "warmup": 100,
    "min_frequency": 1,
    "precision": "fp32",
}
"""What the page trains with; a cell there holds the two together."""
LONGER = {"corpus.train": 40_000, "epochs": 10}
RUNS: dict[str, dict[str, Any]] = {
    "longer-n32": {**LONGER, "hidden": 32},
    "longer-n64": LONGER,
    "longer-n128": {**LONGER, "hidden": 128},
    "both-ways": {"encoder": "bidirectional"},
}
"""By tag, what a run changes."""


def record(tag: str) -> None:
    """Train, score and write one run."""
    config = RunConfig("rnnencdec", "verbs", "tokens", changes={**PAGE, **RUNS[tag]})
    corpus = load_corpus(config.corpus, config.pair, **config.corpus_options)
    test = corpus.splits["test"]
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        train(config, corpus, run)
        result = finish_run(run, corpus, beam=1)
        hypotheses = [line.split() for line in (run / "hypotheses.test.txt").open()]
    lengths = [len(source) for source in test.source]
    result["accuracy"] = accuracy_by_length(hypotheses, test.target, lengths)
    name = recorded_name(result, tag)
    write_atomically(RESULTS / name, json.dumps(result, indent=1) + "\n")
    print(f"wrote results/{name}: {result['train_seconds']:.0f} seconds of training")


if __name__ == "__main__":
    torch.set_num_threads(1)
    for tag in RUNS:
        record(tag)
