"""Trains the small pair of runs that the tests of `training_comparison` hand in.

    python tests/assignments/record_comparison.py

What they are for is being well-formed and honest, and quick to check; they translate badly.
Takes minutes, and is needed again only when the form of a run directory changes.
"""

import shutil
from pathlib import Path

from course_lib.assignments import owner
from course_lib.corpora import load_corpus
from course_lib.grading.runs.comparison import inspect
from course_lib.training import compare, compared_configs

STUDENT = "reference"
PLACE = Path(__file__).parents[2] / "solutions" / "training_comparison" / "handed_in"
CHANGES = {
    "hidden": 24,
    "embedding": 24,
    "alignment": 24,
    "readout": 24,
    "epochs": 10,
    "batch_size": 16,
    "learning_rate": 0.01,
    "label_smoothing": 0.0,
    "dropout": 0.0,
    "warmup": 20,
    "min_frequency": 1,
    "precision": "fp32",
    "corpus.clauses": [1, 3],
    "corpus.max_words": 24,
    "corpus.train": 800,
    "corpus.val": 30,
    "corpus.test": 60,
}


def main() -> None:
    configs = compared_configs(
        corpus="toy", preset="cpu", seed=owner.seed(STUDENT), changes=CHANGES
    )
    corpus = load_corpus("toy", **configs["rnnsearch"].corpus_options)
    shutil.rmtree(PLACE, ignore_errors=True)
    compare(configs, corpus, PLACE / "comparison", beam=3)
    for state in PLACE.glob("comparison/*/last.safetensors"):
        state.unlink()
    report = inspect(PLACE, STUDENT)
    assert not any(report["facts"]["problems"].values()), report["remarks"]


if __name__ == "__main__":
    main()
