"""What a training tells a tracker: every update, every validation, and where it goes on."""

from pathlib import Path
from typing import Any

import pytest
from accelerate import tracking as accelerates
from accelerate.tracking import GeneralTracker

from course_lib.corpora.corpus import Corpus
from course_lib.errors import CourseError
from course_lib.training import RunConfig, read_metrics, train
from course_lib.training.minibatches import make_minibatches
from course_lib.training.recipe import learning_rate_at
from course_lib.training.run_directory import make_vocabularies
from tests.training.conftest import outcome


class Notebook(GeneralTracker):
    """Keeps what it is told."""

    name = "notebook"
    requires_logging_directory = False
    tracker = None

    def __init__(self, *_: object) -> None:
        super().__init__()
        self.settings: dict[str, Any] = {}
        self.told: list[tuple[int, dict[str, float]]] = []
        self.finished = False

    def store_init_configuration(self, values: dict[str, Any]) -> None:
        self.settings = values

    def log(self, values: dict[str, float], step: int, **_: object) -> None:
        self.told.append((step, dict(values)))

    def finish(self) -> None:
        self.finished = True


def test_a_tracker_is_told_every_update_and_every_validation(
    small: RunConfig, small_corpus: Corpus, small_run: Path, tmp_path: Path
) -> None:
    notebook = Notebook()
    train(small, small_corpus, tmp_path / "run", quiet=True, track=notebook)
    assert outcome(tmp_path / "run") == outcome(small_run)  # to be tracked changes nothing
    validations = [(step, values) for step, values in notebook.told if "val_loss" in values]
    assert [values for _, values in validations] == read_metrics(tmp_path / "run")
    assert [step for step, _ in validations] == [v["step"] for _, v in validations]

    updates = [(step, values) for step, values in notebook.told if "loss" in values]
    batches = make_minibatches(small, small_corpus, make_vocabularies(small, small_corpus))
    total = small.recipe.epochs * batches.per_epoch
    assert [step for step, _ in updates] == list(range(1, total + 1))
    assert [values["learning_rate"] for _, values in updates] == [
        learning_rate_at(step, total, small.recipe) for step in range(total)
    ]
    first = updates[: batches.per_epoch]
    words = [sum(len(y) + 1 for _, y in batch) for batch in batches.epoch(0)]
    mean = sum(v["loss"] * n for (_, v), n in zip(first, words, strict=True)) / sum(words)
    assert mean == pytest.approx(validations[0][1]["train_loss"])
    assert notebook.settings["hidden"] == 16
    assert None not in notebook.settings.values()
    assert notebook.finished


def test_a_tracker_that_is_not_there_is_one_line(
    small: RunConfig, small_corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accelerates, "_available_trackers", [])
    for name, told in (
        ("tensorboard", "pip install tensorboard"),
        ("all", "Choose .*tensorboard"),
    ):
        with pytest.raises(CourseError, match=told):
            train(small, small_corpus, tmp_path / "run", track=name)
    assert not list(tmp_path.iterdir())


def test_a_name_is_as_good_as_a_tracker(
    small: RunConfig, small_corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Notebook] = []

    def make(project: str, folder: str) -> Notebook:
        made.append(Notebook())
        assert Path(folder) == tmp_path / "run"
        return made[-1]

    make.requires_logging_directory = True
    monkeypatch.setattr(accelerates, "_available_trackers", [accelerates.LoggerType.TENSORBOARD])
    monkeypatch.setitem(accelerates.LOGGER_TYPE_TO_CLASS, "tensorboard", make)
    train(small, small_corpus, tmp_path / "run", quiet=True, track="tensorboard")
    assert len([1 for _, values in made[0].told if "val_bleu" in values]) == small.recipe.epochs
