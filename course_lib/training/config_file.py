"""A run's configuration from a file: the config.yaml of a run, or one written by hand."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml

from course_lib.errors import CourseError
from course_lib.training.run_config import NOT_SETTABLE, RunConfig, as_number

DECIDING: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("model", "corpus", "pair", "preset"), str),
    "seed": int,
    "changes": dict,
    "init_from": (dict, str),
}
"""What a file may say for RunConfig."""
RESOLVED = ("model_config", "recipe")
"""The values that the preset and the changes came to."""
KNOWN = (
    "corpus_sha256",
    "lowercased",
    "rules",
    "vocabulary_sha256",
    "git_commit",
    "processes",
    "threads",
    "forecast_seconds",
)
"""What a run notes beside them, which is not looked at."""


def with_file(path: Path, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of RunConfig as a file says them, `given` ones in place of the file's.

    Every value of the file counts: where one under model_config or recipe is not what preset and
    changes come to here, because somebody wrote it there or the presets were others, it becomes a
    change.

    Raises:
        CourseError: the file is no such configuration, or contradicts itself.
    """
    record = _read(path)
    values = {name: record[name] for name in DECIDING if name in record}
    if "model" not in {**values, **given}:
        raise CourseError(f"{path} names no model. Add one there, or --model.")
    changes = {name: as_number(value) for name, value in values.get("changes", {}).items()}
    config = RunConfig(**{"corpus": "", **given, **values, "changes": changes})
    resolved = {**config.model_config(4, 4).to_dict(), **asdict(config.recipe)}
    more = {
        name: as_number(value)
        for table in RESOLVED
        for name, value in record.get(table, {}).items()
        if name not in NOT_SETTABLE and resolved.get(name, ...) != as_number(value)
    }
    for name in more.keys() & changes.keys():
        raise CourseError(
            f"{path} says {name}={changes[name]!r} under changes and {more[name]!r} further down. "
            "Delete one of the two."
        )
    return {**values, "changes": {**changes, **more}, **given}


def _read(path: Path) -> dict[str, Any]:
    """The file's record, each name one that a run writes."""
    try:
        record = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (ValueError, yaml.YAMLError):
        record = None
    if not isinstance(record, dict):
        raise CourseError(f"{path} is no YAML file like the config.yaml of a run. Give one.")
    kinds = {**DECIDING, **dict.fromkeys(RESOLVED, dict), **dict.fromkeys(KNOWN, object)}
    for name, value in record.items():
        if name not in kinds:
            raise CourseError(
                f"{path} has {name!r}, which no run writes. Give {', '.join(DECIDING)}, and values "
                "of size and recipe under changes."
            )
        if not isinstance(value, kinds[name]):
            raise CourseError(f"{path}: {name}={value!r} does not fit. Write it as a run does.")
    return record
