"""Record what reading the source backwards does to RNNencdec, on three corpora.

    python experiments/record_reversal.py

RNNencdec with a forward encoder, reading its source first word first or last word first
(Sutskever et al., 2014, Section 3.3), with three seeds each; about eight minutes of training on a
quiet core. Writes CORPUS-PAIR-rnnencdec-cpu-read-ORDER-seedN.json: each run's
result.json and, under `nats_by_position`, the mean loss of each target position on the test split
while the true words before it are given.
"""

from typing import Any

import torch
from recording import TOY, Runs, trained, write
from torch.nn.functional import cross_entropy

from course_lib.corpora.batches import EncodedPair, make_batch
from course_lib.models import EncoderDecoder
from course_lib.training import RunConfig, encode_pairs, recorded_name

ORDERS = {"forwards": False, "backwards": True}
SEEDS = (0, 1, 2)
SETTINGS: dict[str, Any] = {
    **TOY,
    "encoder": "forward",
    "epochs": 8,
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


def runs() -> Runs:
    for (corpus, pair), changes in CORPORA.items():
        for seed in SEEDS:
            for order, turned in ORDERS.items():
                settings = {**SETTINGS, **changes, "reverse_source": turned}
                config = RunConfig("rnnencdec", corpus, pair, seed=seed, changes=settings)
                yield f"read-{order}", config


def record(tag: str, config: RunConfig) -> None:
    """Train, measure and write one run."""
    run, corpus, result, *_ = trained(config)
    words = run.source_vocabulary, run.target_vocabulary
    pairs = encode_pairs(corpus.splits["test"], words)
    result["nats_by_position"] = nats_by_position(run.model, pairs)
    write(recorded_name(result, tag), result)


if __name__ == "__main__":
    for tag, config in runs():
        record(tag, config)
