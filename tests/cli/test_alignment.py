"""`course align`, as typed."""

import io
import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from course_lib.cli import main
from course_lib.corpora import load_corpus, registry

OPTIONS = {"train": 80, "val": 10, "test": 20}
SETTINGS = [
    *("epochs=1", "precision=fp32"),
    *(f"corpus.{name}={value}" for name, value in OPTIONS.items()),
]
TOY = ["--corpus", "toy", "--preset", "smoke", "--beam", 1]
TINY = [word for setting in SETTINGS for word in ("--set", setting)]


def course(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    """Run `course WORDS` and return its exit status."""
    monkeypatch.setattr(sys, "argv", ["course", *map(str, words)])
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    try:
        main()
    except SystemExit as done:
        return int(done.code or 0)
    return 0


def trained(folder: Path, model: str, *words: object) -> Path:
    with pytest.MonkeyPatch.context() as monkeypatch:
        line = ["train", "--model", model, *TOY, *TINY, "--out", folder / model, *words]
        assert course(monkeypatch, *line) == 0
    return folder / model


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained(tmp_path_factory.mktemp("forward"), "rnnsearch")


@pytest.fixture(scope="module")
def backwards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained(tmp_path_factory.mktemp("backward"), "rnnsearch", "--pair", "de-en")


@pytest.fixture(scope="module")
def without_attention(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained(tmp_path_factory.mktemp("fixed"), "rnnencdec")


def test_one_json_object_with_both_error_rates_and_the_diagnostics(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert course(monkeypatch, "align", run, "--split", "test", "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["corpus"], record["pair"], record["split"]) == ("toy", "en-de", "test")
    assert record["sentences"] == record["diagnostics"]["sentences"] == 20
    assert record["weights"].startswith("forced decoding")
    assert 0 < record["ibm1_aer"] < record["aer"] <= 1
    assert record["aer"] == record["alignments"]["attention"]["argmax"]["aer"]
    assert set(record["alignments"]["attention"]) == {"argmax", "threshold", "words"}
    assert record["words_aer"] == record["alignments"]["attention"]["words"]["aer"]


def test_as_text_it_says_how_the_weights_came_about(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert course(monkeypatch, "align", run, "--split", "val") == 0
    printed = capsys.readouterr().out
    for told in ("forced decoding", "largest weight", "IBM Model 1", "entropy", "warnings"):
        assert told in printed
    # One epoch of 80 sentences has taught nothing, and that is said.
    assert "the weights say nothing" in printed


def test_a_run_of_the_other_direction_adds_the_combinations(
    run: Path,
    backwards: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    line = ["align", run, "--split", "test", "--reverse", backwards]
    assert course(monkeypatch, *line, "--json") == 0
    record = json.loads(capsys.readouterr().out)
    for who in ("attention", "ibm1"):
        assert {"reverse", "intersection", "union", "grow-diag"} <= set(record["alignments"][who])
    assert course(monkeypatch, *line) == 0
    printed = capsys.readouterr().out
    assert "grow-diag" in printed
    assert "both agree on 0.2 or more" in printed
    assert course(monkeypatch, "align", run, "--split", "test", "--reverse", run) == 2
    [message] = capsys.readouterr().err.splitlines()
    assert "in the other direction" in message
    assert "de-en" in message


def test_saved_matrices_have_their_words(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "new" / "weights.json"
    assert course(monkeypatch, "align", run, "--split", "test", "--save", path) == 0
    sentences = json.loads(path.read_text())["sentences"]
    test = load_corpus("toy", "en-de", **OPTIONS).splits["test"]
    assert [one["source"][:-1] for one in sentences] == test.source
    for one in sentences:
        shape = (len(one["target"]), len(one["source"]))
        assert np.array(one["alpha"]).shape == shape
    capsys.readouterr()
    assert course(monkeypatch, "align", run, "--split", "test", "--save", tmp_path / "w.npz") == 2
    assert "ends in .json" in capsys.readouterr().err
    assert not (tmp_path / "w.npz").exists()


def test_gold_links_can_come_from_a_file(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The corpus's own links, written and read, give the corpus's own error rate."""
    test = load_corpus("toy", "en-de", **OPTIONS).splits["test"]
    assert test.links is not None
    path = tmp_path / "gold.txt"
    path.write_text("".join(" ".join(f"{i}-{j}" for i, j in links) + "\n" for links in test.links))
    line = ["align", run, "--split", "test", "--json"]
    rates = []
    for words in (line, [*line, "--gold", path]):
        assert course(monkeypatch, *words) == 0
        rates.append(json.loads(capsys.readouterr().out)["alignments"])
    assert rates[0] == rates[1]
    path.write_text("0-0\n")
    assert course(monkeypatch, *line, "--gold", path) == 2
    assert "links for 1 sentences, but there are 20" in capsys.readouterr().err
    path.write_text("0-0 x\n" * 20)
    assert course(monkeypatch, *line, "--gold", path) == 2
    assert f"{path} line 1: 'x' is not a link" in capsys.readouterr().err


def test_a_corpus_without_gold_links_is_diagnosed_all_the_same(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = load_corpus("toy", "en-de", **OPTIONS)
    splits = {name: replace(part, links=None) for name, part in corpus.splits.items()}
    plain = replace(corpus, name="photographs", splits=splits)
    monkeypatch.setattr(registry, "load_corpus", lambda *_, **__: plain)
    assert course(monkeypatch, "align", run, "--split", "test") == 0
    printed = capsys.readouterr().out
    assert "photographs has no gold alignment, so there is no error rate" in printed
    assert "entropy" in printed
    assert "AER" not in printed
    assert course(monkeypatch, "align", run, "--split", "test", "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert record["aer"] is None
    assert record["alignments"] == {}
    assert record["diagnostics"]["sentences"] == 20


def test_a_model_without_attention_is_one_clear_line(
    without_attention: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert course(monkeypatch, "align", without_attention, "--split", "test", "--json") == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    [message] = printed.err.splitlines()
    assert "context fixed has no weights" in message
    assert "RNNsearch" in message


def test_a_split_that_is_not_there_and_a_run_that_is_none(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert course(monkeypatch, "align", run, "--split", "dev") == 2
    [message] = capsys.readouterr().err.splitlines()
    assert "no split 'dev'" in message
    assert "train, val, test" in message
    assert course(monkeypatch, "align", tmp_path, "--split", "test") == 2
    assert "not a run directory" in capsys.readouterr().err


def test_a_run_on_other_data_is_refused(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    moved = shutil.copytree(run, tmp_path / "run")
    config = yaml.safe_load((moved / "config.yaml").read_text())
    config["changes"]["corpus.seed"] = 1
    (moved / "config.yaml").write_text(yaml.safe_dump(config))
    assert course(monkeypatch, "align", moved, "--split", "test") == 2
    [message] = capsys.readouterr().err.splitlines()
    assert "trained on other data" in message
