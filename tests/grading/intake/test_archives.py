"""A zip that somebody handed in is unpacked into its folder, or not at all."""

import io
import stat
import struct
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from course_lib.grading.intake.archives import BadArchive, Limits, extract
from course_lib.grading.wording import visible

SMALL = Limits(archive=10**6, files=20, total=10**6, ratio=20, free=10**4, depth=3, name=40)


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
    assert extract(zipped, tmp_path / "out", SMALL) == []
    assert files(tmp_path / "out") == handed_in


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("../out.txt", "leads out"),
        ("a/../../out.txt", "leads out"),
        ("/etc/passwd", "leads out"),
        ("..\\out.txt", "leads out"),
        ("C:\\out.txt", "leads out"),
        ("C:out.txt", "leads out"),
        ("a/b/c/d.txt", "too many folders"),
        ("x" * 41, "too long"),
        ("ä" * 39 + "\x1b", "invisible"),
        ("gradebook\u202egpj.db", "invisible"),
        ("a\nnothing is wrong with b", "invisible"),
        (entry("link", stat.S_IFLNK | 0o777), "is a link"),
        (entry("pipe", stat.S_IFIFO | 0o666), "no plain file"),
        (entry("disk", stat.S_IFBLK | 0o666), "no plain file"),
        ("MINE.txt", "twice"),
        ("mine.txt/deeper", "file and a folder"),
    ],
)
def test_an_entry_that_could_do_harm_is_left_out_and_named(
    zipped: Path, tmp_path: Path, name: str | zipfile.ZipInfo, said: str
) -> None:
    packed(zipped, ("mine.txt", b"mine"), (name, b"/etc/passwd"))
    remarks = extract(zipped, tmp_path / "deep" / "out", SMALL)
    assert len(remarks) == 1
    assert said in remarks[0]
    assert visible(remarks[0], 500) == remarks[0]
    assert files(tmp_path / "deep") == {"out/mine.txt": b"mine"}


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


BAD: dict[str, tuple[Callable[[Path], object], str]] = {
    "bomb": (lambda path: packed(path, ("bomb", bytes(10**6))), "unpacks to more than"),
    "many small": (
        lambda path: packed(path, *((f"{n}", bytes(9000)) for n in range(15))),
        "unpacks to more than",
    ),
    "too many": (lambda path: packed(path, *((f"{n}", b"") for n in range(21))), "holds 21 files"),
    "lying": (lying, "damaged"),
    "encrypted": (in_the_index(8, 1), "encrypted"),
    "lzma": (unusual, "unusual"),
    "damaged": (damaged, "damaged"),
    "pdf": (lambda path: path.write_bytes(b"%PDF-1.7 my homework"), "damaged or no zip"),
    # versions of zip that Python does not know, and a file that is a patch of another
    "future": (in_the_index(6, 99), "damaged or no zip"),
    "patch": (in_the_index(8, 0x20), "damaged or no zip"),
    "large": (lambda path: path.write_bytes(bytes(SMALL.archive + 1)), "larger than"),
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


def test_a_bomb_in_a_zip_in_a_zip_stays_packed(zipped: Path, tmp_path: Path) -> None:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb", bytes(10**6))
    packed(zipped, ("inner.zip", inner.getvalue()))
    assert extract(zipped, tmp_path / "out", SMALL) == []
    assert files(tmp_path / "out") == {"inner.zip": inner.getvalue()}


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
