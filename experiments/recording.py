"""What the recorders share: a part of a recording, small runs, runs that are kept, records.

Each chapter's `record.py` has `PARTS`, by name what it can record, and `check`, which asserts that
the records are whole and of its settings; one that makes what an assignment hands out, or a
published model, has none. `make record` runs them (see `__main__.py`).
"""

import gzip
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import torch
from safetensors.torch import load_file, save

from course_lib.corpora import Corpus
from course_lib.corpora.batches import EncodedPair, bucketed_batches, make_batch
from course_lib.corpora.multi30k import fetch
from course_lib.corpora.vocabulary import Vocabulary
from course_lib.errors import CourseError
from course_lib.evaluation.accuracy import accuracy_by_length
from course_lib.evaluation.weights import merge_pieces
from course_lib.files import write_atomically
from course_lib.models import RNNsearch
from course_lib.search import translate
from course_lib.training import (
    Run,
    RunConfig,
    finish_run,
    load_run,
    read_result,
    recorded_name,
    train,
)
from course_lib.training.provenance import git_commit
from course_lib.training.recipe import given_at, learning_rate_at, make_optimiser
from course_lib.training.run_directory import BEST, RESULT
from course_lib.training.scheduled_sampling import mixed_words

RUNS = Path("runs")
"""Trainings that take longer are kept here, so that a stopped recording goes on."""
Records = Iterator[tuple[str, Any]]
"""Each record's name, and what it holds: text as it is written, or what becomes JSON. Bytes make a
file of that name, beside the records if its path is relative."""
Read = Callable[[str], Any]
"""Gives what a record holds, the new one where it has just been made."""


EXAMPLES = (0, 5, 17, 85, 400)
"""Positions in the test split, chosen before any translation was seen."""


class Part(NamedTuple):
    """takes: on a quiet core, with the trainings that are not there yet. needs: runs that only you
    can give."""

    record: Callable[[], Records]
    takes: str
    needs: str = ""


OLD_UNIT: dict[str, Any] = {"unit": "torch"}
"""As recorded: the preset `cpu` had torch's unit then, and has the paper's since."""
SMALL: dict[str, Any] = {
    **OLD_UNIT,
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
TOY: dict[str, Any] = {
    **SMALL,
    "corpus.train": 10_000,
    "corpus.val": 200,
    "corpus.test": 500,
    "learning_rate": 5e-3,
}
"""The same on the embedded corpus, without the epochs."""
Runs = Iterator[tuple[str, RunConfig]]
"""Each small run of a recorder, with the tag of its record."""


class Trained(NamedTuple):
    """A run whose directory is gone again."""

    run: Run
    corpus: Corpus
    result: dict[str, Any]
    hypotheses: list[list[str]]
    """The greedy translations of the test split."""
    cpu_seconds: float
    """Processor time of the training."""

    def accuracy(self) -> list[dict[str, Any]]:
        """Tokens right on the test split, by source length."""
        test = self.corpus.splits["test"]
        return accuracy_by_length(self.hypotheses, test.target, list(map(len, test.source)))


def searching_runs(
    stem: str,
    settings: dict[str, Any],
    variants: Mapping[str, dict[str, Any]],
    seeds: Sequence[int],
) -> Runs:
    """RNNsearch on the embedded corpus, each variant with each seed, tagged STEM-VARIANT."""
    for seed in seeds:
        for name, changes in variants.items():
            config = RunConfig("rnnsearch", "toy", seed=seed, changes={**settings, **changes})
            yield f"{stem}-{name}", config


def small_runs(runs: Callable[[], Runs], measured: Callable[[Trained], dict[str, Any]]) -> Records:
    """Train and score each run; what is measured of it stands beside its result."""
    for tag, config in runs():
        done = trained(config)
        yield name_of(config, tag), {**done.result, **measured(done)}


def trained(config: RunConfig) -> Trained:
    """Train on one thread and score with greedy search, in a folder that does not stay."""
    torch.set_num_threads(1)
    corpus = corpus_of(config)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run"
        begin = process_time()
        train(config, corpus, path, quiet=True)
        seconds = process_time() - begin
        result = finish_run(path, corpus, beam=1)
        lines = (path / "hypotheses.test.txt").read_text(encoding="utf-8").splitlines()
        run = load_run(path)
    return Trained(run, corpus, result, [line.split() for line in lines], seconds)


def written(
    model: RNNsearch,
    words: tuple[Vocabulary, Vocabulary],
    sources: Sequence[Sequence[str]],
    k: int = 1,
    length_penalty: float = 1.0,
) -> list[list[str]]:
    """Translations of sentences, in words."""
    found = translate(model, [words[0].encode(source) for source in sources], k, length_penalty)
    return [words[1].decode(hypothesis.tokens) for hypothesis in found]


def examples_of(path: Path) -> list[dict[str, Any]]:
    """Of a run of RNNsearch a few test sentences: source, reference, translation (beam 12, ranked
    as when scored) and weights, rounded to four digits."""
    run, split = load_run(path), next(iter(read_result(path)["scores"]))
    part = corpus_of(run.config).splits[split]
    sources = [part.source[i] for i in EXAMPLES]
    encoded = [run.source_vocabulary.encode(source) for source in sources]
    found = translate(run.model, encoded, 12, run.config.recipe.length_penalty)
    return [
        {
            "split": split,
            "position": i,
            "source": [*source, "</s>"],
            "reference": part.target[i],
            "translation": [*run.target_vocabulary.decode(hypothesis.tokens), "</s>"],
            # Between whole words also where the model reads and writes pieces.
            "alpha": merge_pieces(
                hypothesis.alpha,
                run.source_vocabulary.words_of(numbers),
                run.target_vocabulary.words_of(hypothesis.tokens),
            )
            .round(4)
            .tolist(),
        }
        for i, source, numbers, hypothesis in zip(EXAMPLES, sources, encoded, found, strict=True)
    ]


def in_half_precision(path: Path) -> bytes:
    """A file of weights, each number the nearest one that half precision has.

    Raises:
        CourseError: a weight is too large for it.
    """
    weights = {name: value.half() for name, value in load_file(path).items()}
    if not all(value.isfinite().all() for value in weights.values()):
        raise CourseError(f"{path} has weights above 65,504, too large for half precision.")
    return save(weights)


def rounded_run(config: RunConfig, path: Path) -> Path:
    """A run that is scored with its weights in half precision, trained first if it is not."""
    if not (path / RESULT).exists():
        corpus = corpus_of(config)
        train(config, corpus, path, quiet=True, resume=True)
        write_atomically(path / BEST, in_half_precision(path / BEST))
        finish_run(path, corpus, beam=1)
    return path


def aligned_run(result: dict[str, Any]) -> dict[str, Any]:
    """What a record of alignments says first: whose they are, and at which commits."""
    kept = ("model", "corpus", "pair", "git_commit", "corpus_sha256")
    return {**{key: result[key] for key in kept}, "split": "test", "aligned_by": git_commit()}


def name_of(run: RunConfig | dict[str, Any], tag: str = "") -> str:
    """The name of the record of a run, given its configuration or its result."""
    known = vars(run) if isinstance(run, RunConfig) else run
    return recorded_name(known, tag).removesuffix(".json")


def captions(split: str, language: str) -> list[str]:
    """The lines of one file of Multi30k, as people wrote them."""
    (path,) = fetch([f"{split}.{language}.gz"])
    return gzip.decompress(path.read_bytes()).decode("utf-8").split("\n")[:-1]


def corpus_of(config: RunConfig) -> Corpus:
    """The corpus that a configuration asks for."""
    return config.load_corpus()


def kept_run(config: RunConfig, name: str, beam: int = 12) -> Path:
    """The directory RUNS/NAME, trained and scored first if it is not."""
    path = RUNS / name
    if not (path / RESULT).exists():
        corpus = corpus_of(config)
        train(config, corpus, path, resume=True)
        finish_run(path, corpus, beam)
    return path


def large(model: str, seed: int = 0) -> Path:
    """Chapter 7's run of `rnnsearch` or `rnnencdec`; other chapters read those of seed 0."""
    config = RunConfig(model, "multi30k", "en-de", seed=seed, changes=OLD_UNIT)
    return kept_run(config, f"compare-cpu-seed{seed}/{model}")


def updates(model: RNNsearch, pairs: list[EncodedPair], config: RunConfig) -> Iterator[int]:
    """Train by the configuration's recipe without validating; the number of each update made."""
    recipe = config.recipe
    optimiser = make_optimiser((p for p in model.parameters() if p.requires_grad), recipe)
    torch.manual_seed(config.seed)
    total = recipe.epochs * -(-len(pairs) // recipe.batch_size)
    step = 0
    for epoch in range(recipe.epochs):
        for index in bucketed_batches(pairs, recipe.batch_size, config.seed, epoch):
            for group in optimiser.param_groups:
                group["lr"] = learning_rate_at(step, total, recipe)
            model.train()
            batch, given = make_batch(pairs, index), given_at(step, total, recipe)
            if given is not None:
                batch = mixed_words(model, batch, given)
            loss, count = model.loss(batch)
            (loss / count).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), recipe.clip)
            optimiser.step()
            optimiser.zero_grad()
            step += 1
            yield step


def check_runs(runs: Runs, read: Read) -> None:
    """Every record of a small run is of the run that the recorder would train today."""
    for tag, config in runs:
        result = read(name_of(config, tag))
        assert result["changes"] == config.changes, tag
        assert result["seed"] == config.seed
        assert result["threads"] == 1
        assert result["scores"]["test"]["beam"] == 1


def check_scored(result: dict[str, Any]) -> dict[str, Any]:
    """A run on Multi30k was scored as others publish theirs, and is no larger than is compared.

    Returns the scores of the test split.
    """
    assert len(result["corpus_sha256"]) == 6
    assert result["parameters"] <= 10_000_000
    scores = result["scores"]["test_2016_flickr"]
    assert scores["beam"] == 12
    assert "tok:none" in scores["bleu_tok_signature"]
    assert "tok:13a" in scores["bleu_detok_signature"]
    assert sum(row["sentences"] for row in scores["by_length"]) == scores["sentences"] == 1000
    assert scores["by_length"][0]["bleu_tok"] == scores["short"]["bleu_tok"]
    assert scores["by_length"][-1]["bleu_tok"] == scores["long"]["bleu_tok"]
    return scores


def check_examples(examples: list[dict[str, Any]]) -> None:
    """Weights belong to their words; at most twenty sentences of the data are kept."""
    assert 1 <= len(examples) <= 20
    for example in examples:
        alpha = np.array(example["alpha"])
        assert alpha.shape == (len(example["translation"]), len(example["source"]))
        assert np.allclose(alpha.sum(axis=1), 1, atol=0.002)


def check_same(one: dict[str, Any], other: dict[str, Any], *keys: str) -> None:
    """Two records agree in these."""
    for key in keys:
        assert one[key] == other[key], f"{key} is another"


def check_corpus(record: dict[str, Any], model: str = "rnnsearch") -> None:
    """The sentences are those that the record's settings draw today."""
    changes = record["settings"] if "settings" in record else record["changes"]
    config = RunConfig(model, record["corpus"], record["pair"], changes=changes)
    assert record["corpus_sha256"] == corpus_of(config).sha256
