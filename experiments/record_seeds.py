"""Record two tests of maps (Wiegreffe and Pinter, 2019): uniform weights, and other seeds.

    python experiments/record_seeds.py

The small RNNsearch of record_maps.py on the toy corpus with three seeds, each also trained with its
weights held uniform; about six minutes on a quiet core. Writes
toy-en-de-rnnsearch-cpu-seeds.json: every run's loss and sentences right, and, for
every pair of seeds, how far their maps of the same reference translations agree.
"""

import platform
from importlib.metadata import version
from itertools import combinations
from typing import Any

import numpy as np
import torch
from record_maps import EPOCHS, small
from recording import write

from course_lib.corpora import Corpus, load_corpus
from course_lib.corpora.batches import bucketed_batches, make_batch
from course_lib.corpora.vocabulary import Vocabulary
from course_lib.evaluation.align import forced_weights
from course_lib.evaluation.weights import Weights
from course_lib.models import EncoderDecoder, build_model
from course_lib.search import translate
from course_lib.training import RunConfig, encode_pairs, mean_loss
from course_lib.training.provenance import device_name, git_commit
from course_lib.training.recipe import learning_rate_at, make_optimiser

SEEDS = (0, 1, 2)


def learned(
    config: RunConfig, corpus: Corpus, words: tuple[Vocabulary, Vocabulary], uniform: bool
) -> EncoderDecoder:
    """The model after the configuration's epochs; `uniform`: every energy stays 0."""
    recipe, seed = config.recipe, config.seed
    pairs = encode_pairs(corpus.splits["train"], words)
    model = build_model(config.model_config(len(words[0]), len(words[1])), seed)
    if uniform:
        score = model.decoder.context.score
        score.requires_grad_(False)
        score.v_a.weight.zero_()
    optimiser = make_optimiser((p for p in model.parameters() if p.requires_grad), recipe)
    torch.manual_seed(seed)
    total = recipe.epochs * -(-len(pairs) // recipe.batch_size)
    step = 0
    for epoch in range(recipe.epochs):
        for index in bucketed_batches(pairs, recipe.batch_size, seed, epoch):
            for group in optimiser.param_groups:
                group["lr"] = learning_rate_at(step, total, recipe)
            loss, count = model.loss(make_batch(pairs, index))
            (loss / count).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), recipe.clip)
            optimiser.step()
            optimiser.zero_grad()
            step += 1
    return model.eval()


def how_good(
    model: EncoderDecoder, corpus: Corpus, words: tuple[Vocabulary, Vocabulary]
) -> dict[str, Any]:
    """The validation loss in nats a word, and the share of test sentences right in every word."""
    test = corpus.splits["test"]
    found = translate(model, [words[0].encode(x) for x in test.source], k=1)
    right = [words[1].decode(h.tokens) == y for h, y in zip(found, test.target, strict=True)]
    loss = mean_loss(model, encode_pairs(corpus.splits["val"], words))
    return {"val_loss": loss, "right": float(np.mean(right))}


def agreement(one: list[Weights], other: list[Weights]) -> dict[str, float]:
    """Two models' maps of the same translations, compared row by row, the end marks' left out.

    `same_place`: the share of rows whose largest weights stand at the same source word.
    `distance`: the mean total variation distance of the rows, 0 for equal and 1 for disjoint ones.
    """
    rows = [
        (a, b)
        for alpha, beta in zip(one, other, strict=True)
        for a, b in zip(alpha[:-1], beta[:-1], strict=True)
    ]
    return {
        "rows": len(rows),
        "same_place": float(np.mean([a.argmax() == b.argmax() for a, b in rows])),
        "distance": float(np.mean([float(abs(a - b).sum()) / 2 for a, b in rows])),
    }


def main() -> None:
    torch.set_num_threads(1)
    first = small(EPOCHS[-1])
    corpus = load_corpus(first.corpus, first.pair, **first.corpus_options)
    train = corpus.splits["train"]
    words = Vocabulary.from_sentences(train.source, 1), Vocabulary.from_sentences(train.target, 1)
    runs: list[dict[str, Any]] = []
    maps: list[list[Weights]] = []
    for seed in SEEDS:
        config = RunConfig(first.model, first.corpus, seed=seed, changes=first.changes)
        for weights in ("learned", "uniform"):
            model = learned(config, corpus, words, weights == "uniform")
            runs.append({"seed": seed, "weights": weights, **how_good(model, corpus, words)})
            print(runs[-1], flush=True)
            if weights == "learned":
                maps.append(forced_weights(model, *words, corpus.splits["test"]))
    record = {
        "model": first.model,
        "corpus": first.corpus,
        "pair": first.pair,
        "changes": first.changes,
        "device": device_name(),
        "versions": {"python": platform.python_version(), "torch": version("torch")},
        "git_commit": git_commit(),
        "corpus_sha256": dict(corpus.sha256),
        "runs": runs,
        "agreement": [
            {"seeds": [SEEDS[a], SEEDS[b]], **agreement(maps[a], maps[b])}
            for a, b in combinations(range(len(SEEDS)), 2)
        ],
    }
    write("toy-en-de-rnnsearch-cpu-seeds.json", record)


if __name__ == "__main__":
    main()
