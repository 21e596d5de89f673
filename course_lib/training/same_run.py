"""Whether a run is resumed with its own settings, and scored on the text it was trained on."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml

from course_lib.corpora.corpus import Corpus
from course_lib.corpora.own_text import is_own
from course_lib.errors import CourseError
from course_lib.models import ModelConfig
from course_lib.training.recipe import Recipe
from course_lib.training.run import Run
from course_lib.training.run_config import RunConfig
from course_lib.training.run_directory import read_config, read_result


def check_same_run(path: Path, config: RunConfig, model: ModelConfig, corpus: Corpus) -> None:
    """Refuse to resume a run that another configuration or other data started.

    In how many parts a minibatch is computed may change, as it changes no result. The precision is
    the one that is written down; only one that is asked for by name is compared with it.
    """
    before, now = read_config(path), yaml.safe_load(config.to_yaml(model, corpus))
    # What the library has learned to set since then was at its default.
    for name, defaults in (
        ("recipe", asdict(Recipe())),
        ("model_config", ModelConfig(4, 4).to_dict()),
    ):
        before[name] = defaults | before[name]
    asked = config.changes.get("precision", "auto")
    settled = before["recipe"]["precision"]
    for record in (before, now):
        for values in (record["recipe"], record["changes"]):
            for free in ("accumulation", "precision"):
                values.pop(free, None)
    before.setdefault("rules", now["rules"])
    now.setdefault("init_from", None)
    was, asked_for = _settings(before), _settings(now)
    different = [
        f"{name}={was[name]}" if name in was else f"no {name}"
        for name in {**asked_for, **before["changes"]}
        if was.get(name) != asked_for.get(name)
    ]
    different += [f"precision={settled}"] * (asked not in ("auto", settled))
    different += ["other data"] * other_data(before["corpus_sha256"], corpus)
    if different:
        raise CourseError(
            f"{path} was started with {', '.join(different)}. "
            "Resume with the same settings, or train into a new directory."
        )


def _settings(record: Mapping[str, Any]) -> dict[str, Any]:
    """Every setting of a run's config.yaml by its own name, whichever table it stands in."""
    tables = ("changes", "model_config", "recipe")
    flat = {k: v for k, v in record.items() if k not in (*tables, "corpus_sha256")}
    for table in tables:
        flat |= record[table]
    return flat


def other_data(recorded: Mapping[str, str], corpus: Corpus) -> bool:
    """Whether a file that both know has another checksum; more test sets are not other data."""
    return any(corpus.sha256.get(name, checksum) != checksum for name, checksum in recorded.items())


def check_same_data(run: Run, corpus: Corpus) -> None:
    """Refuse to judge a run on another text than it was trained on."""
    if not other_data(read_result(run.path)["corpus_sha256"], corpus):
        return
    remedy = f"Check it with `course corpus verify {corpus.name}`"
    if is_own(run.config.corpus):
        remedy = "Put the text back as it was, or train again"
    raise CourseError(f"{run.path} was trained on other data than {corpus.name} is here. {remedy}.")
