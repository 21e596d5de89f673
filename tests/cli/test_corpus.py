"""`course corpus` as a person meets it: output, one line on mistakes, exit statuses."""

import gzip
import hashlib
import tarfile
from pathlib import Path

import pytest

from course_lib.corpora import multi30k, python_docs
from course_lib.corpora.registry import CORPORA
from tests.conftest import Course

GENERATED = [name for name, description in CORPORA.items() if description.generated]


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty cache, no data folder and nothing reachable."""
    monkeypatch.delenv("COURSE_DATA", raising=False)
    monkeypatch.setattr(multi30k, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr("course_lib.corpora.download.time.sleep", lambda seconds: None)
    for variable in ("https_proxy", "HTTPS_PROXY"):
        monkeypatch.setenv(variable, "http://127.0.0.1:1")
    return tmp_path / "cache"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path) -> Path:
    """A small multi30k in $COURSE_DATA whose checksums the commands are told."""
    folder = tmp_path / "data" / "multi30k"
    folder.mkdir(parents=True)
    for split in multi30k.REQUIRED_SPLITS:
        for language in ("en", "de", "fr"):
            text = f"One {language}.\nTwo {language}.\n"
            (folder / f"{split}.{language}.gz").write_bytes(gzip.compress(text.encode()))
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "data"))
    sums = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
    monkeypatch.setattr(multi30k, "CHECKSUMS", sums)
    return folder


def test_list_names_every_corpus_with_its_terms(course: Course) -> None:
    status, out, _ = course("corpus", "list")
    assert status == 0
    for name, description in CORPORA.items():
        assert name in out
        assert description.terms in out


def test_show_prints_as_many_pairs_as_asked(course: Course) -> None:
    status, out, _ = course(
        "corpus", "show", "toy", "--n", "3", "--split", "val", "--pair", "de-en"
    )
    assert status == 0
    for field in ("source", "target", "reference", "links"):
        assert out.count(f"\n  {field} ") == 3
    assert "val 3" in out
    assert "val 4" not in out


def test_verify_tells_good_files_from_bad(
    course: Course, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(multi30k.CHECKSUMS, "test_2017_flickr.en.gz", "0" * 64)
    status, out, err = course("corpus", "verify", "multi30k")
    assert (status, err) == (0, "")
    assert out.count("ok ") == 9
    assert "test_2017_flickr.en.gz (optional test set)" in out
    (files / "val.de.gz").write_bytes(b"cut")
    status, out, err = course("corpus", "verify", "multi30k")
    assert status == 1
    assert f"damaged    {files / 'val.de.gz'}" in out
    assert err.count("\n") == 1
    assert f"Delete {files / 'val.de.gz'}, then run `course corpus fetch multi30k`." in err


def test_fetch_is_content_with_files_at_hand(course: Course, files: Path) -> None:
    status, out, err = course("corpus", "fetch", "multi30k")
    assert (status, err) == (0, "")
    assert out == f"multi30k: 9 files, every SHA-256 as published, in {files}.\n"


def test_the_documentation_is_fetched_and_verified_by_its_catalogues(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(python_docs, "cache_folder", lambda: tmp_path / "cache")
    status, out, err = course("corpus", "verify", "python-docs")
    assert (status, out) == (1, f"missing    {python_docs.ARCHIVE}\n")
    assert "Run `course corpus fetch python-docs`." in err
    archive = tmp_path / "cache" / python_docs.ARCHIVE
    archive.parent.mkdir()
    with tarfile.open(archive, "w:gz"):
        monkeypatch.setattr(python_docs, "CHECKSUMS", {})
    for command, said in (("verify", "ok "), ("fetch", "1 file, every SHA-256 as published")):
        status, out, err = course("corpus", command, "python-docs")
        assert (status, err) == (0, "")
        assert said in out
        assert str(archive.parent) in out


@pytest.mark.parametrize("name", GENERATED)
def test_generated_corpora_need_neither_fetching_nor_verifying(course: Course, name: str) -> None:
    for command in ("fetch", "verify"):
        status, out, _ = course("corpus", command, name)
        assert status == 0
        assert "generated" in out


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        (["show", "nothing"], "Choose one of"),
        (["fetch", "nothing"], "Choose one of"),
        (["verify", "nothing"], "Choose one of"),
        (["show", "toy", "--pair", "en-fr"], "Choose one of en-de, de-en"),
        (["show", "toy", "--split", "dev"], "Choose one of train, val, test"),
        (["show", "toy", "--n", "0"], "course --help"),
        (["show", "toy", "--n", "many"], "course --help"),
        (["show"], "course --help"),
        (["look"], "No such command 'look'. See `course --help`."),
        (["shwo"], "Did you mean 'show'? See `course --help`."),
    ],
)
def test_mistakes_are_one_line_with_the_remedy(
    course: Course, arguments: list[str], remedy: str
) -> None:
    done = course("corpus", *arguments)
    assert done.refused(remedy)
    assert done.out == ""


def test_check_lists_faults_and_writes_a_copy_without_them(course: Course, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "train.en").write_text("One dog.\n\nTwo dogs.\n")
    (folder / "train.es").write_text("Un perro.\nNada.\nDos perros.\n")
    status, out, _ = course("corpus", "check", str(folder))
    assert status == 1
    assert out.splitlines() == [
        "train line 2: a side is empty",
        "With --fix you get a copy without these lines.",
    ]
    (folder / "train.en").write_text("One dog.\n")
    assert "--fix" not in course("corpus", "check", str(folder)).out  # nothing would be written
    (folder / "train.en").write_text("One dog.\n\nTwo dogs.\n")
    status, out, _ = course("corpus", "check", str(folder), "--fix")
    assert status == 1
    assert "mine-clean" in out
    status, out, _ = course("corpus", "check", str(tmp_path / "mine-clean"))
    assert status == 0
    assert "nothing is wrong" in out
    for arguments in (["nowhere"], ["--pair", "en-xx", str(folder)]):
        status, out, err = course("corpus", "check", *arguments)
        assert (status, out, err.count("\n")) == (2, "", 1)
