"""A text of somebody's own: found, split, streamed, recognised again, refused with the line."""

import gzip
import random
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

from course_lib.corpora import own_text, token_files
from course_lib.corpora.copies import key, said
from course_lib.corpora.corpus import Corpus
from course_lib.corpora.own_text import own_corpus
from course_lib.corpora.registry import chosen, load_corpus
from course_lib.errors import CourseError
from tests.corpora.together import assert_fits_together

PAIRS = [(f"The dog {i} isn't here.", f"¡El perro {i} no está aquí!") for i in range(300)]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(own_text, "cache_folder", lambda: tmp_path / "cache")
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
    assert corpus.splits["train"].source[7] == ["the", "dog", "7", "isn't", "here", "."]
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
    write(folder, "train", PAIRS + [(x.upper(), f"{y} ") for x, y in PAIRS[:40]])
    corpus = own_corpus(str(folder), "en-es")
    assert "40 of 340 pairs repeat an earlier one, or nearly" in corpus.notes
    assert_fits_together(corpus)
    write(folder, "val", [("The dog 1 isn't here", "Otro perro."), ("New.", "Nuevo.")])
    corpus = own_corpus(str(folder), "en-es")
    assert corpus.copies == {"val": 1}
    assert said(corpus) == {
        "val": "1 of the 2 sources of val, or near copies of them, are trained on"
    }


LEAKS = {
    "several translations": [
        (f"Line {i}.", f"Frase {k} de {i}.") for i in range(400) for k in "abc"
    ],
    "several sources": [(f"Line {k} of {i}.", f"Frase {i}.") for i in range(400) for k in "abc"],
    "another form": [
        pair
        for i in range(400)
        for pair in (
            (f"café {i}", f"té {i}"),
            (f"CAFE\u0301  {i}.", f"otro té {i}"),
            (f"other coffee {i}", f"TE\u0301 {i}!"),
        )
    ],
}


@pytest.mark.parametrize("kind", LEAKS)
def test_no_test_sentence_is_trained_on(folder: Path, kind: str) -> None:
    write(folder, "train", random.Random(1).sample(LEAKS[kind], 1200))
    corpus = own_corpus(str(folder), "en-es")
    assert corpus.copies == {}
    assert said(corpus) == {}
    trained, *held_out = (
        [{key(" ".join(words)) for words in side} for side in (part.source, part.target)]
        for part in corpus.splits.values()
    )
    for sides in held_out:
        assert sides[0]
        assert not sides[0] & trained[0]
        assert not sides[1] & trained[1]
    assert all(60 < len(corpus.splits[split]) < 180 for split in ("val", "test"))


def test_what_all_pairs_share_holds_them_in_training(folder: Path) -> None:
    write(folder, "train", [*PAIRS, *((f"Thanks {i}", "Gracias.") for i in range(300))])
    corpus = own_corpus(str(folder), "en-es")
    assert sum(words == ["gracias", "."] for words in corpus.splits["train"].target) == 300


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


def test_a_table_is_not_read_in_languages_that_its_heading_does_not_name(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("hi\ten\n" + "".join(f"{a}\t{b}\n" for a, b in PAIRS), encoding="utf-8")
    with pytest.raises(CourseError, match=r"names hi and en: --pair hi-en or --pair en-hi\."):
        own_corpus(str(path), "en-es")
    with pytest.raises(CourseError, match="--pair hi-en or --pair en-hi"):
        chosen(str(path), None)
    # Words of two letters are words where they name none of the two.
    path.write_text("yes\tsi\n" + "".join(f"{a}\t{b}\n" for a, b in PAIRS), encoding="utf-8")
    corpus = own_corpus(str(path), "en-es")
    assert sum(map(len, corpus.splits.values())) == len(PAIRS) + 1


def test_packed_files_are_the_same_text(folder: Path) -> None:
    plain = own_corpus(str(folder), "en-es")
    for file in list(folder.iterdir()):
        file.with_name(file.name + ".gz").write_bytes(gzip.compress(file.read_bytes()))
        file.unlink()
    packed = own_corpus(str(folder), "en-es")
    assert (packed.splits, packed.sha256) == (plain.splits, plain.sha256)


def test_case_is_kept_and_tokens_are_taken_as_they_are_on_request(folder: Path) -> None:
    kept = load_corpus(str(folder), "en-es", lowercase=False)
    assert kept.splits["train"].source[7][0] == "The"
    assert not kept.lowercased
    taken = load_corpus(str(folder), "en-es", tokenized=True)
    assert taken.splits["train"].source[0][3:] == ["isn't", "here."]
    assert taken.detokenize(["a", "."]) == "a ."
    with pytest.raises(CourseError, match="true or false"):
        load_corpus(str(folder), "en-es", lowercase=1)


def test_a_large_text_is_streamed_and_has_the_same_pairs(
    folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = own_corpus(str(folder), "en-es")
    monkeypatch.setattr(own_text, "IN_MEMORY", 100)
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


@pytest.mark.parametrize("pair", ["en-fr", "en", "en-en", "en/es", ""])
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
    for code in ("en", "es"):
        (folder / f"val.{code}").write_text("\n")
    with pytest.raises(CourseError, match=r"val\.en and .*val\.es are empty"):
        load_corpus(str(folder), "en-es")
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


def test_shares_are_as_said() -> None:
    hashes = np.arange(20_000, dtype=np.uint64).reshape(-1, 2) * np.uint64(0x9E3779B97F4A7C15)
    place = own_text._places(hashes, ["val", "test"])
    assert [np.count_nonzero(place == k) for k in range(3)] == pytest.approx(
        [8_000, 1_000, 1_000], abs=150
    )
    assert not own_text._places(hashes, []).any()


@pytest.mark.parametrize(
    ("names", "pair", "found"),
    [
        (("train.en", "train.zh_Hans"), "en-zho", "en-zh_Hans"),
        (("train.en", "train.pt-BR"), "en-pt-BR", "en-pt_BR"),
        (("train.eng", "train.spa"), "EN-es_419", "eng-spa"),
        (("training.sr@latin.txt", "training.en.txt"), "sr_Latn-en", "sr@latin-en"),
    ],
)
def test_languages_and_files_have_any_usual_name(
    tmp_path: Path, names: tuple[str, str], pair: str, found: str
) -> None:
    for name in names:
        (tmp_path / name).write_text("".join(f"{name} {i}\n" for i in range(100)))
        (tmp_path / name.replace("train", "dev").replace("ing", "")).write_text(f"{name}\n")
    (tmp_path / "books.en").write_text("not read\n")
    corpus = load_corpus(str(tmp_path), pair)
    assert corpus.pair == found == chosen(str(tmp_path), pair)[1]
    assert len(corpus.splits["val"]) == 1
    assert any("not read: books.en" in note for note in corpus.notes)


@pytest.mark.parametrize("pair", ["en-jp", "english-es", "en-xx"])
def test_what_is_no_language_is_refused_with_its_reason(tmp_path: Path, pair: str) -> None:
    (tmp_path / "pairs.tsv").write_text("a\tb\n" * 100)
    with pytest.raises(CourseError, match="names no language"):
        load_corpus(str(tmp_path / "pairs.tsv"), pair)


def test_two_files_for_one_split_are_refused(folder: Path) -> None:
    write(folder, "val", PAIRS[:3])
    write(folder, "dev", PAIRS[3:6])
    with pytest.raises(CourseError, match=r"dev\.en and val\.en are both val\.en"):
        own_corpus(str(folder), "en-es")


def test_empty_lines_at_the_end_are_no_lines(folder: Path) -> None:
    before = own_corpus(str(folder), "en-es")
    with (folder / "train.es").open("a") as side:
        side.write("\n \n")
    assert own_corpus(str(folder), "en-es").splits == before.splits


def test_a_text_in_utf_16_is_named_and_read_on_request(folder: Path) -> None:
    plain = own_corpus(str(folder), "en-es").splits
    for file in folder.iterdir():
        file.write_text(file.read_text(encoding="utf-8"), encoding="utf-16")
    with pytest.raises(CourseError, match="is in UTF-16"):
        own_corpus(str(folder), "en-es")
    lines = own_text.OwnText.find(folder, "en-es", "utf-16").pairs("train")
    assert len(list(lines)) == sum(map(len, plain.values()))


def test_a_byte_order_mark_is_nowhere_in_the_text(folder: Path) -> None:
    before = own_corpus(str(folder), "en-es")
    for file in folder.iterdir():
        file.write_bytes(b"".join(b"\xef\xbb\xbf" + x for x in file.read_bytes().splitlines(True)))
    assert own_corpus(str(folder), "en-es").splits == before.splits


def test_moses_rules_are_there_for_a_start_from_a_published_model(folder: Path) -> None:
    corpus = load_corpus(str(folder), "en-es", moses=True)
    assert corpus.splits["train"].source[7][3:5] == ["isn", "&apos;t"]
    assert corpus.rules == "moses"
    with pytest.raises(CourseError, match=r"Leave corpus\.moses out"):
        load_corpus(str(folder), "en-es", moses=True, tokenized=True)


def test_a_space_that_holds_together_holds_a_token_together(folder: Path) -> None:
    write(folder, "train", [*PAIRS, ("10\u00a0000 dogs", "10\u00a0000 perros")])
    corpus = load_corpus(str(folder), "en-es", tokenized=True)
    assert ["10\u00a0000", "dogs"] in [x for part in corpus.splits.values() for x in part.source]
