"""What the recorders share: the settings of a small run, how one is trained, where a record goes.

Each `record_NAME.py` beside this is started by hand and records what a page has no time for. Those
that write a file a run list their runs in `runs()`.
"""

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import torch
from safetensors.torch import load_file, save
from torch import Tensor

from course_lib.corpora import Corpus, load_corpus
from course_lib.corpora.batches import Batch
from course_lib.errors import CourseError
from course_lib.evaluation.accuracy import accuracy_by_length
from course_lib.evaluation.faithfulness import erased_words, left_out_words, rank_correlation
from course_lib.files import sha256_of, write_atomically
from course_lib.models import EncoderDecoder
from course_lib.training import Run, RunConfig, finish_run, load_run, read_result, train
from course_lib.training.provenance import git_commit
from course_lib.training.run_directory import BEST

EXPERIMENTS = Path(__file__).parent
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
TOY: dict[str, Any] = {
    **SMALL,
    "corpus.train": 10_000,
    "corpus.val": 200,
    "corpus.test": 500,
    "learning_rate": 5e-3,
}
"""The same on the embedded corpus, without the epochs."""
Runs = Iterator[tuple[str, RunConfig]]
"""Each run of a recorder, with the tag of its file."""


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


def trained(config: RunConfig, watch: Callable[[EncoderDecoder], None] | None = None) -> Trained:
    """Train on one thread and score with greedy search, in a folder that does not stay.

    `watch` is called with the model after each validation.
    """
    torch.set_num_threads(1)
    corpus = load_corpus(config.corpus, config.pair, **config.corpus_options)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run"
        begin = process_time()
        train(config, corpus, path, quiet=True, watch=watch)
        seconds = process_time() - begin
        result = finish_run(path, corpus, beam=1)
        lines = (path / "hypotheses.test.txt").read_text(encoding="utf-8").splitlines()
        run = load_run(path)
    return Trained(run, corpus, result, [line.split() for line in lines], seconds)


def absence(model: EncoderDecoder, batch: Batch, alpha: Tensor) -> dict[str, float]:
    """Kendall's tau between a step's weights and what each source word's absence changes.

    Averaged over the steps, for words `erased` from the memory and `left_out` of the sentence; the
    end mark does not take part.
    """
    left_out = left_out_words(model, batch)
    erased = erased_words(model, batch).masked_fill(left_out.isnan(), torch.nan)
    return {
        name: float(rank_correlation(alpha, changes).nanmean())
        for name, changes in (("erased", erased), ("left_out", left_out))
    }


def result_of(path: Path) -> dict[str, Any]:
    """The result of a run directory; older ones do not say themselves which weights they are of."""
    result = read_result(path)
    result.setdefault("model_sha256", sha256_of(path / BEST))
    return result


def in_half_precision(path: Path) -> bytes:
    """A file of weights, each number the nearest one that half precision has.

    Raises:
        CourseError: a weight is too large for it.
    """
    weights = {name: value.half() for name, value in load_file(path).items()}
    if not all(value.isfinite().all() for value in weights.values()):
        raise CourseError(f"{path} has weights above 65,504, too large for half precision.")
    return save(weights)


def aligned_run(result: dict[str, Any]) -> dict[str, Any]:
    """What a record of alignments says first: whose they are, and at which commits."""
    kept = ("model", "corpus", "pair", "git_commit", "corpus_sha256")
    return {**{key: result[key] for key in kept}, "split": "test", "aligned_by": git_commit()}


def write(name: str, record: Any) -> None:
    """One file, in place of the record of that name."""
    path = place_of(name)
    write_atomically(path, json.dumps(record, ensure_ascii=False, indent=1) + "\n")
    print(f"wrote {path.relative_to(EXPERIMENTS.parent)}", flush=True)


def place_of(name: str) -> Path:
    """Where a record lies, or would."""
    return next(EXPERIMENTS.glob(f"*/{name}"), EXPERIMENTS / name)
