"""Record what becomes of RNNsearch when another encoder writes its memory.

    python book/record_self_attention.py

The same small RNNsearch on the embedded corpus with the bidirectional encoder, with one layer of
self-attention in its place, and with that layer robbed of its positions; the same pairs, updates
and decoder for all. About two minutes on a quiet core. Writes
book/results/toy-en-de-rnnsearch-cpu-reader-NAME-seedN.json: each run's result.json, and whether the
encoder was told `positions` and how many `cpu_seconds` the training took.
"""

import json
import tempfile
from pathlib import Path
from time import process_time
from typing import Any
from unittest import mock

import torch
from torch import Tensor

from course_lib.corpora import load_corpus
from course_lib.files import write_atomically
from course_lib.models import self_attention
from course_lib.training import RunConfig, finish_run, recorded_name, train

RESULTS = Path(__file__).parent / "results"
SETTINGS: dict[str, Any] = {
    "corpus.clauses": [1, 1],
    "corpus.train": 3_000,
    "corpus.val": 100,
    "corpus.test": 300,
    "embedding": 64,
    "hidden": 64,
    "alignment": 64,
    "readout": 64,
    "dropout": 0.0,
    "label_smoothing": 0.0,
    "epochs": 5,
    "batch_size": 32,
    "learning_rate": 5e-3,
    "warmup": 100,
    "min_frequency": 1,
    "precision": "fp32",
}
ENCODERS = {
    "bidirectional": "bidirectional",
    "self-attention": "self-attention",
    "no-positions": "self-attention",
}
SEEDS = (0, 1)


def no_positions(position: Tensor, size: int) -> Tensor:
    """Zeros in place of the waves: (T,) to (T, d)."""
    return position.new_zeros(len(position), size)


def record(name: str, seed: int) -> None:
    """Train, score and write one run."""
    changes = {**SETTINGS, "encoder": ENCODERS[name]}
    config = RunConfig("rnnsearch", "toy", seed=seed, changes=changes)
    corpus = load_corpus(config.corpus, config.pair, **config.corpus_options)
    waves = no_positions if name == "no-positions" else self_attention.sinusoids
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.object(self_attention, "sinusoids", waves),
    ):
        begin = process_time()
        train(config, corpus, Path(folder) / "run")
        seconds = process_time() - begin
        result = finish_run(Path(folder) / "run", corpus, beam=1)
    result["positions"] = waves is not no_positions
    result["cpu_seconds"] = round(seconds, 1)
    file = recorded_name(result, f"reader-{name}")
    write_atomically(RESULTS / file, json.dumps(result, indent=1) + "\n")
    bleu = result["scores"]["test"]["bleu_tok"]
    print(f"wrote results/{file}: {bleu:.1f} BLEU after {seconds:.0f} s", flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    for seed in SEEDS:
        for name in ENCODERS:
            record(name, seed)
