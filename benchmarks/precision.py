"""Does bfloat16 cost translation quality? The same trainings in both precisions, seed by seed.

    for seed in 0 1 2; do for precision in bf16 fp32; do
        course train --model rnnsearch --corpus multi30k --preset cpu --seed $seed \\
            --set epochs=2 --set precision=$precision --out runs/precision/$precision-$seed
    done; done
    python -m benchmarks.precision runs/precision

writes benchmarks/results/precision.json from what the runs recorded of themselves.
"""

import argparse
import json
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from benchmarks.machine import about
from course_lib.files import write_atomically
from course_lib.training import read_result

RECORD = Path(__file__).parent / "results" / "precision.json"


def compared(directory: Path) -> dict[str, Any]:
    """Every run below the directory, and what the precisions differ by.

    `bleu_tok` is of beam 12 on the first test split. `difference` is bf16 minus fp32 of the same
    seed: its mean, and beside it the standard deviation of BLEU over the seeds of each precision.
    """
    results = [read_result(path) for path in sorted(directory.glob("*/result.json"))]
    runs = [
        {
            "precision": result["precision"],
            "seed": result["seed"],
            "epochs": result["epochs"],
            "bleu_tok": next(iter(result["scores"].values()))["bleu_tok"],
            "best_val_loss": result["best_val_loss"],
            "train_seconds": result["train_seconds"],
            "git_commit": result["git_commit"],
        }
        for result in results
    ]
    by_seed = {
        precision: {run["seed"]: run["bleu_tok"] for run in runs if run["precision"] == precision}
        for precision in ("bf16", "fp32")
    }
    seeds = sorted(by_seed["bf16"].keys() & by_seed["fp32"].keys())
    return {
        "what": "precision",
        "corpus": results[0]["corpus"],
        "model": results[0]["model"],
        "split": next(iter(results[0]["scores"])),
        "runs": runs,
        "difference": mean(by_seed["bf16"][seed] - by_seed["fp32"][seed] for seed in seeds),
        "seed_noise": {name: stdev(bleu.values()) for name, bleu in by_seed.items()},
        **about(),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path)
    record = compared(parser.parse_args().directory)
    write_atomically(RECORD, json.dumps(record, indent=1) + "\n")
    print(f"bf16 - fp32: {record['difference']:+.2f} BLEU; over seeds {record['seed_noise']}")
