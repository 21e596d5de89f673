"""`course align`, as typed."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from course_lib.corpora import load_corpus, registry
from tests.conftest import Course, Done, typed

OPTIONS = {"train": 80, "val": 10, "test": 20}
SETTINGS = [
    *("epochs=1", "precision=fp32"),
    *(f"corpus.{name}={value}" for name, value in OPTIONS.items()),
]
TOY = ["--corpus", "toy", "--preset", "smoke", "--beam", 1]
TINY = [word for setting in SETTINGS for word in ("--set", setting)]


def trained(folder: Path, model: str, *words: object) -> Path:
    assert typed("train", "--model", model, *TOY, *TINY, "--out", folder / model, *words) == 0
    return folder / model


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained(tmp_path_factory.mktemp("forward"), "rnnsearch")


def refusal(done: Done) -> str:
    """The one line that a command gives up with."""
    assert done.status == 2
    assert done.out == ""
    [message] = done.err.splitlines()
    return message


def test_one_json_object_with_both_error_rates_and_the_diagnostics(
    run: Path, course: Course
) -> None:
    record = json.loads(course("align", run, "--split", "test", "--json").out)
    assert (record["corpus"], record["pair"], record["split"]) == ("toy", "en-de", "test")
    assert record["sentences"] == record["diagnostics"]["sentences"] == 20
    assert record["weights"].startswith("forced decoding")
    assert 0 < record["ibm1_aer"] < record["aer"] <= 1
    assert record["aer"] == record["alignments"]["attention"]["argmax"]["aer"]
    assert set(record["alignments"]["attention"]) == {"argmax", "threshold", "words"}
    assert record["words_aer"] == record["alignments"]["attention"]["words"]["aer"]


def test_as_text_it_says_how_the_weights_came_about(run: Path, course: Course) -> None:
    printed = course("align", run, "--split", "val").out
    for told in ("forced decoding", "largest weight", "IBM Model 1", "entropy", "warnings"):
        assert told in printed
    # One epoch of 80 sentences has taught nothing, and that is said.
    assert "the weights say nothing" in printed


def test_saved_matrices_have_their_words(run: Path, tmp_path: Path, course: Course) -> None:
    path = tmp_path / "new" / "weights.json"
    assert course("align", run, "--split", "test", "--save", path).status == 0
    sentences = json.loads(path.read_text())["sentences"]
    test = load_corpus("toy", "en-de", **OPTIONS).splits["test"]
    assert [one["source"][:-1] for one in sentences] == test.source
    for one in sentences:
        shape = (len(one["target"]), len(one["source"]))
        assert np.array(one["alpha"]).shape == shape
    done = course("align", run, "--split", "test", "--save", tmp_path / "w.npz")
    assert "ends in .json" in refusal(done)
    assert not (tmp_path / "w.npz").exists()


def test_a_corpus_without_gold_links_is_diagnosed_all_the_same(
    run: Path, course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = load_corpus("toy", "en-de", **OPTIONS)
    splits = {name: replace(part, links=None) for name, part in corpus.splits.items()}
    plain = replace(corpus, name="photographs", splits=splits)
    monkeypatch.setattr(registry, "load_corpus", lambda *_, **__: plain)
    printed = course("align", run, "--split", "test").out
    assert "photographs has no gold alignment, so there is no error rate" in printed
    assert "entropy" in printed
    assert "AER" not in printed
    record = json.loads(course("align", run, "--split", "test", "--json").out)
    assert record["aer"] is None
    assert record["alignments"] == {}
    assert record["diagnostics"]["sentences"] == 20


def test_what_cannot_be_aligned_is_one_clear_line(
    run: Path, tmp_path: Path, course: Course
) -> None:
    moved = shutil.copytree(run, tmp_path / "run")
    config = yaml.safe_load((moved / "config.yaml").read_text())
    config["changes"]["corpus.seed"] = 1
    (moved / "config.yaml").write_text(yaml.safe_dump(config))
    for words, told in (
        ([run, "--split", "dev"], ("no split 'dev'", "train, val, test")),
        ([tmp_path, "--split", "test"], ("not a run directory",)),
        ([moved, "--split", "test"], ("trained on other data",)),
    ):
        message = refusal(course("align", *words))
        assert all(part in message for part in told), message
