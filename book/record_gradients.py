"""Record how much of a gradient survives the way back, for each recurrent unit.

    python book/record_gradients.py

RNNencdec with a forward encoder on the embedded corpus, once with each unit; about ten minutes of
training on a quiet core. Writes book/results/toy-en-de-rnnencdec-cpu-gates-UNIT-seed0.json: each
run's result.json and, under `gradients`, what is left of a gradient k steps back at the ends of the
test sentences, with the weights as drawn (`fresh`) and as `trained`, and, under `gates`, how far
the trained gates are open along the first of them.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

import torch

from course_lib.corpora import load_corpus
from course_lib.evaluation.gradients import (
    forward_unit,
    gates_along,
    gradients_through_time,
    sentence_ends,
)
from course_lib.files import write_atomically
from course_lib.models import build_model
from course_lib.training import RunConfig, finish_run, load_run, recorded_name, train

RESULTS = Path(__file__).parent / "results"
UNITS = ("tanh", "lstm", "torch", "paper")
WORDS = 18
"""How many words back, end mark included: one test sentence in five is as long."""
SETTINGS: dict[str, Any] = {
    "corpus.train": 10_000,
    "corpus.val": 200,
    "corpus.test": 500,
    "encoder": "forward",
    "embedding": 64,
    "hidden": 64,
    "alignment": 64,
    "readout": 64,
    "dropout": 0.0,
    "label_smoothing": 0.0,
    "epochs": 8,
    "batch_size": 64,
    "learning_rate": 5e-3,
    "warmup": 100,
    "min_frequency": 1,
    "precision": "fp32",
}


def record(unit: str) -> None:
    """Train, measure and write one unit."""
    config = RunConfig("rnnencdec", "toy", changes={**SETTINGS, "unit": unit})
    corpus = load_corpus(config.corpus, config.pair, **config.corpus_options)
    with tempfile.TemporaryDirectory() as folder:
        run_path = Path(folder) / "run"
        train(config, corpus, run_path)
        result = finish_run(run_path, corpus, beam=1)
        run = load_run(run_path)
    sources = [run.source_vocabulary.encode(words) for words in corpus.splits["test"].source]
    fresh = build_model(run.model.config, config.seed)
    result["gradients"] = {}
    for name, model in {"fresh": fresh, "trained": run.model}.items():
        words, states = sentence_ends(model, sources, WORDS)
        result["gradients"][name] = gradients_through_time(forward_unit(model), words, states)
    result["sentences"] = len(words)
    result["gates"] = {} if unit == "tanh" else gates_along(forward_unit(run.model), words[0])
    name = recorded_name(result, f"gates-{unit}")
    write_atomically(RESULTS / name, json.dumps(result, indent=1) + "\n")
    print(f"wrote results/{name}")


if __name__ == "__main__":
    torch.set_num_threads(1)
    for unit in UNITS:
        record(unit)
