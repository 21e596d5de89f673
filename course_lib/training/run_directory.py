"""A run directory: the files that one training leaves behind, written and read.

config.yaml            what decided the result; the commit, and how long it was said to take
vocabulary.json        the words of both sides, in the order of their numbers; with pieces of words
                       also `subwords`, how words are cut into them
metrics.jsonl          one line a validation
model.safetensors      the best weights
last.safetensors       the latest state, optimiser included, for --resume
previous.safetensors   the one before it, until the run is finished
result.json            what came out
hypotheses.SPLIT.txt   the translations that were scored
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch
import yaml

from course_lib.corpora.corpus import Corpus
from course_lib.corpora.vocabulary import Vocabulary
from course_lib.errors import CourseError
from course_lib.files import sha256_of, write_atomically
from course_lib.models import ModelConfig
from course_lib.training.provenance import git_commit
from course_lib.training.run_config import RunConfig
from course_lib.training.vocabularies import vocabularies_of, vocabulary_text

CONFIG = "config.yaml"
VOCABULARY = "vocabulary.json"
METRICS = "metrics.jsonl"
BEST = "model.safetensors"
LAST = "last.safetensors"
PREVIOUS = "previous.safetensors"
RESULT = "result.json"
LOCK = ".training"
"""What a training that is under way holds, so that no other writes there."""


def start_run(
    path: Path,
    config: RunConfig,
    model: ModelConfig,
    corpus: Corpus,
    words: list[Vocabulary],
    forecast_seconds: float | None = None,
    processes: int = 1,
) -> None:
    """Write what is known before training: configuration, vocabularies, and the code's commit.

    With them goes by how many processes and threads it is started, and how long it was said to
    take there, where that was said.
    """
    write_atomically(path / VOCABULARY, vocabulary_text(words))
    known: dict[str, Any] = {"git_commit": git_commit(), "processes": processes}
    known["vocabulary_sha256"] = sha256_of(path / VOCABULARY)
    known["threads"] = torch.get_num_threads()
    if forecast_seconds is not None:
        known["forecast_seconds"] = round(forecast_seconds, 2)
    text = config.to_yaml(model, corpus) + yaml.safe_dump(known, sort_keys=False)
    write_atomically(path / CONFIG, text)


def read_config(path: Path) -> dict[str, Any]:
    """A run's config.yaml, as it was written.

    Raises:
        CourseError: it is damaged.
    """
    try:
        record: dict[str, Any] = yaml.safe_load((path / CONFIG).read_text(encoding="utf-8"))
        whole = all(
            isinstance(record[n], dict)
            for n in ("recipe", "model_config", "changes", "corpus_sha256")
        )
    except (ValueError, KeyError, TypeError, yaml.YAMLError):
        whole = False
    if not whole:
        raise CourseError(
            f"{path / CONFIG} is damaged. Restore it from a copy, or train into a new directory."
        )
    return record


def read_words(path: Path) -> tuple[Vocabulary, Vocabulary]:
    """The words, or the pieces, of source and target, as a run learned them when it began.

    Raises:
        CourseError: they are damaged, or another run's than config.yaml.
    """
    wanted = read_config(path).get("vocabulary_sha256")
    try:
        words = vocabularies_of(json.loads((path / VOCABULARY).read_text(encoding="utf-8")))
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise CourseError(f"{path / VOCABULARY} cannot be read. Restore it from a copy.") from error
    if wanted and wanted != sha256_of(path / VOCABULARY):
        raise other_words(path)
    return words


def other_words(path: Path) -> CourseError:
    """What to say where vocabulary.json and config.yaml do not belong together."""
    return CourseError(
        f"{path}: {VOCABULARY} is another run's than {CONFIG}. Restore both from one copy."
    )


def started_with(path: Path) -> dict[str, Any]:
    """The arguments of RunConfig that a run was started with.

    Raises:
        CourseError: its config.yaml is damaged.
    """
    record = read_config(path)
    known = {f.name: record[f.name] for f in fields(RunConfig) if f.name in record}
    return {**known, "precision": record["recipe"].get("precision")}


def known_at_start(path: Path | str) -> dict[str, Any]:
    """What decides no result but its last digits: a run's commit, processes, threads, forecast.

    All as it was started, whoever resumes it or scores it later. Each is None where it is not
    known.
    """
    record = read_config(Path(path))
    names = ("git_commit", "processes", "threads", "forecast_seconds")
    return {name: record.get(name) for name in names}


def read_metrics(path: Path | str) -> list[dict[str, Any]]:
    """The validations of a run, oldest first."""
    file = Path(path) / METRICS
    if not file.exists():
        return []
    return [_parsed(line, file) for line in file.read_text(encoding="utf-8").splitlines()]


@contextmanager
def resumable(out: Path) -> Iterator[None]:
    """A full disk or a folder that cannot be written becomes one line that says how to go on."""
    try:
        yield
    except OSError as error:
        raise CourseError(
            f"{error.filename or out}: {error.strerror or error}. The checkpoint from before, if "
            "there is one, is whole. Make room on the disk or correct the permissions and add "
            "--resume, or choose another --out."
        ) from error


def write_metrics(path: Path, records: list[dict[str, Any]]) -> None:
    """All validations so far, in one step, so that a resumed run never doubles a line."""
    write_atomically(path / METRICS, "".join(json.dumps(record) + "\n" for record in records))


def read_result(path: Path | str) -> dict[str, Any]:
    """A run's result.json, or a recorded one given as a file."""
    path = Path(path)
    file = path / RESULT if path.is_dir() else path
    if not file.exists():
        raise CourseError(
            f"{file} is missing. Train the run to its end: `course train --resume --out {path}`."
        )
    return _parsed(file.read_text(encoding="utf-8"), file)


def _parsed(text: str, file: Path) -> dict[str, Any]:
    try:
        parsed: dict[str, Any] = json.loads(text)
        if not isinstance(parsed, dict) or (file.name == RESULT and "scores" not in parsed):
            raise ValueError("no record")
    except ValueError as error:
        raise CourseError(f"{file} is damaged. Restore it from a copy, or train again.") from error
    return parsed
