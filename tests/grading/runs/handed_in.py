"""A pair of runs that is handed in, and ways to change it."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import torch
import yaml
from safetensors.torch import load_file, save_file

from course_lib.corpora import load_corpus
from course_lib.corpora.corpus import Corpus
from course_lib.evaluation.score import measured
from course_lib.grading.runs.comparison import inspect
from course_lib.training.run_config import RunConfig

DATA = Path(__file__).parents[3] / "solutions" / "training_comparison" / "handed_in"
STUDENT = "reference"
NAME = "training_comparison"
TRANSLATIONS = "hypotheses.test.txt"
BOTH = ("rnnencdec", "rnnsearch")

Change = Callable[[Path], None]


def problems(folder: Path, student: str = STUDENT) -> dict[str, list[str]]:
    """What is wrong, for the parts where something is."""
    found = inspect(folder, student)
    json.dumps(found, allow_nan=False)
    everything = found["facts"]["problems"]
    told = " ".join(found["remarks"])
    assert all(one in told for said in everything.values() for one in said)
    return {part: said for part, said in everything.items() if said}


def edit_json(path: Path, change: Callable[[Any], None]) -> None:
    value = json.loads(path.read_text())
    change(value)
    path.write_text(json.dumps(value))


def edit_config(run: Path, **values: Any) -> None:
    path = run / "config.yaml"
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | values, sort_keys=False))


def edit_metrics(run: Path, line: int, **values: Any) -> None:
    path = run / "metrics.jsonl"
    rows = [json.loads(row) for row in path.read_text().splitlines()]
    rows[line] |= values
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def rescore(run: Path) -> None:
    """Report what the translations score, as a careful forger would."""
    score = measured([line.split() for line in lines(run)], corpus(), "test")

    def change(result: Any) -> None:
        result["scores"]["test"] |= score

    edit_json(run / "result.json", change)


def lines(run: Path) -> list[str]:
    return (run / TRANSLATIONS).read_text().splitlines()


def write_lines(run: Path, text: list[str]) -> None:
    (run / TRANSLATIONS).write_text("".join(line + "\n" for line in text))


@cache
def corpus() -> Corpus:
    recorded = yaml.safe_load((DATA / "comparison" / "rnnsearch" / "config.yaml").read_text())
    keys = ("model", "corpus", "pair", "preset", "seed", "changes")
    config = RunConfig(**{key: recorded[key] for key in keys})
    return load_corpus("toy", **config.corpus_options)


def references() -> list[str]:
    """The references in the words that the models know."""
    words = set(json.loads((DATA / "comparison/rnnsearch/vocabulary.json").read_text())["target"])
    return [
        " ".join(word if word in words else "<unk>" for word in target)
        for target in corpus().splits["test"].target
    ]


def set_weights(run: Path, change: Callable[[torch.Tensor], torch.Tensor]) -> None:
    tensors = load_file(run / "model.safetensors")
    save_file({name: change(value) for name, value in tensors.items()}, run / "model.safetensors")
