"""A text of somebody's own: found, split, streamed, recognised again, refused with the line."""

import gzip
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

from course_lib.corpora import own, token_files
from course_lib.corpora.corpus import Corpus
from course_lib.corpora.own import own_corpus
from course_lib.corpora.registry import chosen, load_corpus
from course_lib.errors import CourseError
from tests.corpora.together import assert_fits_together

PAIRS = [(f"The dog {i} isn't here.", f"¡El perro {i} no está aquí!") for i in range(300)]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(own, "cache_folder", lambda: tmp_path / "cache")
    return tmp_path / "cache"


def write(folder: Path, split: str, pairs: list[tuple[str, str]]) -> Path:
    folder.mkdir(exist_ok=True)
    for side, language in enumerate(("en", "es")):
        lines = "".join(pair[side] + "\n" for pair in pairs)
        (folder / f"{split}.{language}").write_bytes(lines.encode())
    return folder


def pairs_of(corpus: Corpus) -> dict[str, list[tuple[str, str]]]:
    """Every pair of every split, its tokens joined, source first."""
    return {
        name: [(" ".join(x), " ".join(y)) for x, y in zip(split.source, split.target, strict=True)]
        for name, split in corpus.splits.items()
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "mine", "train", PAIRS)


def test_a_folder_is_a_corpus_with_splits_of_its_own(folder: Path) -> None:
    write(folder, "val", [("One dog.", "Un perro.")])
    write(folder, "test_2030", [("Two dogs, Ana.", "Dos perros, Ana.")])
    corpus = load_corpus(str(folder), "en-es")
    assert (corpus.name, corpus.pair, corpus.lowercased) == ("mine", "en-es", True)
    assert {name: len(split) for name, split in corpus.splits.items()} == {
        "train": 300,
        "val": 1,
        "test_2030": 1,
    }
    assert corpus.splits["train"].source[7] == ["the", "dog", "7", "isn", "&apos;t", "here", "."]
    assert corpus.splits["test_2030"].target == [["dos", "perros", ",", "ana", "."]]
    assert corpus.splits["test_2030"].reference == ["Dos perros, Ana."]
    assert corpus.detokenize(["dos", "perros", ",", "ana", "."]) == "dos perros, ana."
    assert corpus.notes == []


def test_what_is_missing_is_split_off_and_no_pair_is_in_two_splits(folder: Path) -> None:
    corpus = own_corpus(str(folder), "en-es")
    assert list(corpus.splits) == ["train", "val", "test"]
    assert_fits_together(corpus)
    assert sum(map(len, corpus.splits.values())) == 300
    assert all(10 < len(corpus.splits[name]) < 60 for name in ("val", "test"))
    assert "split off by hash" in corpus.notes[0]
    back = own_corpus(str(folder), "es-en")
    mirrored = {name: [pair[::-1] for pair in pairs] for name, pairs in pairs_of(back).items()}
    assert mirrored == pairs_of(corpus)


def test_the_order_of_the_lines_decides_no_split(folder: Path) -> None:
    before = pairs_of(own_corpus(str(folder), "en-es"))
    write(folder, "train", PAIRS[::-1])
    after = pairs_of(own_corpus(str(folder), "en-es"))
    assert {name: sorted(pairs) for name, pairs in after.items()} == {
        name: sorted(pairs) for name, pairs in before.items()
    }


def test_duplicates_are_counted_and_stay_together(folder: Path) -> None:
    write(folder, "train", PAIRS + PAIRS[:40])
    corpus = own_corpus(str(folder), "en-es")
    assert "40 of 340 pairs repeat an earlier one" in corpus.notes
    assert_fits_together(corpus)
    write(folder, "val", PAIRS[:3])
    assert any(
        "of the 3 pairs of val are in train" in x for x in own_corpus(str(folder), "en-es").notes
    )


@pytest.mark.parametrize("header", ["", "en\tes\n", "es\ten\n"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_table_is_the_same_corpus_as_a_folder(
    folder: Path, tmp_path: Path, header: str, packed: bool
) -> None:
    rows = [pair[::-1] if header.startswith("es") else pair for pair in PAIRS]
    text = header + "".join(f"{a}\t{b}\tCC-BY by somebody\r\n" for a, b in rows)
    path = tmp_path / ("pairs.tsv.gz" if packed else "pairs.tsv")
    path.write_bytes(gzip.compress(text.encode()) if packed else b"\xef\xbb\xbf" + text.encode())
    table, files = own_corpus(str(path), "en-es"), own_corpus(str(folder), "en-es")
    assert table.splits == files.splits
    assert table.sha256 == files.sha256


def test_packed_files_are_the_same_text(folder: Path) -> None:
    plain = own_corpus(str(folder), "en-es")
    for file in list(folder.iterdir()):
        file.with_name(file.name + ".gz").write_bytes(gzip.compress(file.read_bytes()))
        file.unlink()
    packed = own_corpus(str(folder), "en-es")
    assert (packed.splits, packed.sha256) == (plain.splits, plain.sha256)


def test_case_is_kept_and_tokens_are_taken_as_they_are_on_request(folder: Path) -> None:
    kept = load_corpus(str(folder), "en-es", lowercase=False)
    assert kept.splits["train"].source[0][0] == "The"
    assert not kept.lowercased
    taken = load_corpus(str(folder), "en-es", tokenized=True)
    assert taken.splits["train"].source[0] == PAIRS[0][0].lower().split()
    assert taken.detokenize(["a", "."]) == "a ."
    with pytest.raises(CourseError, match="true or false"):
        load_corpus(str(folder), "en-es", lowercase=1)


def test_a_large_text_is_streamed_and_has_the_same_pairs(
    folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = own_corpus(str(folder), "en-es")
    monkeypatch.setattr(own, "IN_MEMORY", 100)
    monkeypatch.setattr(token_files, "FILE_ROWS", 90)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    large = own_corpus(str(folder), "en-es")
    assert list(large.splits) == ["val", "test"]
    assert large.stream is not None
    assert len(large.stream.paths()) == 3
    rows = [
        row for path in large.stream.paths() for row in pyarrow.parquet.read_table(path).to_pylist()
    ]
    assert [(row["en"], row["es"]) for row in rows] == pairs_of(small)["train"]
    back = own_corpus(str(folder), "es-en")
    assert back.stream == large.stream
    write(folder, "train", PAIRS[1:])
    assert own_corpus(str(folder), "en-es").stream != large.stream


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        (b"no second column", "line 3: no tab"),
        (b"caf\xe9\tcaf\xc3\xa9", "line 3: not UTF-8"),
        (b"something\t ", "line 3: a side is empty"),
        (b"something\t\xe2\x80\x8b", "line 3: a side is empty"),
    ],
)
def test_a_bad_line_of_a_table_is_named(tmp_path: Path, line: bytes, wrong: str) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_bytes(b"a\tb\n" * 2 + line + b"\n")
    with pytest.raises(CourseError, match=wrong) as caught:
        own_corpus(str(path), "en-es")
    assert "course corpus check" in str(caught.value)


def test_sides_of_different_length_are_refused(folder: Path) -> None:
    with (folder / "train.es").open("a") as side:
        side.write("Uno más.\n")
    with pytest.raises(CourseError, match="train, line 301: one side has lines") as caught:
        own_corpus(str(folder), "en-es")
    assert "--fix" not in str(caught.value)  # which cannot mend this


def test_a_cut_gzip_file_is_named(folder: Path) -> None:
    packed = gzip.compress((folder / "train.es").read_bytes())
    (folder / "train.es").unlink()
    (folder / "train.es.gz").write_bytes(packed[:-20])
    with pytest.raises(CourseError, match=r"train\.es\.gz is no whole gzip file"):
        own_corpus(str(folder), "en-es")


@pytest.mark.parametrize("pair", ["en-xx", "en", "en-en", "en/es", ""])
def test_a_wrong_pair_is_answered(folder: Path, pair: str) -> None:
    with pytest.raises(CourseError, match="en-es"):
        own_corpus(str(folder), pair)


def test_what_is_not_there_is_said(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(CourseError, match="no folder or file"):
        load_corpus(str(tmp_path / "nowhere"), "en-es")
    (tmp_path / "empty").mkdir()
    with pytest.raises(CourseError, match=r"train\.en and train\.es"):
        load_corpus(str(tmp_path / "empty"), "en-es")
    (folder / "val.en").write_text("alone\n")
    for pair in ("en-es", "es-en"):
        with pytest.raises(CourseError, match=r"no val\.es"):
            load_corpus(str(folder), pair)
    write(tmp_path / "few", "train", PAIRS[:2])
    with pytest.raises(CourseError, match="none is left for"):
        load_corpus(str(tmp_path / "few"), "en-es")


def test_a_path_is_kept_from_the_root_and_asked_for_its_pair(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    assert chosen("mine", "en-es") == (str(folder.resolve()), "en-es")
    assert chosen("toy", None) == ("toy", "en-de")
    with pytest.raises(CourseError, match="--pair en-es or --pair es-en"):
        chosen("mine", None)
    with pytest.raises(CourseError, match="--pair"):
        chosen("mine.tsv/", None)


def test_a_hash_is_of_the_pair_and_shares_are_as_said() -> None:
    hashes = np.linspace(0, 2**64 - 2**12, 10_000).astype(np.uint64)
    place = own._places(hashes, ["val", "test"])
    assert [np.count_nonzero(place == k) for k in range(3)] == pytest.approx(
        [8_000, 1_000, 1_000], abs=2
    )
    assert not own._places(hashes, []).any()
