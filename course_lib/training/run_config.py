"""What decides a run's result, in one record that is written to its config.yaml."""

import contextlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import yaml

from course_lib.corpora.corpus import Corpus
from course_lib.corpora.registry import languages_of, load_corpus
from course_lib.errors import CourseError
from course_lib.models import ModelConfig, model_config
from course_lib.training.recipe import Recipe, recipe_for

NOT_SETTABLE = {"source_vocabulary", "target_vocabulary"}
"""The corpus decides these."""


SEEDS = 2**32
"""Seeds that every generator takes."""
MOST_UNITS = 2**14
"""Of a layer; the paper's have 1,000."""


@dataclass(frozen=True)
class RunConfig:
    """A training run: which model on which corpus, by which recipe, from which seed.

    `changes` holds what `--set` changed against the preset, values of the model, the recipe, or
    (with a dot, as in `corpus.train=2000`) options of the corpus. `init_from` is the run that it
    starts from, as `initial` describes it; None: from weights that the seed draws. `precision` is
    what the machine that began the run took where its recipe says `auto`; None: this machine does.
    """

    model: str
    corpus: str
    pair: str = "en-de"
    preset: str = "cpu"
    seed: int = 0
    changes: Mapping[str, Any] = field(default_factory=dict)
    init_from: Mapping[str, str] | None = None
    precision: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        for name in ("model", "corpus", "pair", "preset"):
            if not isinstance(value := getattr(self, name), str):
                raise CourseError(f"{name}={value!r} is no text. Give a name.")
        if type(self.seed) is not int or not 0 <= self.seed < SEEDS:
            raise CourseError(
                f"The seed {self.seed!r} must be a whole number from 0 to {SEEDS - 1}."
            )
        if not isinstance(self.changes, Mapping):
            raise CourseError(f"changes={self.changes!r} is no list of names and values.")
        known = {f.name for f in (*fields(ModelConfig), *fields(Recipe))} - NOT_SETTABLE
        for name in self.changes:
            if name not in known and not str(name).startswith("corpus."):
                raise CourseError(
                    f"There is nothing called {name!r} to set. Choose one of "
                    f"{', '.join(sorted(known))}, or corpus.OPTION."
                )
        # Without pieces of words each side has a vocabulary of its own.
        check_sizes(self.model_config(4, 4 if self.recipe.subwords else 5))

    def _changes_of(self, record: type) -> dict[str, Any]:
        names = {f.name for f in fields(record)}
        return {name: value for name, value in self.changes.items() if name in names}

    @property
    def recipe(self) -> Recipe:
        """The preset's recipe with this run's changes."""
        recipe = recipe_for(self.preset, **self._changes_of(Recipe))
        return replace(recipe, precision=self.precision or recipe.precision)

    @property
    def corpus_options(self) -> dict[str, Any]:
        """What `corpus.NAME=VALUE` asks of a corpus."""
        return {
            name.removeprefix("corpus."): tuple(value) if isinstance(value, list) else value
            for name, value in self.changes.items()
            if name.startswith("corpus.")
        }

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of source and target; none where the text is tokens between spaces."""
        return languages_of(self.corpus, self.pair, **self.corpus_options)

    def load_corpus(self) -> Corpus:
        """The corpus that is trained on; see `registry.load_corpus`."""
        return load_corpus(self.corpus, self.pair, **self.corpus_options)

    def model_config(self, source_vocabulary: int, target_vocabulary: int) -> ModelConfig:
        """The model's sizes and choices for vocabularies of these sizes."""
        return model_config(
            self.model,
            self.preset,
            source_vocabulary,
            target_vocabulary,
            **self._changes_of(ModelConfig),
        )

    def to_yaml(self, model: ModelConfig, corpus: Corpus) -> str:
        """Everything that decides the result: this record, resolved, with the data's checksums."""
        own = {name: value for name, value in asdict(self).items() if value is not None}
        own.pop("precision", None)  # the recipe has it
        return yaml.safe_dump(
            {
                **own,
                "model_config": model.to_dict(),
                "recipe": asdict(self.recipe),
                "corpus_sha256": dict(corpus.sha256),
                "lowercased": corpus.lowercased,
                "rules": corpus.rules,
            },
            sort_keys=False,
            allow_unicode=True,
        )


def check_sizes(config: ModelConfig) -> None:
    """Refuse a model of a size that no machine has."""
    for name, value in config.to_dict().items():
        if name not in NOT_SETTABLE and type(value) is int and value > MOST_UNITS:
            raise CourseError(f"{name}={value} must be at most {MOST_UNITS}.")


def parse_changes(settings: list[str]) -> dict[str, Any]:
    """`["hidden=128", "dropout=0.1"]` as a dictionary of numbers, words and lists."""
    changes = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name or not value:
            raise CourseError(f"--set {setting!r} is not of the form key=value, as in hidden=128.")
        try:
            changes[name.strip()] = as_number(yaml.safe_load(value))
        except yaml.YAMLError as error:
            raise CourseError(
                f"--set {setting!r} cannot be read. Give a number, a word, or a list as in [1, 2]."
            ) from error
    return changes


def as_number(value: Any) -> Any:
    """A value read from YAML, which takes 1e-3 for text, as a number where it is one."""
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            return float(value)
    return value
