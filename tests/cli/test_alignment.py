"""`course align`, as typed."""

import json
import shutil
from pathlib import Path

import pytest
import yaml

from course_lib.corpora import load_corpus
from tests.conftest import Course, typed

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
    done = course("align", run, "--split", "test", "--save", tmp_path / "w.npz")
    assert done.refused("ends in .json")
    assert not (tmp_path / "w.npz").exists()


def test_what_cannot_be_aligned_is_one_clear_line(
    run: Path, tmp_path: Path, course: Course
) -> None:
    moved = shutil.copytree(run, tmp_path / "run")
    config = yaml.safe_load((moved / "config.yaml").read_text())
    config["changes"]["corpus.seed"] = 1
    (moved / "config.yaml").write_text(yaml.safe_dump(config))
    for words, remedy in (
        ([run, "--split", "dev"], "no split 'dev'. Choose one of train, val, test"),
        ([tmp_path, "--split", "test"], "not a run directory"),
        ([moved, "--split", "test"], "trained on other data"),
    ):
        assert course("align", *words).refused(remedy)
