"""The paper's corpus on small files of its format: streamed, tokenised once, resumed, refused."""

import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from course_lib.corpora import token_files, wmt14
from course_lib.corpora.corpus import first_pairs
from course_lib.corpora.registry import load_corpus
from course_lib.corpora.splitting import Splitting
from course_lib.corpora.token_files import Row, TokenFiles, write_token_files
from course_lib.corpora.tokenization import tokenize
from course_lib.corpora.wmt14 import SPLITTING
from course_lib.errors import CourseError
from course_lib.training import (
    RunConfig,
    finish_run,
    read_metrics,
    train,
    train_by,
)
from tests.corpora.together import assert_fits_together
from tests.training.conftest import Stopped, stop

TRAIN = 130


def lines(files: TokenFiles) -> list[tuple[str, str]]:
    return [
        (row["en"], row["fr"]) for block in files.blocks(("en", "fr")) for row in block.to_pylist()
    ]


def test_the_corpus_loads_by_name_with_its_training_pairs_on_disk(published: Path) -> None:
    corpus = load_corpus("wmt14", "en-fr")
    assert {name: len(split) for name, split in corpus.splits.items()} == {"val": 3, "test": 4}
    assert_fits_together(corpus)
    assert corpus.stream is not None
    assert len(corpus.stream) == TRAIN
    assert corpus.splits["val"].source[2][:4] == ["Sentence", "1002", "isn", "&apos;t"]
    assert corpus.detokenize(corpus.splits["test"].target[3]) == corpus.splits["test"].reference[3]


@pytest.mark.parametrize("package", ["datasets", "pyarrow"])
def test_without_the_extra_one_line_says_how_to_get_it(
    package: str, published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    for asked in (lambda: load_corpus("wmt14", "en-fr"), wmt14.training_files):
        with pytest.raises(CourseError, match='pip install "datasets>=4" "pyarrow>=16"'):
            asked()
    assert not list(wmt14.cache_folder().glob("*"))


def test_the_tokens_are_the_course_s_with_their_case(published: Path) -> None:
    files = wmt14.training_files()
    raw = list(wmt14.stream("train"))
    assert len(raw) == TRAIN
    expected = [tuple(" ".join(tokenize(row[x], x, False)) for x in ("en", "fr")) for row in raw]
    assert lines(files) == expected


def test_both_directions_share_what_is_prepared(
    published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = load_corpus("wmt14", "en-fr")
    monkeypatch.setattr(Splitting, "lines", None)  # would raise if it were called
    other = load_corpus("wmt14", "fr-en")
    assert one.stream == other.stream
    assert one.splits["val"].source == other.splits["val"].target


def test_the_first_pairs_are_read_in_either_direction(published: Path) -> None:
    files = wmt14.training_files()
    split = first_pairs(files, "fr-en", 3)
    pairs = list(zip(split.source, split.target, strict=True))
    assert pairs == [(fr.split(), en.split()) for en, fr in lines(files)[:3]]
    assert split.reference == [en for en, _ in lines(files)[:3]]


def test_a_part_of_the_corpus_is_its_beginning(published: Path) -> None:
    few, all_of_them = wmt14.training_files(train=70), wmt14.training_files()
    assert lines(few) == lines(all_of_them)[:70]


def test_a_stopped_preparation_goes_on_to_the_same_files(
    published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token_files, "FILE_ROWS", 30)

    class Killed(Exception):
        pass

    def until_killed(start: int) -> Iterator[Row]:
        yield from islice(wmt14.stream("train", start), 80)
        raise Killed

    def run(name: str, rows: Callable[[int], Iterator[Row]]) -> TokenFiles:
        return write_token_files(
            rows, tmp_path / name, ("en", "fr"), 1000, SPLITTING.lines, workers=1
        )

    def rest(start: int) -> Iterator[Row]:
        read.append(start)
        return wmt14.stream("train", start)

    read: list[int] = []
    with pytest.raises(Killed):
        run("stopped", until_killed)
    whole, resumed = run("whole", rest), run("stopped", rest)
    assert read == [0, 60]  # two files of thirty were there
    assert lines(whole) == lines(resumed)
    assert whole.sha256() == resumed.sha256()
    assert len(whole.paths()) == 5


def test_worker_processes_give_the_same_files(
    published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token_files, "FILE_ROWS", TRAIN)
    alone, together = (
        write_token_files(
            lambda start: wmt14.stream("train", start),
            tmp_path / f"{workers}",
            ("en", "fr"),
            TRAIN,
            SPLITTING.lines,
            workers,
        )
        for workers in (1, 2)
    )
    assert alone.sha256() == together.sha256()


def test_a_pair_with_an_empty_side_is_left_out(tmp_path: Path) -> None:
    rows = [{"en": "One .", "fr": "Un ."}, {"en": " ", "fr": "Rien ."}, {"en": "Two", "fr": "Deux"}]
    files = write_token_files(
        lambda start: rows[start:], tmp_path, ("en", "fr"), 10, SPLITTING.lines
    )
    assert lines(files) == [("One .", "Un ."), ("Two", "Deux")]


def test_damage_is_found_and_named(published: Path) -> None:
    files = wmt14.training_files()
    assert wmt14.verify() == files
    files.paths()[0].write_bytes(b"no parquet")
    with pytest.raises(CourseError, match="not as they were written"):
        wmt14.verify()
    with pytest.raises(CourseError, match="missing or damaged"):
        lines(files)


def test_what_is_not_prepared_is_not_verified(published: Path) -> None:
    with pytest.raises(CourseError, match="corpus fetch wmt14"):
        wmt14.verify()


def test_rows_of_another_format_are_refused(published: Path) -> None:
    path = next(published.glob("validation-*"))
    pyarrow.parquet.write_table(pyarrow.table({"text": ["A", "B"]}), path)
    with pytest.raises(CourseError, match="not of the form"):
        load_corpus("wmt14", "en-fr")


def test_missing_and_unreadable_files_are_one_line(published: Path) -> None:
    path = next(published.glob("validation-*"))
    path.write_bytes(b"no parquet")
    with pytest.raises(CourseError, match="cannot be read from") as caught:
        load_corpus("wmt14", "en-fr")
    assert "\n" not in str(caught.value)
    path.unlink()
    with pytest.raises(CourseError, match=r"no file validation-\*"):
        load_corpus("wmt14", "en-fr")


def test_without_files_and_without_network_the_remedy_is_said(
    published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, list[str]]] = []

    def unreachable(builder: str, data_files: dict[str, list[str]], **_: object) -> None:
        asked.append((builder, *data_files.values()))
        raise ConnectionError("Name or service not known")

    monkeypatch.delenv("COURSE_DATA")
    monkeypatch.setattr("datasets.load_dataset", unreachable)
    with pytest.raises(CourseError, match="Offline, put the files"):
        load_corpus("wmt14", "en-fr")
    [(builder, [address])] = asked
    assert builder == "parquet"
    assert address.startswith("hf://datasets/wmt/wmt14@")
    assert address.endswith("/fr-en/validation-*.parquet")


SMALL = {
    "embedding": 8,
    "hidden": 8,
    "alignment": 8,
    "readout": 4,
    "epochs": 2,
    "max_words": 40,
    "max_length": 11,
    "checkpoint_steps": 2,
}


def test_a_run_trains_from_the_stream_and_resumes_to_the_same_numbers(
    published: Path, tmp_path: Path
) -> None:
    config = RunConfig("rnnsearch", "wmt14", "en-fr", "paper", changes={**SMALL, "batch_size": 16})
    corpus = load_corpus("wmt14", "en-fr")
    train(config, corpus, tmp_path / "whole", quiet=True)
    with pytest.raises(Stopped):  # behind a validation, before its checkpoint
        train(config, corpus, tmp_path / "stopped", quiet=True, watch=stop)
    train(config, corpus, tmp_path / "stopped", resume=True, quiet=True)
    runs = [tmp_path / name for name in ("whole", "stopped")]
    one, other = ((run / "model.safetensors").read_bytes() for run in runs)
    assert one == other
    losses, again = ([row["train_loss"] for row in read_metrics(run)] for run in runs)
    assert losses == again
    result = finish_run(runs[0], corpus, beam=1)
    assert list(result["scores"]) == ["test"]
    assert result["model_config"]["target_vocabulary"] == 44
    assert result["corpus_sha256"].keys() == {"train", "val", "test"}


@pytest.mark.slow
def test_two_processes_share_what_one_streams(
    published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "theirs"))  # theirs is not patched
    changes = {**SMALL, "batch_size": 16}
    config = RunConfig("rnnsearch", "wmt14", "en-fr", "paper", changes=changes)
    corpus = load_corpus("wmt14", "en-fr")
    for processes, name in ((1, "one"), (2, "two")):
        train_by(processes, config, corpus, tmp_path / name, quiet=True)
    one, two = (read_metrics(tmp_path / name) for name in ("one", "two"))
    assert one[-1]["step"] == two[-1]["step"] > 10
    for name in ("train_loss", "val_loss"):
        losses = [record[name] for record in two]
        assert losses == pytest.approx([record[name] for record in one], abs=1e-4)
