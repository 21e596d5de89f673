"""Files are written whole, as readable as any other file of the user's."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from course_lib.files import cached, remove_unfinished, write_atomically


@pytest.fixture
def careful() -> Iterator[None]:
    """A user whose files are for the group at most."""
    before = os.umask(0o027)
    yield
    os.umask(before)


def test_the_users_umask_holds_and_is_left_alone(
    careful: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another thread may be writing a file of its own at this moment."""
    monkeypatch.setattr(os, "umask", lambda _: pytest.fail("the process's umask was changed"))
    for private, mode in ((False, 0o640), (True, 0o600)):
        path = tmp_path / f"{private}"
        write_atomically(path, "text", private=private)
        assert path.stat().st_mode & 0o777 == mode
        assert path.read_text() == "text"
    monkeypatch.undo()


def test_a_write_that_fails_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    write_atomically(path, "first")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as error:
        write_atomically(path, "second")
    assert error.value.filename == str(path)
    assert [each.read_text() for each in tmp_path.iterdir()] == ["first"]


def test_what_a_kill_left_behind_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(SystemError))
        patched.setattr(Path, "unlink", lambda *_, **__: None)
        with pytest.raises(SystemError):
            write_atomically(tmp_path / "file", "text")
    assert len(list(tmp_path.iterdir())) == 1
    remove_unfinished(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_cache_is_read_where_it_is_whole_and_need_not_be_writable(tmp_path: Path) -> None:
    kept = tmp_path / "cache" / "kept"
    assert cached(kept, lambda: b"two\nlines") == b"two\nlines"
    assert cached(kept, lambda: b"other") == b"two\nlines"
    for damaged in (kept.read_bytes()[:-3], b"", b"half a line"):
        kept.write_bytes(damaged)
        assert cached(kept, lambda: b"made anew") == b"made anew"
        assert cached(kept, lambda: b"other") == b"made anew"
    assert cached(kept / "no folder", lambda: b"not kept") == b"not kept"
