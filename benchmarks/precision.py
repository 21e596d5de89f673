"""Does bfloat16 cost translation quality? The same trainings in both precisions, seed by seed."""

from itertools import product
from statistics import mean, stdev
from typing import Any

from benchmarks.machine import about
from course_lib.training import RunConfig, read_result
from experiments.recording import kept_run

SEEDS = (0, 1, 2)
EPOCHS = 2


def measure_precision() -> dict[str, Any]:
    """Every run, trained now if it is not below runs/precision/, and what the precisions differ by.

    `bleu_tok` is of beam 12 on the first test split. `difference` is bf16 minus fp32 of the same
    seed: its mean, and beside it the standard deviation of BLEU over the seeds of each precision.
    """
    bleu: dict[str, list[float]] = {"bf16": [], "fp32": []}
    runs = []
    for precision, seed in product(bleu, SEEDS):
        changes = {"epochs": EPOCHS, "precision": precision}
        config = RunConfig("rnnsearch", "multi30k", "en-de", "cpu", seed, changes)
        result = read_result(kept_run(config, f"precision/{precision}-{seed}"))
        (split, scores), *_ = result["scores"].items()
        bleu[precision].append(scores["bleu_tok"])
        kept = ("precision", "seed", "epochs", "best_val_loss", "train_seconds", "git_commit")
        runs.append({**{key: result[key] for key in kept}, "bleu_tok": scores["bleu_tok"]})
    return {
        "what": "precision",
        "corpus": result["corpus"],
        "model": result["model"],
        "split": split,
        "runs": runs,
        "difference": mean(bf16 - fp32 for bf16, fp32 in zip(*bleu.values(), strict=True)),
        "seed_noise": {name: stdev(scores) for name, scores in bleu.items()},
        **about(),
    }
