"""What came out of a run: result.json and the scored translations."""

import json
import platform
import sys
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from course_lib.corpora.corpus import Corpus
from course_lib.evaluation.score import score_split
from course_lib.files import sha256_of, write_atomically
from course_lib.models import count_parameters
from course_lib.pretrained import published_path
from course_lib.training.provenance import device_name, git_commit
from course_lib.training.run import Run, load_run
from course_lib.training.run_directory import (
    BEST,
    RESULT,
    known_at_start,
    read_metrics,
    read_result,
)
from course_lib.training.same_run import check_same_data

PACKAGES = (
    "torch",
    "numpy",
    "tokenizers",
    "sacremoses",
    "sacrebleu",
    "accelerate",
    "safetensors",
)


def finish_run(path: Path | str, corpus: Corpus, beam: int = 12) -> dict[str, Any]:
    """Write result.json of a trained run, with scores on every test split of its corpus.

    Of a run that has one, of these weights, it is kept, with its scores; only test splits without
    any are scored.
    """
    run = load_run(path)
    metrics = read_metrics(path)
    best = min(metrics, key=lambda record: record["val_loss"])
    start = known_at_start(path)
    result = {
        **asdict(run.config),
        "model_config": run.model.config.to_dict(),
        "recipe": asdict(run.config.recipe),
        "parameters": count_parameters(run.model),
        "train_seconds": metrics[-1]["seconds"],
        **start,
        "epochs": metrics[-1]["epoch"],
        "best_epoch": best["epoch"],
        "best_val_loss": best["val_loss"],
        "precision": run.config.recipe.precision,
        "device": device_name(),
        "threads": torch.get_num_threads(),
        "versions": {"python": platform.python_version(), **{p: version(p) for p in PACKAGES}},
        "scored_by": git_commit(),
        "model_sha256": sha256_of(run.path / BEST),
        "corpus_sha256": dict(corpus.sha256),
        "metrics": metrics,
        "scores": {},
    }
    if (run.path / RESULT).exists():
        before = read_result(run.path)
        if before["model_sha256"] == result["model_sha256"]:
            result = before
    write_atomically(run.path / RESULT, json.dumps(result, indent=1) + "\n")
    for split in corpus.splits:
        if split.startswith("test") and split not in result["scores"]:
            score_run(run, corpus, split, beam)
    return read_result(run.path)


def score_run(run: Run, corpus: Corpus, split: str, beam: int) -> dict[str, Any]:
    """Score a run on one split; the scores, as result.json keeps them.

    They are written down, and the translations with them, unless the run has been scored on this
    split by another search: a record is not replaced by a trial. Nor is anything written beside a
    published model.
    """
    check_same_data(run, corpus)
    penalty = run.config.recipe.length_penalty
    scores, hypotheses = score_split(run.model, run.words, corpus, split, beam, penalty)
    result = read_result(run.path)
    kept = result["scores"].get(split, scores)
    if run.path == published_path(run.path.name) or _search(kept) != _search(scores):
        return scores
    lines = "".join(" ".join(tokens) + "\n" for tokens in hypotheses)
    result["scores"][split] = scores
    try:
        write_atomically(run.path / f"hypotheses.{split}.txt", lines)
        write_atomically(run.path / RESULT, json.dumps(result, indent=1) + "\n")
    except OSError as error:
        print(f"{run.path} cannot keep this score: {error.strerror}.", file=sys.stderr)
    return scores


def _search(scores: Mapping[str, Any]) -> tuple[int, float]:
    """By which search scores were made; early records name the beam alone."""
    return scores["beam"], scores.get("length_penalty", 1.0)
