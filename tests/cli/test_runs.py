"""`course train`, `compare`, `translate` and `score`, as typed."""

import io
import json
import shutil
import sys
from pathlib import Path

import pytest

from course_lib import pretrained, training
from course_lib.cli import main

SETTINGS = [
    "epochs=2",
    "precision=fp32",
    "corpus.train=200",
    "corpus.val=20",
    "corpus.test=20",
    "corpus.min_length=2",
    "corpus.max_length=5",
]
TINY = [word for setting in SETTINGS for word in ("--set", setting)]
COPY = ["--corpus", "copy", "--pair", "tokens", "--preset", "smoke", *TINY]


def course(monkeypatch: pytest.MonkeyPatch, *words: object, stdin: str = "") -> int:
    """Run `course WORDS` and return its exit status."""
    monkeypatch.setattr(sys, "argv", ["course", *map(str, words)])
    monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
    try:
        main()
    except SystemExit as done:
        return int(done.code or 0)
    return 0


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "rnnsearch"
    with pytest.MonkeyPatch.context() as monkeypatch:
        words = ["train", "--model", "rnnsearch", *COPY, "--out", out, "--beam", 2]
        assert course(monkeypatch, *words) == 0
    return out


def test_train_says_how_long_it_takes_and_what_came_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["train", "--model", "rnnencdec", *COPY, "--out", tmp_path / "run", "--beam", 2]
    assert course(monkeypatch, *words) == 0
    printed = capsys.readouterr().out
    assert "of training here" in printed
    assert "test: BLEU" in printed
    assert "said beforehand." in printed
    assert json.loads((tmp_path / "run" / "result.json").read_text())["forecast_seconds"] > 0


def test_translate_answers_line_by_line(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = json.loads((run / "vocabulary.json").read_text())["source"][4]
    assert course(monkeypatch, "translate", run, stdin=f"{source} {source}\n\nunseen\n") == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[1] == ""


def test_score_adds_to_the_result(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert course(monkeypatch, "score", run, "--split", "val", "--beam", 1, "--json") == 0
    scores = json.loads(capsys.readouterr().out)
    assert scores["beam"] == 1
    assert "tok:none" in scores["bleu_tok_signature"]
    assert "tok:13a" in scores["bleu_detok_signature"]
    assert json.loads((run / "result.json").read_text())["scores"]["val"] == scores
    assert course(monkeypatch, "score", run, "--split", "val", "--beam", 1) == 0
    assert "source words" in capsys.readouterr().out


def test_scoring_a_published_model_leaves_the_package_as_it_is(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(run, tmp_path / "published")
    monkeypatch.setattr(pretrained, "FOLDER", tmp_path)
    before = {path.name: path.read_bytes() for path in (tmp_path / "published").iterdir()}
    monkeypatch.chdir(run)
    assert course(monkeypatch, "score", "published", "--split", "train", "--beam", 1) == 0
    assert "train: BLEU" in capsys.readouterr().out
    assert before == {path.name: path.read_bytes() for path in (tmp_path / "published").iterdir()}


def test_compare_prints_the_models_side_by_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["compare", *COPY, "--out", tmp_path, "--beam", 2]
    assert course(monkeypatch, *words) == 0
    printed = capsys.readouterr().out
    assert "rnnencdec" in printed
    assert "rnnsearch" in printed
    assert course(monkeypatch, *words, "--json") == 0
    results = json.loads(capsys.readouterr().out)
    assert list(results) == ["rnnencdec", "rnnsearch"]
    assert all(result["forecast_seconds"] > 0 for result in results.values())


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (["train", "--model", "rnn", *COPY, "--out", "x"], "rnnsearch"),
        (["train", "--model", "rnnsearch", *COPY, "--out", "x", "--set", "width=3"], "hidden"),
        (["train", "--model", "rnnsearch", "--corpus", "bible", "--out", "x"], "multi30k"),
        *(
            (["train", "--model", "rnnsearch", *COPY, "--out", "x", "--set", setting], remedy)
            for setting, remedy in (
                ("hidden=abc", "a whole number"),
                ("hidden=128.5", "a whole number"),
                ("epochs=true", "a whole number"),
                ("learning_rate=.nan", "a number"),
                ("dropout=abc", "a number"),
                ("label_smoothing=3", "below 1"),
                ("patience=-1", "at least 1"),
                ("bpe_dropout=1", "below 1"),
                ("bpe_dropout=0.1", "subwords"),
                ("r_drop=-1", "0 or more"),
                ("context=fixed", "rnnencdec"),
                ("context=cosine", "additive"),
                ("context=dot", "general"),
                ("decoder=sideways", "conditional"),
                ("context=local", "local-m-general"),
                ("teacher_forcing=sometimes", "inverse-sigmoid"),
                ("corpus.train=abc", "corpus.train"),
                ("corpus.train=0", "corpus.train"),
            )
        ),
        (["translate", "nowhere"], "course train"),
        (["score", "nowhere", "--split", "test"], "course train"),
    ],
)
def test_a_mistake_is_one_line_with_the_remedy(
    words: list[str],
    remedy: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert course(monkeypatch, *words) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert remedy in error
    assert not list(tmp_path.iterdir())


def test_a_second_training_is_told_how_to_go_on(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["train", "--model", "rnnsearch", *COPY, "--out", run, "--beam", 2]
    assert course(monkeypatch, *words) == 2
    assert "--resume" in capsys.readouterr().err
    assert course(monkeypatch, *words, "--resume") == 0


def test_ctrl_c_while_the_test_set_is_translated_costs_that_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    out = tmp_path / "run"
    words = ["train", "--model", "rnnsearch", *COPY, "--out", out, "--beam", 2]
    with monkeypatch.context() as patched:
        patched.setattr(training, "finish_run", interrupted)
        assert course(monkeypatch, *words) == 130
    assert f"add --resume to go on with {out}." in capsys.readouterr().err
    weights = (out / "model.safetensors").read_bytes()
    assert course(monkeypatch, *words, "--resume") == 0
    assert "test: BLEU" in capsys.readouterr().out
    assert (out / "model.safetensors").read_bytes() == weights
