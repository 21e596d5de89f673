"""What the recorders share: the settings of a small run, how one is trained, where a record goes.

Each `record_NAME.py` beside this is started by hand and records what a page has no time for. Those
that write a file a run list their runs in `runs()`.
"""

import json
import tempfile
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import torch

from course_lib.corpora import Corpus, load_corpus
from course_lib.files import write_atomically
from course_lib.training import Run, RunConfig, finish_run, load_run, train

RESULTS = Path(__file__).parent / "results"
SMALL: dict[str, Any] = {
    "embedding": 64,
    "hidden": 64,
    "alignment": 64,
    "readout": 64,
    "dropout": 0.0,
    "label_smoothing": 0.0,
    "batch_size": 64,
    "warmup": 100,
    "min_frequency": 1,
    "precision": "fp32",
}
"""A model that learns a generated corpus within minutes; a recorder adds the corpus, the epochs and
the learning rate."""


class Trained(NamedTuple):
    """A run whose directory is gone again."""

    run: Run
    corpus: Corpus
    result: dict[str, Any]
    hypotheses: list[list[str]]
    """The greedy translations of the test split."""
    cpu_seconds: float
    """Processor time of the training."""


def trained(config: RunConfig) -> Trained:
    """Train on one thread and score with greedy search, in a folder that does not stay."""
    torch.set_num_threads(1)
    corpus = load_corpus(config.corpus, config.pair, **config.corpus_options)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run"
        begin = process_time()
        train(config, corpus, path, quiet=True)
        seconds = process_time() - begin
        result = finish_run(path, corpus, beam=1)
        lines = (path / "hypotheses.test.txt").read_text(encoding="utf-8").splitlines()
        run = load_run(path)
    return Trained(run, corpus, result, [line.split() for line in lines], seconds)


def write(name: str, record: dict[str, Any]) -> None:
    """One file below results/."""
    write_atomically(RESULTS / name, json.dumps(record, ensure_ascii=False, indent=1) + "\n")
    print(f"wrote results/{name}", flush=True)
