"""How long a training is said to take, on a clock that only the work moves on, and what is kept."""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from course_lib.corpora.corpus import Corpus
from course_lib.training import (
    RunConfig,
    encode_pairs,
    estimate,
    finish_run,
    read_metrics,
    time_taken,
    train,
    validation,
)
from course_lib.training.minibatches import Minibatch, make_minibatches, target_words
from course_lib.training.run_directory import known_at_start
from course_lib.training.update import Updater
from course_lib.training.vocabularies import make_vocabularies
from tests.training.conftest import Stopped, stop

UPDATE, LOSS, SEARCH = 0.5, 0.125, 0.25
"""Seconds that a target word takes: in an update, in a validation's loss, in its translation."""


class Clock:
    """Stands still but for the work; it stands in for the module `time`."""

    now = 0.0
    factor = 1.0

    def monotonic(self) -> float:
        return self.now

    def work(self, seconds: float) -> None:
        self.now += self.factor * seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Every word has its price, wherever it is trained, validated or written."""
    clock = Clock()
    gradient, summed_loss, translate = (
        Updater.gradient,
        validation.summed_loss,
        validation.translate,
    )

    def priced_gradient(self: Updater, minibatch: Minibatch, step: int) -> torch.Tensor:
        clock.work(UPDATE * target_words(minibatch))
        return gradient(self, minibatch, step)

    def priced_loss(model: Any, pairs: Any, *arguments: Any) -> tuple[float, int]:
        loss, count = summed_loss(model, pairs, *arguments)
        clock.work(LOSS * count)
        return loss, count

    def priced_translate(*arguments: Any, **options: Any) -> Any:
        found = translate(*arguments, **options)
        clock.work(SEARCH * sum(len(hypothesis.tokens) + 1 for hypothesis in found))
        return found

    monkeypatch.setattr(Updater, "gradient", priced_gradient)
    monkeypatch.setattr(validation, "summed_loss", priced_loss)
    for module in (estimate, validation):
        monkeypatch.setattr(module, "translate", priced_translate)
    for module in ("estimate", "loop"):
        monkeypatch.setattr(f"course_lib.training.{module}.time", clock)
    return clock


def test_the_forecast_is_the_work_and_stands_beside_what_it_took(
    clock: Clock,
    small: RunConfig,
    small_corpus: Corpus,
    small_run: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "run"
    train(small, small_corpus, out)
    result = finish_run(out, small_corpus, beam=1)

    words = make_vocabularies(small, small_corpus)
    [trained] = {
        sum(map(target_words, make_minibatches(small, small_corpus, words).epoch(epoch)))
        for epoch in range(3)
    }
    validated = target_words(encode_pairs(small_corpus.splits["val"], words))
    expected = 3 * (UPDATE * trained + (LOSS + SEARCH) * validated)
    assert result["forecast_seconds"] == pytest.approx(expected, abs=0.01)
    assert result["processes"] == 1

    # The training itself: what it writes in its validations is its own, the rest is as foreseen.
    # A validation's seconds are noted where it begins, so the last one is not in them.
    took = result["train_seconds"]
    assert took == read_metrics(out)[-1]["seconds"] > 3 * UPDATE * trained
    assert result["forecast_seconds"] == pytest.approx(took, rel=1 / 3)
    said = capsys.readouterr().err
    rate = f"{1 / UPDATE:.0f} target words a second"
    assert said.startswith(f"rnnsearch on copy tokens: 33 updates of 15 pairs at about {rate}")
    threads = result["threads"]
    here = f"of training here on {threads} thread{'s' * (threads > 1)}"
    assert f"about {estimate.duration(expected)} {here}, 3 validations included" in said
    assert time_taken(result).endswith(f" (forecast: {estimate.duration(expected)})")

    # It leaves no trace, and a training that says nothing keeps nothing.
    assert (out / "model.safetensors").read_bytes() == (
        small_run / "model.safetensors"
    ).read_bytes()
    assert known_at_start(small_run)["forecast_seconds"] is None


@pytest.fixture
def four_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before = torch.get_num_threads()
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    torch.set_num_threads(4)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize(("seconds", "faster"), [((1, 2, 3), 1), ((3, 2, 4), 2), ((3, 2, 1), 4)])
def test_as_many_threads_compute_as_are_the_fastest_here(
    seconds: tuple[int, ...], faster: int, four_threads: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(estimate, "time", clock)
    takes = dict(zip((1, 2, 4), seconds, strict=True))
    estimate.take_faster_threads(lambda: clock.work(takes[torch.get_num_threads()]))
    assert torch.get_num_threads() == faster


def test_who_says_how_many_threads_gets_them(
    four_threads: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    estimate.take_faster_threads(lambda: pytest.fail("nothing is measured"))
    assert torch.get_num_threads() == 4


def test_a_resumed_run_computes_with_as_many_threads_as_before(
    small: RunConfig, small_corpus: Corpus, tmp_path: Path, four_threads: None
) -> None:
    torch.set_num_threads(1)
    with pytest.raises(Stopped):
        train(small, small_corpus, tmp_path / "run", watch=stop)
    torch.set_num_threads(2)
    train(small, small_corpus, tmp_path / "run", resume=True)
    assert torch.get_num_threads() == 1


def test_a_resumed_run_keeps_what_was_said_at_its_start(
    clock: Clock,
    small: RunConfig,
    small_corpus: Corpus,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(Stopped):
        train(small, small_corpus, tmp_path / "run", watch=stop)
    first = known_at_start(tmp_path / "run")["forecast_seconds"]
    clock.factor = 10.0
    assert "3 validations" in capsys.readouterr().err
    train(small, small_corpus, tmp_path / "run", resume=True)
    assert "24 updates of 15 pairs" in capsys.readouterr().err  # of what was left
    result = finish_run(tmp_path / "run", small_corpus, beam=1)
    assert result["forecast_seconds"] == first > 0
    assert result["train_seconds"] > 2 * first


def test_a_resumed_run_of_which_nothing_was_said_has_no_forecast(
    small: RunConfig, small_corpus: Corpus, tmp_path: Path
) -> None:
    short = replace(small, changes={**small.changes, "epochs": 2})
    with pytest.raises(Stopped):
        train(short, small_corpus, tmp_path / "run", quiet=True, watch=stop)
    train(short, small_corpus, tmp_path / "run", resume=True)
    assert "forecast_seconds" not in yaml.safe_load((tmp_path / "run/config.yaml").read_text())
    result = finish_run(tmp_path / "run", small_corpus, beam=1)
    assert result["forecast_seconds"] is None
    assert "forecast" not in time_taken(result)


def test_no_minibatch_is_timed_a_second_time(
    small: RunConfig, small_corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    met: list[Minibatch] = []
    gradient = Updater.gradient

    def noted(self: Updater, minibatch: Minibatch, step: int) -> torch.Tensor:
        met.append(minibatch)
        return gradient(self, minibatch, step)

    monkeypatch.setattr(Updater, "gradient", noted)
    train(
        replace(small, changes={**small.changes, "batch_size": 2, "epochs": 1}),
        small_corpus,
        tmp_path,
    )
    probed = [str(minibatch) for minibatch in met[: 2 * estimate.PROBES]]
    assert len(set(probed)) == len(probed)
    # Those that are timed come in the order of training, whose first epoch ends the list.
    updates = math.ceil(len(small_corpus.splits["train"].source) / 2)
    trained = [str(minibatch) for minibatch in met[-updates:]]
    warming, timed = probed[: estimate.PROBES], probed[estimate.PROBES :]
    assert timed == [one for one in trained if one not in warming][: estimate.PROBES]


@pytest.mark.parametrize(("warmup", "advice"), [(11, []), (12, ["--set epochs=7."])])
def test_a_text_that_is_read_too_seldom_to_be_learned_is_told(
    small: RunConfig,
    small_corpus: Corpus,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    warmup: int,
    advice: list[str],
) -> None:
    """33 updates, 11 an epoch; the presets have six times their warm-up where it is enough."""
    config = replace(small, changes={**small.changes, "warmup": warmup})
    train(config, small_corpus, tmp_path / "run")
    told = [line for line in capsys.readouterr().err.splitlines() if "with a warm-up" in line]
    assert [line.rpartition(": ")[2] for line in told] == advice
