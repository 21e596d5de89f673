"""A text of somebody's own through every command, as typed."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from course_lib.corpora import own_text
from tests.cli.conftest import SHORT, write_text
from tests.conftest import Course, typed


@pytest.fixture(autouse=True, scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(own_text, "cache_folder", lambda: folder)
        yield


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_text(tmp_path_factory.mktemp("home") / "mine")


@pytest.fixture(scope="module")
def run(text: Path) -> Path:
    out = text.parent / "run"
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.chdir(text.parent)
        words = ["train", "--model", "rnnsearch", "--corpus", "mine", "--pair", "en-he"]
        assert typed(*words, *SHORT, "--out", out) == 0
    return out


def test_a_run_is_scored_and_translates_from_any_folder(
    run: Path, course: Course, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    done = course("score", run, "--split", "test", "--beam", 1, "--json")
    assert json.loads(done.out)["sentences"] == 10
    lines = course("translate", run, "--beam", 1, stdin="DOG cat here.\n\nnow\n").out.splitlines()
    assert len(lines) == 3
    assert lines[1] == ""


def test_links_beside_the_text_are_its_gold(run: Path, course: Course) -> None:
    record = json.loads(course("align", run, "--split", "test", "--json").out)
    assert record["gold"] == "40 sure links, 0 more possible"
    assert record["ibm1_aer"] < 1
    assert json.loads(course("align", run, "--split", "val", "--json").out)["aer"] is None
    printed = course("align", run, "--split", "val").out
    assert "mine has no gold alignment, so there is no error rate" in printed
    assert "AER" not in printed


def test_its_cost_is_that_of_the_training(
    text: Path, run: Path, course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["cost", "--corpus", text, "--pair", "en-he", *SHORT[:-2], "--json"]
    found = json.loads(course(*words).out)
    result = json.loads((run / "result.json").read_text())
    assert found["parameters"] == result["parameters"]
    assert found["updates"] == result["metrics"][-1]["step"]
    assert found["words"] == [4, 4]
    assert found["longest"] == 4
    assert json.loads(course(*words, "--updates", 7).out)["updates"] == 7
    # A stream is not read to its end: its longest pair is the longest that is allowed.
    monkeypatch.setattr(own_text, "IN_MEMORY", 10)
    streamed = json.loads(course(*words, "--set", "max_length=30").out)
    assert streamed == {
        **found,
        "longest": 30,
        **{x: streamed[x] for x in ("memory", "memory_bytes")},
    }


def test_it_is_shown_with_what_to_know_of_it(text: Path, course: Course) -> None:
    shown = course("corpus", "show", text, "--pair", "he-en", "--n", 1).out
    assert "mine he-en: train 70, val 10, test 10 pairs" in shown
    assert "source     כאן כלב כלב ." in shown


def test_two_models_are_compared_on_a_table(text: Path, tmp_path: Path, course: Course) -> None:
    sides = [
        (text / f"train.{language}").read_text(encoding="utf-8").splitlines()
        for language in ("en", "he")
    ]
    rows = "".join(f"{x}\t{y}\n" for x, y in zip(*sides, strict=True))
    (tmp_path / "pairs.tsv").write_text(rows, encoding="utf-8")
    words = ["compare", "--corpus", tmp_path / "pairs.tsv", "--pair", "en-he", *SHORT]
    done = course(*words, "--out", tmp_path / "both")
    assert done.status == 0
    assert "rnnencdec" in done.out
    assert "pairs.tsv: split off by hash" in done.err
    # Given again, it goes on: both are finished and the text is the same.
    assert course(*words, "--out", tmp_path / "both").status == 0


def test_a_run_does_not_go_on_with_another_text(text: Path, run: Path, course: Course) -> None:
    before = {path: path.read_bytes() for path in text.iterdir()}
    line = ["train", "--model", "rnnsearch", "--corpus", text, "--pair", "en-he", *SHORT]
    line += ["--out", run, "--resume"]
    assert course(*line).status == 0
    for language, more in (("he", "כאן\n"), ("en", "Here\n")):
        with (text / f"train.{language}").open("a", encoding="utf-8") as side:
            side.write(more)
    for words, remedy in (
        (line, "started with other data"),
        (["score", run, "--split", "test"], "Put the text back as it was"),
        (["align", run, "--split", "test"], "Put the text back as it was"),
    ):
        assert course(*words).refused(remedy)
    for path, content in before.items():
        path.write_bytes(content)


def test_a_mistake_is_one_line_with_the_remedy(
    text: Path, course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(text.parent)
    pair = ["--corpus", "mine", "--pair", "en-he"]
    for words, remedy in (
        (["--corpus", "mine"], "--pair en-he or --pair he-en"),
        (["--corpus", "mine", "--pair", "en-es"], "Choose one of en-he, he-en"),
        (["--corpus", "yours/", "--pair", "en-es"], "no folder or file"),
        ([*pair, "--set", "corpus.train=5"], "lowercase, tokenized"),
    ):
        done = course("train", "--model", "rnnsearch", *words, "--out", "new")
        assert done.refused(remedy), words
        assert not (text.parent / "new").exists()
        asked = course("cost", "--preset", "smoke", *words)
        assert (asked.status, asked.err) == (2, done.err)
