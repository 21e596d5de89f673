"""Record what a GPU does: the comparison on Multi30k, three precisions, the paper's preset.

    python book/record_gpu.py                       # everything, about an hour on one GPU
    python book/record_gpu.py --device cpu --tiny   # tries the script in small

Writes results/gpu.json, which the page "From a laptop to a cluster" reads. A stopped recording goes
on with the same command: its trainings stay in --runs.
"""

import argparse
import json
import random
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

import torch

from course_lib.corpora import load_corpus
from course_lib.corpora.batches import Batch, bucketed_batches, make_batch
from course_lib.errors import CourseError
from course_lib.files import write_atomically
from course_lib.models import build_model, model_config
from course_lib.training import RECIPES, compare, compared_configs, cost
from course_lib.training.provenance import device_name, git_commit
from course_lib.training.recipe import make_optimiser

RESULTS = Path(__file__).parent / "results"
PRECISIONS = ("fp32", "tf32", "bf16")
PAPER_UPDATES = 288_000
"""Of RNNsearch-50 (Table 2)."""
TINY = {"embedding": 16, "hidden": 16, "alignment": 16, "readout": 8}
TINY_RUN = {
    **TINY,
    **{"readout": 16, "epochs": 1, "batch_size": 32, "subwords": 120},
    **{"corpus.train": 200, "corpus.val": 20, "corpus.test": 20},
}


def main(arguments: list[str] | None = None) -> None:
    """Measure and write; with no GPU and without --device cpu, say so."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--tiny", action="store_true", help="small models, a few updates")
    parser.add_argument("--runs", type=Path, default=Path("runs/gpu"), help="the trainings")
    parser.add_argument("--out", type=Path, default=RESULTS / "gpu.json")
    parser.add_argument("--updates", type=int, default=40, help="updates that are timed")
    asked = parser.parse_args(arguments)
    if asked.device == "cuda" and not torch.cuda.is_available():
        parser.error("there is no GPU here. To try the script: --device cpu --tiny")
    if asked.tiny and asked.out == RESULTS / "gpu.json":
        parser.error("a trial is no result. Name another file: --tiny --out trial.json")
    try:
        record = measure(asked.device, asked.tiny, asked.runs, asked.updates)
    except CourseError as error:
        sys.exit(str(error))
    write_atomically(asked.out, json.dumps(record, indent=1) + "\n")
    print(f"wrote {asked.out}")


def measure(device: str, tiny: bool, runs: Path, updates: int) -> dict[str, Any]:
    """Everything that results/gpu.json has."""
    speeds = {
        preset: {
            precision: speed(device, preset, precision, updates, TINY if tiny else {})
            for precision in PRECISIONS
        }
        for preset in ("gpu", "paper")
    }
    projected = {
        precision: PAPER_UPDATES * found["seconds_an_update"] / 86_400
        for precision, found in speeds["paper"].items()
    }
    return {
        "device": device_name() if device == "cuda" else "cpu",
        "tiny": tiny,
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "torch": version("torch"),
        "git_commit": git_commit(),
        "speeds": speeds,
        "paper_updates": PAPER_UPDATES,
        "projected_days": projected,
        "comparison": comparison(tiny, runs),
    }


def speed(
    device: str, preset: str, precision: str, updates: int, sizes: dict[str, int]
) -> dict[str, float]:
    """Updates of RNNsearch at a preset's sizes: seconds of one, target words a second, memory."""
    recipe = RECIPES[preset]
    vocabulary = 500 if sizes else recipe.max_words or 8_000
    model = build_model(model_config("rnnsearch", preset, vocabulary, vocabulary, **sizes))
    model.to(device).train()
    optimiser = make_optimiser(model.parameters(), recipe)
    batches = [batch.to(device) for batch in minibatches(preset, vocabulary, recipe.batch_size)]
    allow_tf32(precision == "tf32")
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    seconds, words = [], []
    for number in range(updates + 3):  # the first three warm up
        batch = batches[number % len(batches)]
        started = time.perf_counter()
        with half(device) if precision == "bf16" else nullcontext():
            loss, count = model(batch, recipe.label_smoothing)
        (loss / count).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), recipe.clip)
        optimiser.step()
        optimiser.zero_grad()
        if device == "cuda":
            torch.cuda.synchronize()
        if number >= 3:
            seconds.append(time.perf_counter() - started)
            words.append(int(batch.target_mask.sum()))
    allow_tf32(False)
    return {
        "seconds_an_update": sum(seconds) / len(seconds),
        "median_seconds_an_update": median(seconds),
        "target_words_a_second": sum(words) / sum(seconds),
        "peak_gib": torch.cuda.max_memory_allocated() / 2**30 if device == "cuda" else 0.0,
    }


def half(device: str) -> AbstractContextManager[Any]:
    """Products in bfloat16, as `--set precision=bf16` has them."""
    return torch.autocast(device, torch.bfloat16)


def allow_tf32(allowed: bool) -> None:
    """Whether a GPU may multiply fp32 numbers with ten bits of mantissa."""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = allowed


def minibatches(preset: str, vocabulary: int, size: int) -> list[Batch]:
    """Twenty minibatches of random words, sorted as in training, as long as the preset's corpus.

    For the paper's preset an average pair has the words that the paper's data have, none more than
    50; for the others those of Multi30k.
    """
    draw = random.Random(0)
    means, longest = (cost.PAPER_WORDS, 50) if preset == "paper" else ((12.0, 12.0), 40)
    pairs = []
    for _ in range(20 * size):
        stretch = draw.gammavariate(3, 1 / 3)
        lengths = [max(1, min(longest, round(mean * stretch))) for mean in means]
        pairs.append(
            (
                [draw.randrange(4, vocabulary) for _ in range(lengths[0])],
                [draw.randrange(4, vocabulary) for _ in range(lengths[1])],
            )
        )
    return [make_batch(pairs, index) for index in bucketed_batches(pairs, size, 0, 0)]


def comparison(tiny: bool, runs: Path) -> dict[str, Any]:
    """Both models on Multi30k to their best, as `course compare --preset best` trains them."""
    corpus, changes = ("toy", TINY_RUN) if tiny else ("multi30k", {})
    configs = compared_configs(corpus=corpus, pair="en-de", preset="best", seed=0, changes=changes)
    data = load_corpus(corpus, "en-de", **next(iter(configs.values())).corpus_options)
    results = compare(configs, data, runs, beam=1 if tiny else 12)
    return {
        model: {
            "parameters": result["parameters"],
            "minutes": result["train_seconds"] / 60,
            "epochs": result["epochs"],
            "device": result["device"],
            "bleu_tok": {split: scores["bleu_tok"] for split, scores in result["scores"].items()},
        }
        for model, result in results.items()
    }


if __name__ == "__main__":
    main()
