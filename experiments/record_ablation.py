"""Record what each ingredient of the preset `laptop` is worth: one thing changed at a time.

    python experiments/record_ablation.py runs/ablation                  # every row, seed 0
    python experiments/record_ablation.py runs/ablation words no-tying   # these rows alone
    python experiments/record_ablation.py runs/ablation --seeds 0,1,2 one-unit

Each run has its directory runs/ablation/ROW-seedN and is written to
multi30k-en-de-rnnsearch-laptop-ablation-ROW-seedN.json. The validation set is scored
with the same beam as the test set: greedy search ranks the rows in another order. Runs that are
done are not trained again, and one that was stopped goes on, so the command may be given as often
as you like.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from recording import write

from course_lib.corpora import load_corpus
from course_lib.errors import CourseError
from course_lib.training import (
    RunConfig,
    finish_run,
    load_run,
    read_result,
    recorded_name,
    score_run,
    train,
)

PRESET = "laptop"
BEAM = 12
ROWS: dict[str, dict[str, Any]] = {
    "one-unit": {"order": "before"},
    "words": {"subwords": None, "tying": "output"},
    "no-tying": {"tying": "none"},
    "previous-state": {"reads": "previous"},
    "no-averaging": {"averaging": 0.0},
    "no-dropout": {"dropout": 0.0},
    "no-smoothing": {"label_smoothing": 0.0},
    "constant-rate": {"schedule": "constant"},
}
"""What each row sets against the preset; `words` cannot share its tables over both sides.

All are compared with the preset's own runs (record.py).
"""


def config_of(row: str, seed: int) -> RunConfig:
    """The run of one cell."""
    return RunConfig("rnnsearch", "multi30k", "en-de", PRESET, seed, ROWS[row])


def record(runs: Path, rows: Sequence[str], seeds: Sequence[int]) -> None:
    """Train, score and write down what is missing, row by row."""
    if unknown := set(rows) - ROWS.keys():
        raise CourseError(f"There is no row {min(unknown)!r}. Choose {', '.join(ROWS)}.")
    corpus = load_corpus("multi30k", "en-de")
    for row in rows:
        for seed in seeds:
            directory = runs / f"{row}-seed{seed}"
            train(config_of(row, seed), corpus, directory, resume=True)
            if not (directory / "result.json").exists():
                finish_run(directory, corpus, BEAM)
            if "val" not in read_result(directory)["scores"]:
                score_run(load_run(directory), corpus, "val", BEAM)
            result = read_result(directory)
            write(recorded_name(result, f"ablation-{row}"), result)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("runs", type=Path)
    parser.add_argument("rows", nargs="*", default=list(ROWS), metavar="ROW")
    parser.add_argument("--seeds", default="0")
    asked = parser.parse_args()
    record(asked.runs, asked.rows, [int(seed) for seed in asked.seeds.split(",")])
