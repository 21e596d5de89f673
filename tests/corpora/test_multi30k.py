"""The loader on small files of the published format: found, fetched, checked, cached, refused."""

import gzip
import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from course_lib.corpora import multi30k as module
from course_lib.corpora import splitting
from course_lib.corpora.multi30k import CHECKSUMS, fetch, locate, multi30k, verify
from course_lib.errors import CourseError

TEXTS = {
    "en": ["A dog's ball lies here. ", "Two girls sing.", "Someone says: “Yes” & smiles."],
    "de": ["Ein Hundeball liegt hier.", "Zwei Mädchen singen.", "Jemand sagt „Ja“ und lächelt."],
    "fr": ["La balle d'un chien est là.", "Deux filles chantent.", "Quelqu'un dit « Oui »."],
}
SPLITS = ("train", "val", "test_2016_flickr", "test_2017_flickr")


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder like the data set's; no copy of it at hand, an empty cache and no network."""
    monkeypatch.delenv("COURSE_DATA", raising=False)
    monkeypatch.setattr(module, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr("course_lib.corpora.download.time.sleep", lambda seconds: None)
    folder = tmp_path / "published"
    folder.mkdir()
    for split in SPLITS:
        for language, lines in TEXTS.items():
            write(folder / f"{split}.{language}.gz", lines)
    monkeypatch.setattr(module, "CHECKSUMS", sums(folder))
    monkeypatch.setattr(module, "URL", "http://127.0.0.1:1/raw")
    return folder


@pytest.fixture
def data(published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files in $COURSE_DATA/multi30k."""
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "data"))
    return Path(shutil.copytree(published, tmp_path / "data" / "multi30k"))


@pytest.fixture
def online(published: Path) -> Iterator[pytest.MonkeyPatch]:
    """What is published arrives; `undo` takes the network away again."""

    def arrives(url: str, path: Path, sha256: str) -> None:
        path.parent.mkdir(exist_ok=True)
        shutil.copy(published / path.name, path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "download", arrives)
        yield patch


def write(path: Path, lines: list[str]) -> None:
    path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0))


def sums(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def refusal() -> str:
    with pytest.raises(CourseError) as caught:
        multi30k()
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_table_names_three_languages_of_every_split() -> None:
    splits = (*module.REQUIRED_SPLITS, *module.OPTIONAL_SPLITS)
    names = {f"{split}.{language}.gz" for split in splits for language in TEXTS}
    assert set(CHECKSUMS) == names
    assert len({*CHECKSUMS.values()}) == len(names)
    assert all(len(checksum) == 64 for checksum in CHECKSUMS.values())


@pytest.mark.parametrize("pair", module.PAIRS)
def test_sides_are_aligned_and_references_are_the_published_text(pair: str, data: Path) -> None:
    corpus = multi30k(pair)
    source, target = pair.split("-")
    assert (corpus.name, corpus.pair, corpus.lowercased) == ("multi30k", pair, True)
    assert list(corpus.splits) == list(SPLITS)
    for split in corpus.splits.values():
        assert len(split) == len(split.target) == len(split.reference) == 3
        assert split.reference == [line.strip() for line in TEXTS[target]]
        assert split.links is None
    assert corpus.sha256 == {
        name: checksum
        for name, checksum in module.CHECKSUMS.items()
        if name.split(".")[1] in (source, target)
    }
    assert corpus.detokenize(corpus.splits["val"].target[1]) == TEXTS[target][1].lower()


def test_second_load_tokenises_nothing_and_gives_the_same(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = multi30k()
    monkeypatch.setattr(splitting, "tokenize", None)
    assert multi30k().splits == first.splits


def test_other_text_under_the_same_name_never_meets_old_tokens(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    multi30k()
    write(data / "val.en.gz", ["New text.", "Two girls sing.", "And more."])
    monkeypatch.setattr(module, "CHECKSUMS", sums(data))
    assert multi30k().splits["val"].source[0] == ["new", "text", "."]


def test_missing_files_are_downloaded_and_then_found_offline(
    online: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    corpus = multi30k("en-fr")
    assert list(corpus.splits) == list(SPLITS[:3])  # only what is required is downloaded unasked
    online.undo()
    assert multi30k("en-fr").splits == corpus.splits
    assert locate("train.fr.gz") == tmp_path / "cache" / "train.fr.gz"


def test_course_data_comes_before_the_cache(online: pytest.MonkeyPatch, data: Path) -> None:
    assert locate("val.de.gz") == data / "val.de.gz"
    (data / "val.de.gz").unlink()
    assert fetch()
    assert locate("val.de.gz") == module.cache_folder() / "val.de.gz"
    assert locate("val.en.gz") == data / "val.en.gz"


def test_fetch_gets_everything_once_and_replaces_what_is_damaged(
    online: pytest.MonkeyPatch, published: Path
) -> None:
    paths = fetch()
    assert {path.name: path.read_bytes() for path in paths} == {
        path.name: path.read_bytes() for path in published.iterdir()
    }
    damaged = module.cache_folder() / "val.en.gz"
    damaged.write_bytes(damaged.read_bytes()[:-5])
    assert "Run `course corpus fetch multi30k`" in refusal()
    fetch()
    online.undo()
    assert fetch() == paths
    damaged.write_bytes(b"")
    with pytest.raises(CourseError, match="refused"):
        fetch()


def test_offline_the_error_says_which_files_go_where(published: Path) -> None:
    text = refusal()
    for part in ("train.en.gz", "test_2016_flickr.de.gz", str(module.cache_folder()), module.URL):
        assert part in text
    assert "val.fr.gz" not in text  # not of this pair
    assert not list(module.cache_folder().glob("*.gz"))


@pytest.mark.parametrize("keep", [slice(0, -4), slice(0, 0), slice(1, None)])
def test_truncated_or_altered_file_is_refused_and_the_users_copy_is_left_alone(
    keep: slice, online: pytest.MonkeyPatch, data: Path
) -> None:
    bad = data / "train.de.gz"
    bad.write_bytes(bad.read_bytes()[keep])
    left = bad.read_bytes()
    text = refusal()
    assert str(bad) in text
    assert "Delete or replace it" in text
    with pytest.raises(CourseError, match="Delete or replace it"):
        fetch()
    assert bad.read_bytes() == left
    assert not module.cache_folder().exists()


def test_verify_tells_ok_from_missing_and_damaged(data: Path) -> None:
    (data / "val.en.gz").write_bytes(b"")
    (data / "test_2017_flickr.fr.gz").unlink()
    found = {entry.name: entry for entry in verify()}
    assert list(found) == list(module.CHECKSUMS)
    assert (found["val.en.gz"].state, found["val.en.gz"].required) == ("damaged", True)
    missing = found["test_2017_flickr.fr.gz"]
    assert (missing.state, missing.path, missing.required) == ("missing", None, False)
    assert found["train.en.gz"].state == "ok"
