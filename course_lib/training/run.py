"""A trained model with what is needed to use it, from a run directory or among the published."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from course_lib.corpora.splitting import PUBLISHED, Splitting
from course_lib.corpora.vocabulary import Vocabulary
from course_lib.errors import CourseError
from course_lib.models import ModelConfig, RNNsearch, build_model
from course_lib.pretrained import published, published_path
from course_lib.training.checkpoint import load_weights
from course_lib.training.device import best_device
from course_lib.training.run_config import RunConfig, check_sizes
from course_lib.training.run_directory import (
    BEST,
    CONFIG,
    other_words,
    read_config,
    read_words,
    started_with,
)


@dataclass(frozen=True)
class Run:
    """A trained model with what is needed to use it."""

    path: Path
    config: RunConfig
    model: RNNsearch
    source_vocabulary: Vocabulary
    target_vocabulary: Vocabulary
    how: Splitting = PUBLISHED

    @property
    def words(self) -> tuple[Vocabulary, Vocabulary]:
        """The words, or the pieces, of source and target."""
        return self.source_vocabulary, self.target_vocabulary

    def tokens(self, line: str) -> list[str]:
        """A line of text as the source tokens that this run reads."""
        return self.how.tokens(line, self.config.pair.partition("-")[0])

    def text(self, tokens: list[str]) -> str:
        """Target tokens as text for people."""
        return self.how.text(tokens, self.config.pair.partition("-")[2])


def _splitting(record: Mapping[str, Any], config: RunConfig) -> Splitting:
    """How a run's text was split; early runs, of Moses' rules or of tokens, do not say it."""
    rules = record.get("rules", "moses" if config.languages else "tokens")
    return Splitting(bool(record.get("lowercased", True)), rules)


def run_folder(run: Path | str) -> Path:
    """The folder of a run: a run directory's path, or a published model's name.

    A run directory of that name comes first.
    """
    path = Path(run)
    if (path / CONFIG).exists():
        return path
    folder = published_path(run)
    if folder is None:
        raise CourseError(
            f"{run} is not a run directory. Make one with `course train --out {run}`, or take a "
            f"published model: {' or '.join(published())}."
        )
    return folder


def load_run(path: Path | str, device: str | None = None) -> Run:
    """The best model of a run directory, or a published model by its name, in evaluation mode.

    Nothing is unpickled. Without `device` it goes to the graphics card if there is one.
    """
    path = run_folder(path)
    try:
        record = read_config(path)
        model_config = ModelConfig(**record["model_config"])
        config = RunConfig(**started_with(path))
        how = _splitting(record, config)
    except (ValueError, KeyError, TypeError, OSError, yaml.YAMLError) as error:
        raise CourseError(f"{path / CONFIG} cannot be read. Restore it from a copy.") from error
    source, target = read_words(path)
    check_sizes(model_config)
    sizes = model_config.source_vocabulary, model_config.target_vocabulary
    if sizes != (len(source), len(target)):
        raise other_words(path)
    model = build_model(model_config)
    load_weights(path / BEST, model)
    return Run(path, config, model.to(device or best_device()).eval(), source, target, how)
