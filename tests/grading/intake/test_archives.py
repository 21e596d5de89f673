"""A zip that somebody handed in is unpacked into its folder, or not at all."""

import io
import stat
import struct
import tarfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from course_lib.grading.intake.archives import ArchiveLimits, BadArchive, extract, is_archive
from course_lib.grading.untrusted import visible

SMALL = ArchiveLimits(files=20, total=10**5)


def packed(path: Path, *entries: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore")  # of names that come twice
        for name, data in entries:
            archive.writestr(name, data)
    return path


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def entry(name: str, mode: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    info.external_attr = mode << 16
    return info


@pytest.fixture
def zipped(tmp_path: Path) -> Path:
    return tmp_path / "ada.zip"


def test_an_honest_archive_is_unpacked_whole(zipped: Path, tmp_path: Path) -> None:
    handed_in = {"a.ipynb": b"{}", "runs/one/result.json": b"[]", "runs/zwei/größe.txt": b"x" * 500}
    packed(zipped, *handed_in.items())
    unpacked = extract(zipped, tmp_path / "out", SMALL)
    assert unpacked.remarks == []
    assert unpacked.files == [(name, tmp_path / "out" / name) for name in handed_in]
    assert files(tmp_path / "out") == handed_in


def test_the_only_notebook_counts_wherever_it_is_hidden(zipped: Path, tmp_path: Path) -> None:
    copy = "hw/.ipynb_checkpoints/a-checkpoint.ipynb"
    packed(zipped, ("hw/._a.ipynb", b"of the Finder"), (copy, b"{}"), ("hw/.b.ipynb", b"[]"))
    extract(zipped, tmp_path / "hidden", SMALL)
    assert files(tmp_path / "hidden") == {"hw/b.ipynb": b"[]"}
    packed(zipped, (copy, b"{}"), ("hw/notes.txt", b"mine"))
    extract(zipped, tmp_path / "copy", SMALL)
    found = {"hw/ipynb_checkpoints/a-checkpoint.ipynb": b"{}", "hw/notes.txt": b"mine"}
    assert files(tmp_path / "copy") == found
    packed(zipped, (copy, b"{}"), ("hw/a.ipynb", b"[]"))
    extract(zipped, tmp_path / "both", SMALL)
    assert [path.name for path in (tmp_path / "both" / "hw").iterdir()] == ["a.ipynb"]
    own = "hw/ipynb_checkpoints/own.txt"
    packed(zipped, (copy, b"{}"), ("hw/a.ipynb", b"[]"), (own, b"mine"))
    extract(zipped, tmp_path / "own", SMALL)
    assert files(tmp_path / "own") == {"hw/a.ipynb": b"[]", own: b"mine"}


def test_a_tar_is_unpacked_as_a_zip_is(tmp_path: Path) -> None:
    made = tmp_path / "ada.tar.gz"
    with tarfile.open(made, "w:gz") as archive:
        for name, kind in (("work", tarfile.DIRTYPE), ("out", tarfile.SYMTYPE)):
            entry = tarfile.TarInfo(name)
            entry.type = kind
            archive.addfile(entry)
        entry = tarfile.TarInfo("work/a.ipynb")
        entry.size = 2
        archive.addfile(entry, io.BytesIO(b"{}"))
    assert is_archive(made)
    unpacked = extract(made, tmp_path / "out", SMALL)
    assert files(tmp_path / "out") == {"work/a.ipynb": b"{}"}
    assert unpacked.remarks == ["out is a link or no plain file; it was left out."]
    with tarfile.open(made, "w:gz") as archive:
        entry = tarfile.TarInfo("bomb")
        entry.size = 10**6
        archive.addfile(entry, io.BytesIO(bytes(10**6)))
    with pytest.raises(BadArchive, match="unpacks to more than"):
        extract(made, tmp_path / "again", SMALL)


@pytest.mark.parametrize(
    ("name", "called"),
    [
        ("../out.txt", "out.txt"),
        ("a/../../out.txt", "a/out.txt"),
        ("/etc/passwd", "etc/passwd"),
        ("..\\out.txt", "out.txt"),
        ("work\\out.txt", "work/out.txt"),
        ("C:\\out.txt", "out.txt"),
        ("C:out.txt", "out.txt"),
        ("a/b/c/d/e/f/g/h/i/j.txt", "c/d/e/f/g/h/i/j.txt"),
        ("x" * 300 + ".ipynb", "x" * 80 + ".ipynb"),
        ("页" * 300, "页" * 26),
        ("ä\x1b.txt", "ä_.txt"),
        ("gradebook\u202egpj.db", "gradebook_gpj.db"),
        ("a\nnothing is wrong with b", "a_nothing is wrong with b"),
        ("MINE.txt", "MINE (2).txt"),
        ("mine.txt/deeper", "deeper"),
    ],
)
def test_a_name_that_could_do_harm_is_another_here(
    zipped: Path, tmp_path: Path, name: str, called: str
) -> None:
    packed(zipped, ("mine.txt", b"mine"), (name, b"theirs"))
    unpacked = extract(zipped, tmp_path / "deep" / "out", SMALL)
    assert unpacked.remarks == []
    assert unpacked.files[1] == (name, tmp_path / "deep" / "out" / called)
    assert files(tmp_path / "deep") == {"out/mine.txt": b"mine", f"out/{called}": b"theirs"}


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        (stat.S_IFLNK | 0o777, "is a link"),
        (stat.S_IFIFO | 0o666, "no plain file"),
        (stat.S_IFBLK | 0o666, "no plain file"),
    ],
)
def test_what_is_no_file_is_left_out_and_named(
    zipped: Path, tmp_path: Path, mode: int, said: str
) -> None:
    packed(zipped, ("mine.txt", b"mine"), (entry("other", mode), b"/etc/passwd"))
    (remark,) = extract(zipped, tmp_path / "out", SMALL).remarks
    assert said in remark
    assert files(tmp_path / "out") == {"mine.txt": b"mine"}


def changed(path: Path, content: bytes, change: Callable[[bytearray], None]) -> None:
    """A zip of one file, some of whose bytes are others."""
    packed(path, ("a", content))
    data = bytearray(path.read_bytes())
    change(data)
    path.write_bytes(data)


def in_the_index(place: int, byte: int) -> Callable[[Path], None]:
    """A zip with this byte so far behind the beginning of its file's entry."""

    def change(data: bytearray) -> None:
        data[data.index(b"PK\x01\x02") + place] = byte

    return lambda path: changed(path, b"text", change)


def lying(path: Path) -> None:
    """A zip whose index says that its one file of a megabyte has ten bytes."""

    def change(data: bytearray) -> None:
        for place in (data.find(b"PK\x03\x04") + 22, data.find(b"PK\x01\x02") + 24):
            data[place : place + 4] = struct.pack("<I", 10)

    changed(path, bytes(10**6), change)


def unusual(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a", b"x" * 1000)


def damaged(path: Path) -> None:
    changed(path, bytes(range(256)) * 20, lambda data: data.__setitem__(slice(40, 60), bytes(20)))


def cut_in_a_tar(path: Path) -> None:
    """A tar whose second header is damaged, where Python would end in silence."""
    with tarfile.open(path, "w") as archive:
        for name in ("notes.txt", "hw.ipynb"):
            archive.addfile(tarfile.TarInfo(name))
    data = bytearray(path.read_bytes())
    data[tarfile.BLOCKSIZE + 150] ^= 0xFF  # in the checksum
    path.write_bytes(data)


BAD: dict[str, tuple[Callable[[Path], object], str]] = {
    "bomb": (lambda path: packed(path, ("bomb", bytes(10**6))), "unpacks to more than"),
    "many small": (
        lambda path: packed(path, *((f"{n}", bytes(9000)) for n in range(15))),
        "unpacks to more than",
    ),
    "too many": (
        lambda path: packed(path, *((f"{n}", b"") for n in range(21))),
        "holds more than 20 files",
    ),
    "lying": (lying, "damaged"),
    "encrypted": (in_the_index(8, 1), "encrypted"),
    "lzma": (unusual, "unusual"),
    "damaged": (damaged, "damaged"),
    "damaged tar": (cut_in_a_tar, "damaged"),
    "pdf": (lambda path: path.write_bytes(b"%PDF-1.7 my homework"), "damaged or no zip"),
    # versions of zip that Python does not know, and a file that is a patch of another
    "future": (in_the_index(6, 99), "damaged or no zip"),
    "patch": (in_the_index(8, 0x20), "damaged or no zip"),
}


@pytest.mark.parametrize(("make", "said"), BAD.values(), ids=BAD)
def test_of_a_bad_archive_nothing_is_unpacked(
    zipped: Path, tmp_path: Path, make: Callable[[Path], object], said: str
) -> None:
    make(zipped)
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(BadArchive, match=said) as refused:
        extract(zipped, tmp_path / "out", SMALL)
    assert "\n" not in str(refused.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def inside(*entries: tuple[str, bytes]) -> bytes:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return inner.getvalue()


def test_archives_in_archives_are_unpacked_documents_and_models_are_not(
    zipped: Path, tmp_path: Path
) -> None:
    deep = inside(("a.ipynb", b"{}"))
    packed(
        zipped, ("work/mine.zip", inside(("inner.zip", deep))), ("text.docx", deep), ("m.npz", deep)
    )
    assert extract(zipped, tmp_path / "out", SMALL).remarks == []
    assert files(tmp_path / "out") == {
        "m.npz": deep,
        "text.docx": deep,
        "work/mine.zip unpacked/inner.zip unpacked/a.ipynb": b"{}",
    }


def test_a_bomb_in_a_zip_in_a_zip_stays_packed(zipped: Path, tmp_path: Path) -> None:
    inner = inside(("bomb", bytes(10**5)))
    packed(zipped, ("inner.zip", inner), ("mine.txt", bytes(10)))
    (remark,) = extract(zipped, tmp_path / "out", SMALL).remarks
    assert remark.startswith("inner.zip unpacks to more than")
    assert files(tmp_path / "out") == {"inner.zip": inner, "mine.txt": bytes(10)}


def test_many_archives_in_one_hold_no_more_than_one_may(zipped: Path, tmp_path: Path) -> None:
    inner = inside(*((f"{number}.txt", bytes(10_000)) for number in range(6)))
    packed(zipped, *((f"{number}.zip", inner) for number in range(5)))
    for limits in (ArchiveLimits(total=150_000), ArchiveLimits(files=5 + 6 + 6)):
        found = extract(zipped, tmp_path / f"out-{limits.files}", limits)
        sizes = [len(data) for data in files(tmp_path / f"out-{limits.files}").values()]
        assert sizes.count(10_000) == 12
        assert len(found.remarks) == 3


def test_what_lies_in_the_folder_already_is_not_overwritten(zipped: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("first")
    packed(zipped, ("mine.txt", b"second"))
    with pytest.raises(OSError, match="not empty"):
        extract(zipped, tmp_path / "out", SMALL)
    assert files(tmp_path / "out") == {"mine.txt": b"first"}


def test_a_remark_repeats_a_name_in_one_harmless_line() -> None:
    assert visible("größe.txt") == "größe.txt"
    assert visible("a\x1b[2Kb\r\nc\u202ed\u200be") == "a?[2Kb??c?d?e"
    assert len(visible("x" * 10**6)) == 80
