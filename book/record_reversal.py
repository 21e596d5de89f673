"""Record what reading the source backwards does to RNNencdec, on three corpora.

    python book/record_reversal.py

RNNencdec with a forward encoder, reading its source first word first or last word first
(Sutskever et al., 2014, Section 3.3), with three seeds each; about eight minutes of training on a
quiet core. Writes book/results/CORPUS-PAIR-rnnencdec-cpu-read-ORDER-seedN.json: each run's
result.json and, under `nats_by_position`, the mean loss of each target position on the test split
while the true words before it are given.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch
from torch.nn.functional import cross_entropy

from course_lib.corpora import load_corpus
from course_lib.corpora.batches import EncodedPair, make_batch
from course_lib.files import write_atomically
from course_lib.models import EncoderDecoder
from course_lib.training import RunConfig, finish_run, load_run, recorded_name, train

RESULTS = Path(__file__).parent / "results"
ORDERS = {"forwards": False, "backwards": True}
SEEDS = (0, 1, 2)
SETTINGS: dict[str, Any] = {
    "corpus.train": 10_000,
    "corpus.val": 200,
    "corpus.test": 500,
    "encoder": "forward",
    "embedding": 64,
    "hidden": 64,
    "alignment": 64,
    "readout": 64,
    "dropout": 0.0,
    "label_smoothing": 0.0,
    "epochs": 8,
    "batch_size": 64,
    "learning_rate": 5e-3,
    "warmup": 100,
    "min_frequency": 1,
    "precision": "fp32",
}
STRINGS = {"corpus.max_length": 12, "learning_rate": 1e-2}
CORPORA: dict[tuple[str, str], dict[str, Any]] = {
    ("copy", "tokens"): STRINGS,
    ("verbs", "tokens"): STRINGS,
    ("toy", "en-de"): {},
}
"""By corpus, what its runs change."""
FEWEST = 50
"""Positions that fewer test sentences reach are left out."""


@torch.no_grad()
def nats_by_position(model: EncoderDecoder, pairs: list[EncodedPair]) -> list[float]:
    """The mean loss of target position 1, 2, ..., the end mark's included."""
    batch = make_batch(pairs, range(len(pairs)))
    start = model.start(batch.source, batch.source_lengths, batch.source_mask)
    logits = model.decoder.readout(model.decoder.unroll(batch.target_in, start)[0])
    nats = cross_entropy(logits.transpose(1, 2), batch.target_out, reduction="none")
    counts = batch.target_mask.sum(dim=0)
    means = (nats * batch.target_mask).sum(dim=0) / counts
    return means[counts >= FEWEST].tolist()


def record(corpus_name: str, pair: str, order: str, seed: int) -> None:
    """Train, measure and write one run."""
    changes = {**SETTINGS, **CORPORA[corpus_name, pair], "reverse_source": ORDERS[order]}
    config = RunConfig("rnnencdec", corpus_name, pair, seed=seed, changes=changes)
    corpus = load_corpus(config.corpus, config.pair, **config.corpus_options)
    with tempfile.TemporaryDirectory() as folder:
        run_path = Path(folder) / "run"
        train(config, corpus, run_path, quiet=True)
        result = finish_run(run_path, corpus, beam=1)
        run = load_run(run_path)
    test = corpus.splits["test"]
    pairs = [
        (run.source_vocabulary.encode(source), run.target_vocabulary.encode(target))
        for source, target in zip(test.source, test.target, strict=True)
    ]
    result["nats_by_position"] = nats_by_position(run.model, pairs)
    name = recorded_name(result, f"read-{order}")
    write_atomically(RESULTS / name, json.dumps(result, indent=1) + "\n")
    print(f"wrote results/{name}: {result['train_seconds']:.0f} s, {result['best_val_loss']:.3f}")
    sys.stdout.flush()


if __name__ == "__main__":
    torch.set_num_threads(1)
    for corpus_name, pair in CORPORA:
        for seed in SEEDS:
            for order in ORDERS:
                record(corpus_name, pair, order, seed)
