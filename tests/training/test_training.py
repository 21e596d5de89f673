"""Training: it learns, it resumes to the same numbers, it stops well."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path

import pytest
import torch
import yaml

from course_lib.corpora import load_corpus
from course_lib.corpora.corpus import Corpus
from course_lib.errors import CourseError
from course_lib.files import sha256_of
from course_lib.search import translate
from course_lib.training import (
    RunConfig,
    finish_run,
    load_run,
    parse_changes,
    read_metrics,
    read_result,
    recorded_name,
    score_run,
    train,
)
from course_lib.training.minibatches import Minibatch
from course_lib.training.recipe import Recipe, learning_rate_at
from course_lib.training.run import _splitting
from course_lib.training.update import Updater
from tests.training.conftest import SMALL, outcome, train_until

TINY = {**SMALL, "dropout": 0.2, "corpus.max_length": 5}
CONFIG = RunConfig("rnnsearch", "copy", "tokens", "smoke", changes=TINY)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return load_corpus("copy", "tokens", **CONFIG.corpus_options)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, corpus: Corpus) -> Path:
    """One run from beginning to end, which disturbed ones are compared with."""
    out = tmp_path_factory.mktemp("undisturbed") / "run"
    train(CONFIG, corpus, out, quiet=True)
    return out


def test_a_run_learns_and_can_be_read_back(undisturbed: Path, corpus: Corpus) -> None:
    losses = [record["val_loss"] for record in read_metrics(undisturbed)]
    assert losses[-1] < losses[0]
    result = finish_run(undisturbed, corpus, beam=3)
    assert result == read_result(undisturbed)
    assert Recipe(**result["recipe"]) == CONFIG.recipe
    assert result["best_val_loss"] == min(losses)
    assert result["scores"]["test"]["sentences"] == 20
    commit = yaml.safe_load((undisturbed / "config.yaml").read_text())["git_commit"]
    assert result["git_commit"] == commit  # what trained it, whoever scores it later
    assert result["model_sha256"] == sha256_of(undisturbed / "model.safetensors")
    hypotheses = (undisturbed / "hypotheses.test.txt").read_text().splitlines()
    run = load_run(undisturbed)
    encoded = [run.source_vocabulary.encode(x) for x in corpus.splits["test"].source]
    again = [
        " ".join(run.target_vocabulary.decode(h.tokens)) for h in translate(run.model, encoded, k=3)
    ]
    assert hypotheses == again
    expected = "copy-tokens-rnnsearch-smoke-seed0.json"
    assert recorded_name(result) == expected
    assert recorded_name(result, "tiny") == expected.replace("-seed", "-tiny-seed")


def test_a_run_is_scored_with_its_length_penalty_and_keeps_that_score(
    tmp_path: Path, corpus: Corpus
) -> None:
    config = replace(CONFIG, changes={**CONFIG.changes, "length_penalty": 0.0})
    train(config, corpus, tmp_path / "run", quiet=True)
    result = finish_run(tmp_path / "run", corpus, beam=3)
    assert result["scores"]["test"]["length_penalty"] == 0
    run = load_run(tmp_path / "run")
    sources = [run.source_vocabulary.encode(x) for x in corpus.splits["test"].source]
    by_penalty = [
        [run.target_vocabulary.decode(h.tokens) for h in translate(run.model, sources, 3, penalty)]
        for penalty in (0.0, 1.0)
    ]
    assert by_penalty[0] != by_penalty[1]
    hypotheses = (tmp_path / "run" / "hypotheses.test.txt").read_text().splitlines()
    assert hypotheses == [" ".join(words) for words in by_penalty[0]]

    other = replace(run, config=CONFIG)  # the same weights, searched with the preset's 1
    scores = score_run(other, corpus, "test", 3)
    assert scores["length_penalty"] == 1
    assert read_result(tmp_path / "run") == result


def test_enough_training_masters_a_task(tmp_path: Path, corpus: Corpus) -> None:
    changes = {**TINY, "epochs": 16, "learning_rate": 1e-2, "dropout": 0.0, "corpus.train": 400}
    config = RunConfig("rnnsearch", "copy", "tokens", "smoke", changes=changes)
    data = load_corpus("copy", "tokens", **config.corpus_options)
    train(config, data, tmp_path / "run", quiet=True)
    assert finish_run(tmp_path / "run", data, beam=1)["scores"]["test"]["bleu_tok"] > 50


def stop_and_resume(
    config: RunConfig, corpus: Corpus, out: Path, stop_at: int, how: signal.Signals
) -> None:
    """Send a signal to the training after so many updates, then let it finish."""
    train_until(stop_at, config, corpus, out, how)
    torch.manual_seed(99)  # whatever happens in between
    train(config, corpus, out, resume=True, quiet=True)


@pytest.mark.parametrize(("stop_at", "how"), [(11, signal.SIGTERM), (25, signal.SIGINT)])
def test_ctrl_c_and_a_cluster_s_notice_lose_nothing(
    stop_at: int, how: signal.Signals, tmp_path: Path, corpus: Corpus, undisturbed: Path
) -> None:
    stop_and_resume(CONFIG, corpus, tmp_path / "run", stop_at, how)
    assert outcome(tmp_path / "run") == outcome(undisturbed)


def test_in_bf16_a_stopped_run_ends_with_the_same_numbers_too(
    tmp_path: Path, corpus: Corpus, undisturbed: Path
) -> None:
    config = replace(CONFIG, changes={**TINY, "precision": "bf16"})
    train(config, corpus, tmp_path / "free", quiet=True)
    stop_and_resume(config, corpus, tmp_path / "run", 11, signal.SIGINT)
    assert outcome(tmp_path / "run") == outcome(tmp_path / "free")
    bf16, fp32 = (read_metrics(run)[-1]["val_loss"] for run in (tmp_path / "free", undisturbed))
    assert bf16 != fp32
    assert bf16 == pytest.approx(fp32, rel=0.02)


TRAIN_SCRIPT = """
import json, sys
from course_lib.corpora import load_corpus
from course_lib.training import RunConfig, train
from course_lib.training.update import Updater

update = Updater.__call__

def announced(self, minibatch, progress):
    print(progress.step, flush=True)
    update(self, minibatch, progress)

Updater.__call__ = announced
config = RunConfig(**json.loads(sys.argv[1]))
corpus = load_corpus("copy", "tokens", **config.corpus_options)
train(config, corpus, sys.argv[2], resume=True, quiet=True)
sys.stdin.read()  # whoever kills it always comes in time
"""


def training_process(config: RunConfig, out: Path) -> "subprocess.Popen[bytes]":
    """A process of its own that trains, or goes on with a training, and says each update.

    It ends when its standard input does.
    """
    threads = str(torch.get_num_threads())
    return subprocess.Popen(
        [sys.executable, "-c", TRAIN_SCRIPT, json.dumps(asdict(config)), str(out)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # Dask leaves MKL_NUM_THREADS behind; another number of threads adds up in another order.
        env={**os.environ, "OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads},
    )


def killed_at(config: RunConfig, out: Path, moments: Sequence[int], seed: int) -> list[int]:
    """Kill the training in or after these updates, let it finish; the updates that were cut short.

    Up to 30 ms after an update begins: in it, in a later one, in a validation, or while a
    checkpoint is written.
    """
    draw = random.Random(seed)
    cut = []
    for moment in sorted(moments):
        with training_process(config, out) as process:
            assert process.stdout is not None
            began = next(step for line in process.stdout if (step := int(line)) >= moment)
            time.sleep(draw.uniform(0, 0.03))
            process.kill()
        assert process.returncode == -signal.SIGKILL
        cut.append(began)
    with training_process(config, out) as process:
        process.communicate()
    assert process.returncode == 0
    return cut


def test_killed_at_a_random_moment_it_ends_with_the_same_numbers(
    tmp_path: Path, undisturbed: Path
) -> None:
    assert len(killed_at(CONFIG, tmp_path / "run", (27,), seed=0)) == 1
    assert outcome(tmp_path / "run") == outcome(undisturbed)


@pytest.mark.slow
def test_killed_twenty_times(tmp_path: Path, corpus: Corpus) -> None:
    """At moments drawn from the whole training; each time it falls back by up to three updates."""
    config = replace(CONFIG, changes={**TINY, "epochs": 20})
    free, disturbed = tmp_path / "undisturbed", tmp_path / "run"
    updates = train(config, corpus, free, quiet=True).step
    moments = random.Random(1).sample(range(updates - 1), 20)
    cut = killed_at(config, disturbed, moments, seed=1)
    assert len(cut) == 20
    assert min(cut) < updates / 10
    assert max(cut) > updates * 9 / 10
    assert outcome(disturbed) == outcome(free)
    for run in (disturbed, free):
        finish_run(run, corpus, beam=3)
    found, expected = (run / "hypotheses.test.txt" for run in (disturbed, free))
    assert found.read_text() == expected.read_text()


@pytest.mark.parametrize("what", ["weight", "gradient"])
def test_what_is_no_number_stops_a_training_and_the_last_good_checkpoint_is_kept(
    what: str, tmp_path: Path, corpus: Corpus, undisturbed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gradient = Updater.gradient

    def spoiled(self: Updater, minibatch: Minibatch, step: int) -> torch.Tensor:
        bias = self.trainer.decoder.W_o.bias
        if step == 8 and what == "weight":
            bias.data.fill_(torch.nan)
        loss = gradient(self, minibatch, step)
        if step == 8 and what == "gradient":
            bias.grad.fill_(torch.inf)
        return loss

    monkeypatch.setattr(Updater, "gradient", spoiled)
    with pytest.raises(CourseError, match=r"update 9.*learning_rate"):
        train(CONFIG, corpus, tmp_path / "run", quiet=True)
    monkeypatch.undo()
    train(CONFIG, corpus, tmp_path / "run", resume=True, quiet=True)
    assert outcome(tmp_path / "run") == outcome(undisturbed)


def test_a_second_training_never_writes_over_a_first(undisturbed: Path, corpus: Corpus) -> None:
    with pytest.raises(CourseError, match="--resume"):
        train(CONFIG, corpus, undisturbed, quiet=True)
    other = RunConfig("rnnsearch", "copy", "tokens", "smoke", seed=1, changes=TINY)
    with pytest.raises(CourseError, match="started with seed="):
        train(other, corpus, undisturbed, resume=True, quiet=True)


def test_other_data_are_refused_and_more_test_sets_are_not(
    undisturbed: Path, corpus: Corpus
) -> None:
    more = replace(corpus, sha256={**corpus.sha256, "test_2017.gz": "0" * 64})
    train(CONFIG, more, undisturbed, resume=True, quiet=True)
    other = replace(corpus, sha256={name: "0" * 64 for name in corpus.sha256})
    with pytest.raises(CourseError, match="other data"):
        train(CONFIG, other, undisturbed, resume=True, quiet=True)


def test_a_damaged_run_is_named_in_one_line(undisturbed: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    with pytest.raises(CourseError, match="not a run directory"):
        load_run(run)
    for name in ("config.yaml", "vocabulary.json"):
        (run / name).write_bytes((undisturbed / name).read_bytes())
    with pytest.raises(CourseError, match="missing"):
        load_run(run)
    weights = (undisturbed / "model.safetensors").read_bytes()
    (run / "model.safetensors").write_bytes(weights[: len(weights) // 2])
    with pytest.raises(CourseError, match="damaged"):
        load_run(run)
    (run / "vocabulary.json").write_text("{")
    with pytest.raises(CourseError, match="damaged"):
        load_run(run)


def test_early_stopping_waits_as_long_as_the_recipe_says(tmp_path: Path, corpus: Corpus) -> None:
    hopeless = {**TINY, "epochs": 9, "patience": 1, "learning_rate": 1e-12}
    config = RunConfig("rnnencdec", "copy", "tokens", "smoke", changes=hopeless)
    watched: list[int] = []
    progress = train(
        config, corpus, tmp_path / "run", quiet=True, watch=lambda model: watched.append(id(model))
    )
    assert len(watched) == progress.epoch
    losses = [record["val_loss"] for record in progress.metrics]
    assert progress.epoch < 9
    assert progress.epoch == losses.index(min(losses)) + 1 + 1  # the best, and one more


@pytest.mark.parametrize("schedule", ["linear", "constant"])
def test_the_learning_rate_warms_up_and_comes_down(schedule: str) -> None:
    recipe = Recipe(schedule=schedule, warmup=10, learning_rate=1.0)
    rates = [learning_rate_at(step, 100, recipe) for step in range(100)]
    assert all(a < b for a, b in pairwise(rates[:10]))
    assert max(rates) <= 1.0
    assert rates[-1] == (1.0 if schedule == "constant" else pytest.approx(1 / 90))


def test_settings_are_read_as_numbers_words_and_lists() -> None:
    settings = ["hidden=128", "learning_rate=1e-3", "unit=paper", "corpus.clauses=[1, 2]"]
    assert parse_changes(settings) == {
        "hidden": 128,
        "learning_rate": 1e-3,
        "unit": "paper",
        "corpus.clauses": [1, 2],
    }
    with pytest.raises(CourseError, match="key=value"):
        parse_changes(["hidden"])
    for wrong, named in (("hiden", "hidden"), ("epochs", "at least 1")):
        with pytest.raises(CourseError, match=named):
            RunConfig("rnnsearch", "copy", "tokens", changes={wrong: 0})
    for field, value in (("model", "rnn"), ("preset", "huge")):
        with pytest.raises(CourseError, match="Choose"):
            RunConfig(**{"model": "rnnsearch", "corpus": "copy", field: value})


@pytest.mark.parametrize(("name", "pair"), [("copy", "tokens"), ("verbs", "en-de")])
def test_tokens_between_spaces_stay_so(name: str, pair: str, undisturbed: Path) -> None:
    """Of a corpus of token strings, whatever pair a run was started with."""
    run = load_run(undisturbed)
    config = replace(run.config, corpus=name, pair=pair, changes={})
    run = replace(run, config=config, how=_splitting({"lowercased": False}, config))
    assert run.config.languages == ()
    assert run.text(["ba", "be", ",", "ra"]) == "ba be , ra"
    assert run.tokens("ba BE , ra") == ["ba", "BE", ",", "ra"]
    config = replace(run.config, corpus="toy", pair="en-de")
    text = replace(run, config=config, how=_splitting({}, config))
    assert text.text(["ein", "hund", ",", "ja"]) == "ein hund, ja"
    config = replace(text.config, changes={"corpus.tokenized": True})
    own = replace(text, config=config, how=_splitting({}, config))
    assert own.text(["ein", "hund", ",", "ja"]) == "ein hund , ja"
    assert own.tokens("A Dog ,") == ["a", "dog", ","]
