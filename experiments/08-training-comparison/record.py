"""Record the comparison of RNNencdec with RNNsearch on Multi30k.

Runs of `course compare` below runs/ are taken as they are; those that are not there are trained.

large: both models with the preset `cpu`: each run's result.json, a few translations of RNNsearch
    with their weights, and the README's picture of the first of them.
small: three smaller pairs, a seed each.
counts: what BLEU counts in each test sentence of the large pair, so that a page can draw samples of
    it: the n-grams found and the n-grams there, of one to four words, the words of the translation
    and those of the reference. BLEU is computed from sums of these rows.
"""

import io
import json
from dataclasses import replace
from math import isclose
from pathlib import Path
from typing import Any

import numpy as np
from sacrebleu.metrics import BLEU

from course_lib.errors import CourseError
from course_lib.figures.heatmap import heatmap
from course_lib.models import ModelConfig
from course_lib.models.old_settings import renamed
from course_lib.training import RunConfig, load_run, read_result
from experiments.recording import (
    Part,
    Read,
    Records,
    check_examples,
    check_same,
    check_scored,
    corpus_of,
    examples_of,
    kept_run,
    large,
    name_of,
    result_of,
)

MODELS = ("rnnencdec", "rnnsearch")
SMALLER = {
    **dict.fromkeys(("embedding", "hidden", "alignment", "readout"), 128),
    "epochs": 6,
}
SEEDS = (0, 1, 2)
COLUMNS = (
    *(f"{n}-grams found" for n in range(1, 5)),
    *(f"{n}-grams" for n in range(1, 5)),
    *("words", "reference words"),
)
PICTURE = Path(__file__).parents[2] / "book" / "images" / "readme-heatmap.png"


def large_pair() -> Records:
    """Both results, and the examples."""
    for model in MODELS:
        result = result_of(large(model))
        yield name_of(result), result
    examples = examples_of(large("rnnsearch"))
    yield f"{name_of(result)}-examples", examples
    yield str(PICTURE), picture(examples[0])


def picture(example: dict[str, Any]) -> bytes:
    """An example as a heatmap."""
    figure = heatmap(np.array(example["alpha"]), example["source"], example["translation"])
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=160)
    return file.getvalue()


def small_pairs() -> Records:
    """The results of every model and seed."""
    for seed in SEEDS:
        for model in MODELS:
            config = RunConfig(model, "multi30k", "en-de", seed=seed, changes=SMALLER)
            result = result_of(kept_run(config, f"compare-n128-seed{seed}/{model}"))
            yield name_of(result, "n128"), result


def count(translation: str, reference: str) -> list[int]:
    """The ten numbers that one sentence adds to those of a corpus, in the order of COLUMNS."""
    score = BLEU(tokenize="none", force=True).corpus_score([translation], [[reference]])
    return [*score.counts, *score.totals, score.sys_len, score.ref_len]


def counts() -> Records:
    """Count the translations of the large pair, of one test split."""
    models: dict[str, Any] = {}
    for model in MODELS:
        path = large(model)
        result, corpus = read_result(path), corpus_of(load_run(path).config)
        (split,) = result["scores"]
        if corpus.sha256 != result["corpus_sha256"]:
            raise CourseError(f"{path} was scored on other data. Score it again.")
        part = corpus.splits[split]
        translations = (path / f"hypotheses.{split}.txt").read_text().splitlines()
        references = [" ".join(words) for words in part.target]
        models[model] = {
            "git_commit": result["git_commit"],
            "beam": result["scores"][split]["beam"],
            "counts": [count(*pair) for pair in zip(translations, references, strict=True)],
        }
    kept = ("corpus", "pair", "preset", "seed", "versions", "corpus_sha256")
    record = {**{key: result[key] for key in kept}, "split": split, "columns": COLUMNS}
    record["source_words"] = [len(words) for words in part.source]
    name = "{corpus}-{pair}-{preset}-seed{seed}-counts".format(**result)
    yield name, json.dumps({**record, "models": models}) + "\n"


def check(read: Read) -> None:
    """The large pair reaches its scores, the small ones differ in model and seed alone."""
    for model, least in (("rnnsearch", 37), ("rnnencdec", 25)):
        scores = check_scored(read(f"multi30k-en-de-{model}-cpu-seed0"))
        assert scores["bleu_tok"] >= least
    check_examples(read("multi30k-en-de-rnnsearch-cpu-seed0-examples"))
    small = [read(f"multi30k-en-de-{m}-cpu-n128-seed{seed}") for seed in SEEDS for m in MODELS]
    first = ModelConfig(**renamed(small[0]["model_config"]))
    for result in small:
        check_scored(result)
        assert result["changes"] == SMALLER
        check_same(result, small[0], "corpus_sha256", "epochs", "precision", "versions")
        config = ModelConfig(**renamed(result["model_config"]))
        assert replace(first, context=config.context) == config
    check_counts(read("multi30k-en-de-cpu-seed0-counts"), read)


def check_counts(record: dict[str, Any], read: Read) -> None:
    """The counts of the sentences add up to the recorded scores."""
    assert record["columns"] == list(COLUMNS)
    for model, kept in record["models"].items():
        result = read(f"multi30k-en-de-{model}-cpu-seed0")
        check_same(record, result, "corpus_sha256", "seed", "preset")
        assert kept["git_commit"] == result["git_commit"]
        scores = result["scores"][record["split"]]
        assert kept["beam"] == scores["beam"]
        rows, words = np.array(kept["counts"]), np.array(record["source_words"])
        assert rows.shape == (scores["sentences"], len(COLUMNS))
        for part in scores["by_length"]:
            chosen = (words >= part["lower"]) & (words <= part["upper"])
            assert chosen.sum() == part["sentences"]
            sums = rows[chosen].sum(axis=0)
            mean = np.log(sums[:4] / sums[4:8]).mean() + min(0, 1 - sums[9] / sums[8])
            assert isclose(100 * np.exp(mean), part["bleu_tok"], rel_tol=1e-6)


PARTS = {
    "large": Part(large_pair, "a minute, and up to an hour and a half to train the pair"),
    "small": Part(small_pairs, "seconds, and up to an hour and a half to train the three pairs"),
    "counts": Part(counts, "a minute, once the large pair is trained"),
}
