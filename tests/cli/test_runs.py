"""`course train`, `compare`, `translate` and `score`, as typed."""

import json
import shutil
from pathlib import Path

import pytest
import torch

from course_lib import pretrained, search, training
from course_lib.training.loop import Training
from tests.cli.conftest import COPY
from tests.conftest import Course

TRAIN = ["train", "--model", "rnnsearch", *COPY]


def test_score_adds_to_the_result(copied: Path, course: Course) -> None:
    words = ["score", copied, "--split", "val", "--beam", 1]
    scores = json.loads(course(*words, "--json").out)
    assert scores["beam"] == 1
    assert "tok:none" in scores["bleu_tok_signature"]
    assert "tok:13a" in scores["bleu_detok_signature"]
    assert json.loads((copied / "result.json").read_text())["scores"]["val"] == scores
    assert "source words" in course(*words).out


def test_scoring_a_published_model_leaves_the_package_as_it_is(
    copied: Path, course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(copied, tmp_path / "published")
    monkeypatch.setattr(pretrained, "FOLDER", tmp_path)
    before = {path.name: path.read_bytes() for path in (tmp_path / "published").iterdir()}
    monkeypatch.chdir(copied)
    assert "train: BLEU" in course("score", "published", "--split", "train", "--beam", 1).out
    assert before == {path.name: path.read_bytes() for path in (tmp_path / "published").iterdir()}


def test_compare_trains_both_says_how_long_it_takes_and_prints_them_side_by_side(
    course: Course, tmp_path: Path
) -> None:
    done = course("compare", *COPY, "--out", tmp_path)
    assert done.status == 0
    for said in ("of training here", "forecast", "rnnencdec", "rnnsearch"):
        assert said in done.out + done.err
    results = json.loads(course("compare", *COPY, "--out", tmp_path, "--json").out)
    assert list(results) == ["rnnencdec", "rnnsearch"]
    assert all(result["forecast_seconds"] > 0 for result in results.values())
    # The first of them has no weights to look at.
    refused = course("align", "--split", "test", tmp_path / "rnnencdec")
    assert refused.out == ""
    assert refused.refused("A model without attention has no weights")


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (["train", "--model", "rnn", *COPY, "--out", "x"], "rnnsearch"),
        ([*TRAIN, "--out", "x", "--set", "width=3"], "hidden"),
        (["train", "--model", "rnnsearch", "--corpus", "bible", "--out", "x"], "multi30k"),
        *(
            ([*TRAIN, "--out", "x", "--set", setting], remedy)
            for setting, remedy in (
                ("hidden=abc", "a whole number"),
                ("epochs=true", "a whole number"),
                ("learning_rate=.nan", "a number"),
                ("dropout=abc", "a number"),
                ("label_smoothing=3", "below 1"),
                ("patience=-1", "at least 1"),
                ("tying=all", "subwords"),
                ("context=cosine", "additive"),
                ("corpus.train=abc", "corpus.train"),
                ("corpus.train=0", "corpus.train"),
                ("hidden=[", "a list as in [1, 2]"),
                ("precision=!!python/object:x", "a number, a word"),
            )
        ),
        (["train", "--model", "rnnsearch", "--out", "x"], "--config FILE"),
        ([*TRAIN, "--init-from", "nowhere", "--out", "x"], "course train"),
        (["train", "--config", "nowhere.yaml", "--out", "x"], "Check the path"),
        (["compare", *COPY, "--out", "x", "--set", "context=fixed"], "one side of the comparison"),
        (["translate", "nowhere"], "course train"),
        (["score", "nowhere", "--split", "test"], "course train"),
    ],
)
def test_a_mistake_is_one_line_with_the_remedy(
    words: list[str], remedy: str, course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert course(*words).refused(remedy)
    assert not list(tmp_path.iterdir())


def test_a_second_training_is_told_how_to_go_on(copied: Path, course: Course) -> None:
    assert course(*TRAIN, "--out", copied).refused("--resume")
    assert course(*TRAIN, "--out", copied, "--resume").status == 0


def test_a_finished_run_keeps_its_scores(copied: Path, course: Course, tmp_path: Path) -> None:
    """Whatever another --beam says, and whatever `course score` has added."""
    run = tmp_path / "run"
    shutil.copytree(copied, run)
    assert course("score", run, "--split", "val", "--beam", 2).status == 0
    before = (run / "result.json").read_bytes()
    beams = {name: scores["beam"] for name, scores in json.loads(before)["scores"].items()}
    assert beams["test"] == 2
    assert "val" in beams
    done = course("train", "--resume", "--out", run, "--beam", 1)
    assert done.status == 0
    assert "A record keeps its scores" in done.err
    assert (run / "result.json").read_bytes() == before


def test_a_stopped_run_goes_on_as_its_directory_says_and_refuses_anything_else(
    copied: Path, course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    validate, run = Training._validate, tmp_path / "run"

    def stopped(self: Training, watch: None) -> None:
        if self.progress.epoch == 1:
            raise KeyboardInterrupt
        validate(self, watch)

    with monkeypatch.context() as patched:
        patched.setattr(Training, "_validate", stopped)
        assert course(*TRAIN, "--out", run).status == 130
    resume = ["train", "--resume", "--out", run]
    for other, named in (
        (["--model", "rnnencdec"], "model="),
        (["--corpus", "reverse"], "corpus="),
        (["--preset", "cpu"], "preset="),
        (["--seed", 1], "seed="),
        (["--set", "epochs=3"], "epochs="),
    ):
        assert course(*resume, *other).refused(named)
    assert "test: BLEU" in course(*resume, "--beam", 2).out
    assert (run / "model.safetensors").read_bytes() == (copied / "model.safetensors").read_bytes()
    (run / "config.yaml").write_text("recipe: 3")
    assert course(*resume).refused("Restore it from a copy, or train into a new directory")
    assert course("train", "--resume", "--out", tmp_path / "none").refused("--config FILE")


def test_ctrl_c_while_the_test_set_is_translated_costs_that_alone(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    out = tmp_path / "run"
    with monkeypatch.context() as patched:
        patched.setattr(training, "finish_run", interrupted)
        done = course(*TRAIN, "--out", out)
    assert done.status == 130
    assert f"add --resume to go on with {out}." in done.err
    weights = (out / "model.safetensors").read_bytes()
    assert "test: BLEU" in course("train", "--resume", "--out", out).out
    assert (out / "model.safetensors").read_bytes() == weights


def test_a_runs_configuration_makes_the_same_run_again(
    copied: Path, course: Course, tmp_path: Path
) -> None:
    again = ["train", "--config", copied / "config.yaml", "--beam", 2, "--out", tmp_path / "again"]
    assert course(*again).status == 0
    again += ["--init-from", copied, "--set", "epochs=1", "--out", tmp_path / "further"]
    assert course(*again).status == 0
    assert str(copied) in (tmp_path / "further" / "config.yaml").read_text()
    for name in ("model.safetensors", "hypotheses.test.txt"):
        assert (tmp_path / "again" / name).read_bytes() == (copied / name).read_bytes()
    before, now = (
        (run / "config.yaml").read_text().partition("forecast_seconds")[0]
        for run in (copied, tmp_path / "again")
    )
    assert before == now


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB."), "smaller --beam"),
        (MemoryError(), "smaller --beam"),
        (RuntimeError("CUDA error: no kernel image is available for execution"), "CUDA_VISIBLE"),
    ],
)
def test_what_the_machine_cannot_do_is_one_line(
    error: Exception,
    remedy: str,
    copied: Path,
    course: Course,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def failed(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(search, "translate", failed)
    assert course("translate", copied, stdin="ba be\n").refused(remedy)


def test_what_the_course_does_wrong_is_not_hidden(
    copied: Path, course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failed(*_: object, **__: object) -> None:
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    monkeypatch.setattr(search, "translate", failed)
    with pytest.raises(RuntimeError, match="mat1"):
        course("translate", copied, stdin="ba be\n")
