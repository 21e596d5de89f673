"""Record what chapter 1's moving figure explores: tokens right by length, both models, four sizes.

    python experiments/record_explorer.py

Trains RNNencdec and RNNsearch on the verb-final strings, with each size of the state and each seed,
in runs/explorer/; a training that is finished there is taken as it is. About ten minutes of a quiet
core a seed. Writes

bottleneck-explorer.json: the numbers and, under `runs`, where each comes from;
explorer/NAME-nSIZE/: the models of the first seed. Their weights were rounded to half
    precision before anything was measured.
"""

import shutil
from pathlib import Path
from typing import Any

import torch
from record_bottleneck import PAGE
from recording import EXPERIMENTS, in_half_precision, write

from course_lib.corpora import load_corpus
from course_lib.evaluation.accuracy import accuracy_by_length
from course_lib.files import sha256_of, write_atomically
from course_lib.search import translate
from course_lib.training import Run, RunConfig, finish_run, load_run, read_result, train
from course_lib.training.run_directory import BEST, CONFIG, RESULT, VOCABULARY

MODELS = ("RNNencdec", "RNNsearch")
SIZES = (16, 32, 64, 128)
SEEDS = (0,)
"""Append one to learn how far two trainings differ; the figure draws their spread."""
TRAINING = {**PAGE, "corpus.train": 40_000, "epochs": 4}
"""Of the page's recipe twice the sentences and twice the passes over them."""
PAST = {"min_length": 21, "max_length": 30, "train": 1, "val": 1, "test": 1_000}
"""Sentences longer than any in training."""
KEPT = ("model", "corpus", "pair", "preset", "seed", "changes", "parameters", "git_commit")
DIRECTORY = Path(__file__).parents[1] / "runs" / "explorer"
GIVEN = EXPERIMENTS / "01-bottleneck" / "explorer"
Pairs = list[tuple[list[str], list[str]]]
Key = tuple[str, int, int]
"""Model, size, seed."""


def config_of(model: str, size: int, seed: int) -> RunConfig:
    """The training of one of the figure's models."""
    return RunConfig(
        model.lower(), "verbs", "tokens", seed=seed, changes={**TRAINING, "hidden": size}
    )


def trained(config: RunConfig, path: Path) -> Run:
    """The run in `path`, trained now unless it is finished there."""
    if not (path / RESULT).exists():
        shutil.rmtree(path, ignore_errors=True)
        corpus = load_corpus(config.corpus, config.pair, **config.corpus_options)
        train(config, corpus, path, quiet=True)
        write_atomically(path / BEST, in_half_precision(path / BEST))
        finish_run(path, corpus, beam=1)
        print(f"trained {path.name}", flush=True)
    return load_run(path, "cpu")


def sentences() -> tuple[Pairs, Pairs, dict[str, str]]:
    """What is measured: the test split, the longer sentences, and what both were drawn with."""
    config = config_of(MODELS[0], SIZES[0], SEEDS[0])
    corpus = load_corpus(config.corpus, config.pair, **config.corpus_options)
    past = load_corpus(config.corpus, config.pair, **PAST)
    seen, longer = (
        list(zip(part.source, part.target, strict=True))
        for part in (corpus.splits["test"], past.splits["test"])
    )
    return seen, longer, {"seen": corpus.sha256["generator"], "longer": past.sha256["generator"]}


def translations(run: Run, pairs: Pairs) -> list[list[str]]:
    """Greedy translations of the sources."""
    encoded = [run.source_vocabulary.encode(source) for source, _ in pairs]
    found = translate(run.model, encoded, k=1)
    return [run.target_vocabulary.decode(hypothesis.tokens) for hypothesis in found]


def told(run: Run) -> dict[str, Any]:
    """What a run's result says of where it comes from."""
    result = read_result(run.path)
    return {
        **{key: result[key] for key in KEPT},
        "updates": result["metrics"][-1]["step"],
        "corpus_sha256": result["corpus_sha256"],
        "model_sha256": sha256_of(run.path / BEST),
    }


def measured(runs: dict[Key, Run]) -> dict[str, Any]:
    """The figure's numbers, and where they come from."""
    seen, longer, checksums = sentences()
    pairs = seen + longer
    targets, lengths = [target for _, target in pairs], [len(source) for source, _ in pairs]
    written = {key: translations(run, pairs) for key, run in runs.items()}
    rows = {key: accuracy_by_length(w, targets, lengths) for key, w in written.items()}
    some = rows[MODELS[0], SIZES[0], SEEDS[0]]
    seeds = sorted({seed for _, _, seed in runs})
    about = {
        f"{name} n{size} seed{seed}": told(runs[name, size, seed]) for name, size, seed in runs
    }
    (updates,) = {run["updates"] for run in about.values()}

    def example(at: int) -> dict[str, Any]:
        source, reference = pairs[at]
        by_size = {name: [written[name, n, SEEDS[0]][at] for n in SIZES] for name in MODELS}
        return {"source": source, "reference": reference, "written": by_size}

    figure = {
        "sizes": list(SIZES),
        "lengths": [row["lower"] for row in some],
        "sentences": [row["sentences"] for row in some],
        "trained": [min(lengths), max(len(source) for source, _ in seen)],
        "updates": updates,
        "accuracy": {
            name: [
                [[round(row["tokens"], 1) for row in rows[name, size, seed]] for seed in seeds]
                for size in SIZES
            ]
            for name in MODELS
        },
        "examples": [example(lengths.index(row["lower"])) for row in some],
        "length": 16,
        "size": 64,
    }
    return {"sentences_sha256": checksums, "longer": PAST, "runs": about, "figure": figure}


def give(runs: dict[Key, Run]) -> None:
    """Keep the models of the first seed beside the numbers."""
    for (name, size, seed), run in runs.items():
        if seed == SEEDS[0]:
            place = GIVEN / f"{name.lower()}-n{size}"
            place.mkdir(parents=True, exist_ok=True)
            for file in (CONFIG, VOCABULARY, BEST):
                shutil.copyfile(run.path / file, place / file)


def record() -> None:
    """Train what is missing and measure; what one seed has taught is written before the next."""
    torch.set_num_threads(1)
    runs = {}
    for seed in SEEDS:
        for size in SIZES:
            for name in MODELS:
                path = DIRECTORY / f"{name.lower()}-n{size}-seed{seed}"
                runs[name, size, seed] = trained(config_of(name, size, seed), path)
        write("bottleneck-explorer.json", measured(runs))
        give(runs)


if __name__ == "__main__":
    record()
