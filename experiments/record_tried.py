"""Record what was tried on the validation set before presets were settled.

    python experiments/record_tried.py runs/explore

Writes CORPUS-PAIR-tried.json for each pair: of every run below the directory, finished
or given up, its settings, its learning curve, and where it was started. What was written down
before stays, for a record lasts longer than a directory. These numbers are those of the validation
split, and no test score is among them.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import recording
import yaml

from course_lib.models import ModelConfig
from course_lib.training import Recipe
from course_lib.training.run_directory import CONFIG, read_metrics

DEFAULTS = {**ModelConfig(4, 4).to_dict(), **asdict(Recipe())}
"""What a run had of settings that are younger than it is."""


def tried(directory: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each run's corpus and pair, and what is known of it."""
    for path in sorted(directory.glob(f"*/{CONFIG}")):
        config = yaml.safe_load(path.read_text())
        settings = {**DEFAULTS, **config["model_config"], **config["recipe"]}
        keep = ("model", "seed", "git_commit")
        run = {"run": path.parent.name, **{key: config[key] for key in keep}}
        run |= {"settings": settings, "metrics": read_metrics(path.parent)}
        yield f"{config['corpus']}-{config['pair']}", run


def record(directory: Path) -> None:
    """Write down each pair's runs beside those that are written down already."""
    pairs: dict[str, dict[str, dict[str, Any]]] = {}
    for pair, run in tried(directory):
        pairs.setdefault(pair, {})[run["run"]] = run
    for pair, runs in pairs.items():
        path = recording.place_of(f"{pair}-tried.json")
        before = json.loads(path.read_text(encoding="utf-8"))["runs"] if path.exists() else []
        every = {run["run"]: run for run in before} | runs
        kept = [every[name] for name in sorted(every)]
        recording.write(path.name, {"split": "val", "search": "greedy", "runs": kept})


if __name__ == "__main__":
    record(Path(sys.argv[1]))
