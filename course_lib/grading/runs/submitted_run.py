"""Reading a run directory that somebody handed in: nothing in it is believed, nothing is unpickled.

Every file has a largest size and is text of a plain kind (YAML without aliases, JSON without NaN)
or safetensors, a format that holds numbers and no code. What is not as a training leaves it is a
`Fault`, whose text is a sentence for the student and the instructor.
"""

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn

import torch
import yaml
from safetensors import SafetensorError, safe_open

from course_lib.corpora.vocabulary import MARKS, Vocabulary
from course_lib.errors import CourseError
from course_lib.grading.untrusted import visible
from course_lib.models import ModelConfig, RNNsearch, assemble, build_model
from course_lib.models.quantised import SCALE, dequantised
from course_lib.training.run_config import RunConfig
from course_lib.training.run_directory import BEST, CONFIG, METRICS, RESULT, VOCABULARY
from course_lib.training.vocabularies import vocabularies_of

LARGEST = {CONFIG: 64 * 1024, RESULT: 1024**2, METRICS: 1024**2, VOCABULARY: 4 * 1024**2}
LARGEST_TRANSLATIONS = 4 * 1024**2
LARGEST_MODEL = 100 * 1024**2
"""Bytes."""
MOST_PARAMETERS = 25_000_000
"""Of a model that can be checked in the time there is; the largest preset of the task has half."""


class Fault(Exception):
    """Something in a submission is not as it should be; the text says what, in one sentence."""


@dataclass(frozen=True)
class Record:
    """What config.yaml of a submitted run says, and what the library makes of it.

    Attributes:
        name: how messages call the folder, as in `comparison/rnnsearch`.
        path: the folder.
        raw: config.yaml as plain values.
        config: the run as the library would be asked for it.
    """

    name: str
    path: Path
    raw: dict[str, Any]
    config: RunConfig


@dataclass
class Submitted:
    """One run as far as it could be read; None where a file is missing or cannot be used."""

    record: Record
    words: tuple[Vocabulary, Vocabulary] | None = None
    result: dict[str, Any] | None = None
    metrics: list[dict[str, Any]] | None = None
    translations: list[list[str]] | None = None
    model: RNNsearch | None = None


def read_config(path: Path, name: str) -> Record:
    """A submitted run's config.yaml.

    Raises:
        Fault: it is missing, is no such file, or asks for what the library does not have.
    """
    raw = _yaml(path / CONFIG, f"{name}/{CONFIG}")
    wanted = ("model", "corpus", "pair", "preset", "seed", "changes")
    if missing := [key for key in (*wanted, "model_config", "recipe") if key not in raw]:
        raise Fault(f"{name}/{CONFIG} does not say {missing[0]}: hand it in as training wrote it.")
    if "init_from" in raw:
        raise Fault(f"{name} began with the weights of another run: train it from its seed alone.")
    kinds = {"seed": int, "changes": dict}
    if wrong := [key for key in wanted if type(raw[key]) is not kinds.get(key, str)]:
        raise Fault(f"{name}/{CONFIG} has a {wrong[0]} of the wrong kind.")
    try:
        config = RunConfig(**{key: raw[key] for key in wanted})
    except (CourseError, TypeError, ValueError) as error:
        raise Fault(f"{name}/{CONFIG} cannot be used: {visible(str(error), 160)}") from error
    return Record(name, path, raw, config)


def read_words(record: Record) -> tuple[Vocabulary, Vocabulary]:
    """A submitted run's words of both sides."""
    where = f"{record.name}/{VOCABULARY}"
    sides = _json(_text(record.path / VOCABULARY, where, LARGEST[VOCABULARY]), where)
    for side in ("source", "target"):
        words = sides.get(side) if isinstance(sides, dict) else None
        plain = isinstance(words, list) and all(isinstance(word, str) for word in words)
        tokens = tuple(words) if plain and words else ()
        if tokens[: len(MARKS)] != MARKS or len(set(tokens)) != len(tokens):
            raise Fault(f"{where} does not hold the words of both sides as training wrote them.")
    try:
        return vocabularies_of(sides)
    except (KeyError, TypeError, ValueError) as error:
        raise Fault(f"{where} does not say how words are cut, as training wrote it.") from error


def read_result(record: Record) -> dict[str, Any]:
    """A submitted run's result.json."""
    where = f"{record.name}/{RESULT}"
    result = _json(_text(record.path / RESULT, where, LARGEST[RESULT]), where)
    if not isinstance(result, dict):
        raise Fault(f"{where} holds no table of results.")
    return result


def read_metrics(record: Record) -> list[dict[str, Any]]:
    """A submitted run's validations."""
    where = f"{record.name}/{METRICS}"
    lines = _text(record.path / METRICS, where, LARGEST[METRICS]).splitlines()
    rows = [_json(line, where) for line in lines]
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise Fault(f"{where} holds no validations, one a line.")
    return rows


def read_translations(record: Record, split: str, sentences: int) -> list[list[str]]:
    """The translations of a test split that a submitted run was scored with."""
    where = f"{record.name}/hypotheses.{split}.txt"
    path = record.path / f"hypotheses.{split}.txt"
    text = _text(path, where, LARGEST_TRANSLATIONS)
    lines = text.removesuffix("\n").split("\n")
    if len(lines) != sentences:
        raise Fault(f"{where} has {len(lines)} lines for {sentences} sentences of the test set.")
    return [line.split(" ") if line else [] for line in lines]


def expected_model(record: Record, words: tuple[Vocabulary, Vocabulary]) -> ModelConfig:
    """The model that a run of this configuration trains on these words."""
    return record.config.model_config(*map(len, words))


def read_model(record: Record, config: ModelConfig) -> RNNsearch:
    """The submitted weights in the model of this configuration, in evaluation mode.

    Raises:
        Fault: the file is no safetensors file, is of another model, or holds NaN.
    """
    where, path = f"{record.name}/{BEST}", record.path / BEST
    _plain_file(path, where, LARGEST_MODEL)
    with torch.device("meta"):
        shapes = {name: value.shape for name, value in assemble(config).state_dict().items()}
    if sum(shape.numel() for shape in shapes.values()) > MOST_PARAMETERS:
        raise Fault(f"{where} is a model too large to be checked here.")
    try:
        with safe_open(path, framework="pt") as file:
            slices = {name: file.get_slice(name) for name in file.offset_keys()}
            held = {name: x.get_shape() for name, x in slices.items() if not name.endswith(SCALE)}
            if held != {name: list(shape) for name, shape in shapes.items()}:
                raise Fault(f"{where} holds the weights of another model than its config.yaml.")
            # as the course publishes models: whose they are is looked at then
            tensors = dequantised({name: file.get_tensor(name) for name in slices})
    except SafetensorError as error:
        raise Fault(
            f"{where} is damaged or is no safetensors file; it was not opened in any other way."
        ) from error
    if not all(value.is_floating_point() and value.isfinite().all() for value in tensors.values()):
        raise Fault(f"{where} holds weights that are no finite numbers.")
    model = build_model(config, record.config.seed)
    model.load_state_dict(tensors)
    return model.float().eval()


def expected_recipe(record: Record) -> dict[str, Any]:
    """The recipe of a configuration; the precision is the machine's and stays as recorded."""
    recipe = asdict(record.config.recipe)
    if isinstance(record.raw["recipe"], dict):
        recipe["precision"] = record.raw["recipe"].get("precision")
    return recipe


def is_near(value: Any, other: Any, tolerance: float) -> bool:
    """Whether two plain numbers are finite and that near."""
    numbers = [type(one) in (int, float) and math.isfinite(one) for one in (value, other)]
    return all(numbers) and abs(value - other) <= tolerance


def quoted(value: Any) -> str:
    """A value as a message repeats it."""
    return f"{value:.2f}" if isinstance(value, float) else visible(str(value), 40)


def _text(path: Path, where: str, largest: int) -> str:
    _plain_file(path, where, largest)
    try:
        return path.read_text(encoding="utf-8-sig")  # some editors put a mark of order first
    except UnicodeDecodeError as error:
        raise Fault(f"{where} is not text.") from error


def _plain_file(path: Path, where: str, largest: int) -> None:
    if not path.is_symlink() and not path.exists():
        raise Fault(f"{where} is missing.")
    if path.is_symlink() or not path.is_file():
        raise Fault(f"{where} is not a plain file.")
    if path.stat().st_size > largest:
        raise Fault(
            f"{where} has {path.stat().st_size / 1024**2:.0f} MB, more than a file of a run has."
        )


def _json(text: str, where: str) -> Any:
    def refuse(name: str) -> NoReturn:
        raise Fault(f"{where} contains {name} in place of a number.")

    try:
        return json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise Fault(f"{where} cannot be read as JSON.") from error


class _PlainLoader(yaml.SafeLoader):
    """YAML's plain values only: an alias can make a few lines stand for billions."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.events.AliasEvent):
            raise yaml.YAMLError("an alias")
        return super().compose_node(parent, index)


def _yaml(path: Path, where: str) -> dict[str, Any]:
    try:
        raw = yaml.load(_text(path, where, LARGEST[CONFIG]), _PlainLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise Fault(f"{where} cannot be read as YAML.") from error
    if not isinstance(raw, dict):
        raise Fault(f"{where} holds no settings.")
    return raw
