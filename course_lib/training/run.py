"""A trained model with what is needed to use it, from a run directory or among the published."""

import json
from dataclasses import dataclass
from pathlib import Path

import yaml

from course_lib.corpora.registry import languages_of
from course_lib.corpora.tokenization import detokenize, tokenize
from course_lib.corpora.vocabulary import Vocabulary
from course_lib.errors import CourseError
from course_lib.models import ModelConfig, RNNsearch, build_model
from course_lib.pretrained import published, published_path
from course_lib.training.checkpoint import load_weights
from course_lib.training.device import best_device
from course_lib.training.run_config import RunConfig
from course_lib.training.run_directory import BEST, CONFIG, VOCABULARY, read_config, started_with
from course_lib.training.vocabularies import vocabularies_of


@dataclass(frozen=True)
class Run:
    """A trained model with what is needed to use it."""

    path: Path
    config: RunConfig
    model: RNNsearch
    source_vocabulary: Vocabulary
    target_vocabulary: Vocabulary
    lowercased: bool = True

    @property
    def words(self) -> tuple[Vocabulary, Vocabulary]:
        """The words, or the pieces, of source and target."""
        return self.source_vocabulary, self.target_vocabulary

    def tokens(self, line: str) -> list[str]:
        """A line of text as the source tokens that this run reads."""
        if self.languages:
            return tokenize(line, self.languages[0], self.lowercased)
        in_words = self.lowercased and self.config.corpus_options.get("tokenized")
        return (line.lower() if in_words else line).split()

    def text(self, tokens: list[str]) -> str:
        """Target tokens as text for people."""
        return detokenize(tokens, self.languages[1]) if self.languages else " ".join(tokens)

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of source and target; none where its text is tokens between spaces."""
        config = self.config
        return languages_of(config.corpus, config.pair, **config.corpus_options)


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
        sides = json.loads((path / VOCABULARY).read_text(encoding="utf-8"))
        source, target = vocabularies_of(sides)
    except (ValueError, KeyError, TypeError, OSError, yaml.YAMLError) as error:
        raise CourseError(
            f"{path} is damaged: {CONFIG} or {VOCABULARY} cannot be read. Restore it from a copy."
        ) from error
    model = build_model(model_config)
    load_weights(path / BEST, model)
    lowercased = bool(record.get("lowercased", True))
    return Run(path, config, model.to(device or best_device()).eval(), source, target, lowercased)
