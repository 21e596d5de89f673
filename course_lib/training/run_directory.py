"""A run directory: everything one training leaves behind, and reading it back.

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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from itertools import chain
from pathlib import Path
from typing import Any

import torch
import yaml

from course_lib.corpora.corpus import Corpus
from course_lib.corpora.own import is_own
from course_lib.corpora.streaming import stream_vocabulary
from course_lib.corpora.subwords import Pieces
from course_lib.corpora.tokenization import UNSPACED, detokenize, rules_of, tokenize
from course_lib.corpora.vocabulary import Vocabulary
from course_lib.errors import CourseError
from course_lib.files import write_atomically
from course_lib.models import ModelConfig, RNNsearch, build_model
from course_lib.pretrained import published, published_path
from course_lib.training.checkpoint import load_weights
from course_lib.training.provenance import git_commit
from course_lib.training.recipe import Recipe
from course_lib.training.run_config import RunConfig

CONFIG = "config.yaml"
VOCABULARY = "vocabulary.json"
METRICS = "metrics.jsonl"
BEST = "model.safetensors"
LAST = "last.safetensors"
PREVIOUS = "previous.safetensors"
RESULT = "result.json"


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
        language, _, other = self.config.pair.partition("-")
        if self._in_tokens:
            return (line.lower() if self.lowercased and other else line).split()
        return tokenize(line, language, self.lowercased)

    def text(self, tokens: list[str]) -> str:
        """Target tokens as text for people."""
        language = self.config.pair.partition("-")[2]
        return " ".join(tokens) if self._in_tokens else detokenize(tokens, language)

    @property
    def _in_tokens(self) -> bool:
        """Whether its text has tokens between spaces; token strings, without a language, do."""
        return "-" not in self.config.pair or bool(self.config.corpus_options.get("tokenized"))


def make_vocabularies(config: RunConfig, corpus: Corpus) -> tuple[Vocabulary, Vocabulary]:
    """The words of the training split, as the recipe's `min_frequency` and `max_words` say.

    With `subwords` it is the pieces of words, the same object for both sides.

    Raises:
        CourseError: pieces of the words of a stream are asked for.
    """
    recipe = config.recipe
    if corpus.stream is not None:
        if recipe.subwords is not None:
            raise CourseError(
                f"subwords are learned from a corpus in memory, and {corpus.name} is a stream. "
                "Set max_words instead."
            )
        source, target = corpus.pair.split("-")
        return (
            stream_vocabulary(corpus.stream, source, recipe.min_frequency, recipe.max_words),
            stream_vocabulary(corpus.stream, target, recipe.min_frequency, recipe.max_words),
        )
    train = corpus.splits["train"]
    if recipe.subwords is not None:
        unspaced = not UNSPACED.isdisjoint(map(rules_of, corpus.pair.split("-")))
        unspaced &= not config.corpus_options.get("tokenized")  # then the words are somebody's own
        pieces = Pieces.learn(chain(train.source, train.target), recipe.subwords, unspaced)
        return pieces, pieces
    return (
        Vocabulary.from_sentences(train.source, recipe.min_frequency, recipe.max_words),
        Vocabulary.from_sentences(train.target, recipe.min_frequency, recipe.max_words),
    )


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
    write_atomically(path / VOCABULARY, _vocabulary_text(words))
    known: dict[str, Any] = {"git_commit": git_commit(), "processes": processes}
    known["threads"] = torch.get_num_threads()
    if forecast_seconds is not None:
        known["forecast_seconds"] = round(forecast_seconds, 2)
    text = config.to_yaml(model, corpus) + yaml.safe_dump(known, sort_keys=False)
    write_atomically(path / CONFIG, text)


def check_same_run(path: Path, config: RunConfig, model: ModelConfig, corpus: Corpus) -> None:
    """Refuse to resume a run that another configuration or other data started.

    In how many parts a minibatch is computed may change, as it changes no result.
    """
    written = _read_config(path)
    before, now = written, yaml.safe_load(config.to_yaml(model, corpus))
    # What the library has learned to set since then was at its default.
    for name, defaults in (
        ("recipe", asdict(Recipe())),
        ("model_config", ModelConfig(4, 4).to_dict()),
    ):
        before[name] = {k: v for k, v in defaults.items() if k in now[name]} | before[name]
    for record in (before, now):
        for values in (record["recipe"], record["changes"]):
            values.pop("accumulation", None)
    now.setdefault("init_from", None)
    different = [name for name in now if now[name] != before.get(name) and name != "corpus_sha256"]
    different += ["data"] * other_data(before["corpus_sha256"], corpus)
    if different:
        raise CourseError(
            f"{path} was started with another {', '.join(different)}. "
            "Resume with the same settings, or train into a new directory."
        )


def _read_config(path: Path) -> dict[str, Any]:
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


def started_with(path: Path) -> dict[str, Any]:
    """The arguments of RunConfig that a run was started with.

    Raises:
        CourseError: its config.yaml is damaged.
    """
    record = _read_config(path)
    return {f.name: record[f.name] for f in fields(RunConfig) if f.name in record}


def known_at_start(path: Path | str) -> dict[str, Any]:
    """What decides no result but its last digits: a run's commit, processes, threads, forecast.

    All as it was started, whoever goes on with it or scores it later. Each is None where it is not
    known.
    """
    record = _read_config(Path(path))
    names = ("git_commit", "processes", "threads", "forecast_seconds")
    return {name: record.get(name) for name in names}


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
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    path = run_folder(path)
    try:
        record = _read_config(path)
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
    return Run(path, config, model.to(device).eval(), source, target, lowercased)


def vocabularies_of(sides: Mapping[str, Any]) -> tuple[Vocabulary, Vocabulary]:
    """What vocabulary.json holds as the words, or the pieces, of source and target.

    Raises:
        KeyError, TypeError, ValueError: that is no vocabulary.
    """
    if "subwords" in sides:
        pieces = Pieces.from_json(json.dumps(sides["subwords"]))
        if not sides["source"] == sides["target"] == list(pieces.tokens):
            raise ValueError("the pieces are not those that words are cut into")
        return pieces, pieces
    return Vocabulary(tuple(sides["source"])), Vocabulary(tuple(sides["target"]))


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
            "there is one, is whole. Make room on the disk or mend the permissions and add "
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
    except ValueError as error:
        raise CourseError(f"{file} is damaged. Restore it from a copy, or train again.") from error
    return parsed


def _vocabulary_text(words: list[Vocabulary]) -> str:
    source, target = words
    sides: dict[str, Any] = {"source": source.tokens, "target": target.tokens}
    if isinstance(source, Pieces):
        sides["subwords"] = json.loads(source.tokenizer)
    return json.dumps(sides, ensure_ascii=False, indent=0)
