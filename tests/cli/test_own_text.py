"""A text of somebody's own through every command, as typed."""

import json
from pathlib import Path

import pytest

from course_lib.corpora import own
from tests.cli.test_runs import course

WORDS = {"dog": "כלב", "cat": "חתול", "runs": "רץ", "sleeps": "ישן", "here": "כאן", "now": "עכשיו"}
SETTINGS = ["--preset", "smoke", "--set", "epochs=1", "--set", "precision=fp32", "--beam", 1]


def write(folder: Path) -> Path:
    """Ninety pairs of four words, in an order of their own on each side, and links for the test."""
    folder.mkdir()
    english = [[a, b, c] for a in WORDS for b in WORDS for c in ("here", "now", "dog")][:90]
    for split, lines in (("train", english[:70]), ("val", english[70:80]), ("test", english[80:])):
        text = "".join(" ".join(line).capitalize() + ".\n" for line in lines)
        (folder / f"{split}.en").write_text(text, encoding="utf-8")
        text = "".join(" ".join(WORDS[word] for word in line[::-1]) + ".\n" for line in lines)
        (folder / f"{split}.he").write_text(text, encoding="utf-8")
    (folder / "test.links").write_text("0-2 1-1 2-0 3-3\n" * 10)
    return folder


@pytest.fixture(autouse=True, scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(own, "cache_folder", lambda: folder)
        yield


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("home") / "mine")


@pytest.fixture(scope="module")
def run(text: Path) -> Path:
    out = text.parent / "run"
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.chdir(text.parent)
        words = ["train", "--model", "rnnsearch", "--corpus", "mine", "--pair", "en-he"]
        assert course(monkeypatch, *words, *SETTINGS, "--out", out) == 0
    return out


def test_a_run_is_scored_from_any_folder(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert course(monkeypatch, "score", run, "--split", "test", "--beam", 1, "--json") == 0
    assert json.loads(capsys.readouterr().out)["sentences"] == 10


def test_a_run_translates_lines_of_text(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert course(monkeypatch, "translate", run, "--beam", 1, stdin="DOG cat here.\n\nnow\n") == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[1] == ""


def test_links_beside_the_text_are_its_gold(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert course(monkeypatch, "align", run, "--split", "test", "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert record["gold"] == "40 sure links, 0 more possible"
    assert record["ibm1_aer"] < 1
    assert course(monkeypatch, "align", run, "--split", "val", "--json") == 0
    assert json.loads(capsys.readouterr().out)["aer"] is None


def test_it_is_shown_with_what_to_know_of_it(
    text: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert course(monkeypatch, "corpus", "show", text, "--pair", "he-en", "--n", 1) == 0
    shown = capsys.readouterr().out
    assert "mine he-en: train 70, val 10, test 10 pairs" in shown
    assert "source     כאן כלב כלב ." in shown


def test_two_models_are_compared_on_a_table(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sides = [
        (text / f"train.{language}").read_text(encoding="utf-8").splitlines()
        for language in ("en", "he")
    ]
    rows = "".join(f"{x}\t{y}\n" for x, y in zip(*sides, strict=True))
    (tmp_path / "pairs.tsv").write_text(rows, encoding="utf-8")
    words = ["compare", "--corpus", tmp_path / "pairs.tsv", "--pair", "en-he", *SETTINGS]
    assert course(monkeypatch, *words, "--out", tmp_path / "both") == 0
    printed = capsys.readouterr()
    assert "rnnencdec" in printed.out
    assert "pairs.tsv: split off by hash" in printed.err
    # Given again, it goes on: both are finished and the text is the same.
    assert course(monkeypatch, *words, "--out", tmp_path / "both") == 0


def test_a_run_does_not_go_on_with_another_text(
    text: Path,
    run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = {path: path.read_bytes() for path in text.iterdir()}
    line = ["train", "--model", "rnnsearch", "--corpus", text, "--pair", "en-he", *SETTINGS]
    line += ["--out", run, "--resume"]
    assert course(monkeypatch, *line) == 0
    with (text / "train.he").open("a", encoding="utf-8") as side:
        side.write("כאן\n")
    with (text / "train.en").open("a", encoding="utf-8") as side:
        side.write("Here\n")
    capsys.readouterr()
    for words, remedy in (
        (line, "started with another data"),
        (["score", run, "--split", "test"], "Put the text back as it was"),
        (["align", run, "--split", "test"], "Put the text back as it was"),
    ):
        assert course(monkeypatch, *words) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        assert remedy in error
    for path, content in before.items():
        path.write_bytes(content)


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (["--corpus", "mine"], "--pair en-he or --pair he-en"),
        (["--corpus", "mine", "--pair", "en-es"], "Choose one of en-he, he-en"),
        (["--corpus", "yours/", "--pair", "en-es"], "no folder or file"),
        (
            ["--corpus", "mine", "--pair", "en-he", "--set", "corpus.train=5"],
            "lowercase, tokenized",
        ),
    ],
)
def test_a_mistake_is_one_line_with_the_remedy(
    text: Path,
    words: list[str],
    remedy: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(text.parent)
    assert course(monkeypatch, "train", "--model", "rnnsearch", *words, "--out", "new") == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert remedy in error
    assert not (text.parent / "new").exists()
