"""Record the comparison of RNNencdec with RNNsearch on Multi30k.

Runs of `course compare` below runs/ are taken as they are; those that are not there are trained.

pairs: both models of the preset `cpu`, three seeds: each run's result.json; of RNNsearch's seed 0 a
    few translations with their weights, and the README's picture of the first of them.
counts: what BLEU counts in each test sentence, a record a seed, so that a page can draw samples of
    it: the n-grams found and the n-grams there, of one to four words, the words of the translation
    and those of the reference. BLEU is computed from sums of these rows. And both models'
    translations of the sentences that `pairs` shows.
"""

import io
import json
from math import isclose
from pathlib import Path
from typing import Any

import numpy as np
from sacrebleu.metrics import BLEU

from course_lib.errors import CourseError
from course_lib.figures.heatmap import heatmap
from course_lib.training import load_run, read_result
from experiments.recording import (
    EXAMPLES,
    OLD_UNIT,
    Part,
    Read,
    Records,
    check_examples,
    check_same,
    check_scored,
    corpus_of,
    examples_of,
    large,
    name_of,
)

MODELS = ("rnnencdec", "rnnsearch")
SEEDS = (0, 1, 2)
COLUMNS = (
    *(f"{n}-grams found" for n in range(1, 5)),
    *(f"{n}-grams" for n in range(1, 5)),
    *("words", "reference words"),
)
SAME = ("git_commit", "corpus_sha256", "recipe", "changes", "precision", "threads", "versions")
"""What all six runs have in common."""
CONTEXTS = {"rnnencdec": "fixed", "rnnsearch": "additive"}
LEAST = {"rnnencdec": 25, "rnnsearch": 36}
"""The score on the test set that every seed reaches."""
PICTURE = Path(__file__).parents[2] / "book" / "images" / "readme-heatmap.png"


def pairs() -> Records:
    """Every result, and the examples."""
    for seed in SEEDS:
        for model in MODELS:
            result = read_result(large(model, seed))
            yield name_of(result), result
    examples = examples_of(large("rnnsearch"))
    yield "multi30k-en-de-rnnsearch-cpu-seed0-examples", examples
    yield str(PICTURE), picture(examples[0])


def picture(example: dict[str, Any]) -> bytes:
    """An example as a heatmap."""
    figure = heatmap(np.array(example["alpha"]), example["source"], example["translation"])
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=160)
    return file.getvalue()


def count(translation: str, reference: str) -> list[int]:
    """The ten numbers that one sentence adds to those of a corpus, in the order of COLUMNS."""
    score = BLEU(tokenize="none", force=True).corpus_score([translation], [[reference]])
    return [*score.counts, *score.totals, score.sys_len, score.ref_len]


def counts() -> Records:
    """Count the translations of each pair."""
    for seed in SEEDS:
        yield f"multi30k-en-de-cpu-seed{seed}-counts", json.dumps(counted(seed)) + "\n"


def counted(seed: int) -> dict[str, Any]:
    """The counts of one pair's translations of the test split."""
    models: dict[str, Any] = {}
    for model in MODELS:
        path = large(model, seed)
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
            "examples": [translations[i] for i in EXAMPLES],
            "counts": [count(*pair) for pair in zip(translations, references, strict=True)],
        }
    kept = ("corpus", "pair", "preset", "seed", "versions", "corpus_sha256")
    record = {**{key: result[key] for key in kept}, "split": split, "columns": COLUMNS}
    return {**record, "source_words": list(map(len, part.source)), "models": models}


def check(read: Read) -> None:
    """Six runs of one clean commit, which differ in seed and context alone, as good as is said."""
    runs = {(m, seed): read(f"multi30k-en-de-{m}-cpu-seed{seed}") for m in MODELS for seed in SEEDS}
    first = next(iter(runs.values()))
    assert not first["git_commit"].endswith("-dirty")
    for (model, seed), run in runs.items():
        check_same(run, first, *SAME)
        assert run["model_config"] == {**first["model_config"], "context": CONTEXTS[model]}
        assert (run["seed"], run["changes"]) == (seed, OLD_UNIT)
        assert check_scored(run)["bleu_tok"] >= LEAST[model]
    examples = read("multi30k-en-de-rnnsearch-cpu-seed0-examples")
    check_examples(examples)
    for seed in SEEDS:
        check_counts(read(f"multi30k-en-de-cpu-seed{seed}-counts"), read)
    translated = read("multi30k-en-de-cpu-seed0-counts")["models"]["rnnsearch"]["examples"]
    assert translated == [" ".join(one["translation"][:-1]) for one in examples]


def check_counts(record: dict[str, Any], read: Read) -> None:
    """The counts of the sentences add up to the recorded scores."""
    assert record["columns"] == list(COLUMNS)
    for model, kept in record["models"].items():
        result = read(f"multi30k-en-de-{model}-cpu-seed{record['seed']}")
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
    "pairs": Part(pairs, "a minute, and up to three hours to train the three pairs"),
    "counts": Part(counts, "a minute, once the pairs are trained"),
}
