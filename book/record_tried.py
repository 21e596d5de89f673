"""Record what was tried on the validation set before presets were settled.

    python book/record_tried.py runs/explore

Writes book/results/CORPUS-PAIR-tried.json for each pair: of every run below the directory, finished
or given up, its settings where the runs differ, its learning curve, and where it was started. These
numbers are those of the validation split, and no test score is among them.
"""

import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml
from recording import write

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
    """Write down the runs of each pair, with the settings in which they differ."""
    pairs: dict[str, list[dict[str, Any]]] = {}
    for pair, run in tried(directory):
        pairs.setdefault(pair, []).append(run)
    for pair, runs in pairs.items():
        first = runs[0]["settings"]
        differing = [
            key for key in first if any(run["settings"][key] != first[key] for run in runs)
        ]
        for run in runs:
            run["settings"] = {key: run["settings"][key] for key in differing}
        write(f"{pair}-tried.json", {"split": "val", "search": "greedy", "runs": runs})


if __name__ == "__main__":
    record(Path(sys.argv[1]))
