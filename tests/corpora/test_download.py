"""Fetching from a server on this machine that misbehaves in every way we know."""

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from course_lib.corpora.download import download
from course_lib.errors import CourseError

PAYLOAD = bytes(range(256)) * 1000
SHA256 = hashlib.sha256(PAYLOAD).hexdigest()


class Server(ThreadingHTTPServer):
    """Serves PAYLOAD; `plan` holds what the coming requests meet, "good" once it is empty."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.plan: list[str] = []
        self.ranges: list[str | None] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/file.gz"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        step = self.server.plan.pop(0) if self.server.plan else "good"
        asked = self.headers.get("Range")
        self.server.ranges.append(asked)
        if step.isdigit():
            self.send_error(int(step))
            return
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
        if step == "ignores range":
            start = 0
        if start >= len(PAYLOAD):
            self.send_error(416)
            return
        body = PAYLOAD[start:]
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(PAYLOAD) - 1}/{len(PAYLOAD)}")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if step == "breaks":
            body = body[: len(body) // 2]
        elif step == "wrong":
            body = bytes(len(body))
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Keep the tests' output clean."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def fetch(server: Server, path: Path, attempts: int = 3) -> None:
    download(server.url, path, SHA256, attempts=attempts, pause_seconds=0.0)


def visible(folder: Path) -> list[str]:
    return [entry.name for entry in folder.iterdir() if not entry.name.startswith(".")]


def test_file_arrives_whole_and_leaves_nothing_beside_it(server: Server, tmp_path: Path) -> None:
    fetch(server, tmp_path / "new" / "file.gz")
    assert (tmp_path / "new" / "file.gz").read_bytes() == PAYLOAD
    assert visible(tmp_path / "new") == ["file.gz"]


def test_broken_transfers_are_resumed_where_they_broke(server: Server, tmp_path: Path) -> None:
    server.plan = ["breaks", "breaks"]
    fetch(server, tmp_path / "file.gz")
    assert (tmp_path / "file.gz").read_bytes() == PAYLOAD
    half = len(PAYLOAD) // 2
    assert server.ranges == [None, f"bytes={half}-", f"bytes={half + half // 2}-"]


def test_a_later_call_resumes_what_an_earlier_one_left(server: Server, tmp_path: Path) -> None:
    server.plan = ["breaks"]
    with pytest.raises(CourseError, match=r"broke after 128,000 of 256,000 bytes\.$"):
        fetch(server, tmp_path / "file.gz", attempts=1)
    assert not (tmp_path / "file.gz").exists()
    fetch(server, tmp_path / "file.gz")
    assert (tmp_path / "file.gz").read_bytes() == PAYLOAD
    assert server.ranges[-1] == "bytes=128000-"


def test_server_that_ignores_range_sends_the_whole_file_again(
    server: Server, tmp_path: Path
) -> None:
    server.plan = ["breaks", "ignores range"]
    fetch(server, tmp_path / "file.gz")
    assert (tmp_path / "file.gz").read_bytes() == PAYLOAD


@pytest.mark.parametrize("beginning", [b"other bytes", PAYLOAD, PAYLOAD + b"more", b"x" * 300_000])
def test_whatever_an_earlier_call_left_the_result_is_right(
    server: Server, tmp_path: Path, beginning: bytes
) -> None:
    (tmp_path / "file.gz.part").write_bytes(beginning)
    fetch(server, tmp_path / "file.gz")
    assert (tmp_path / "file.gz").read_bytes() == PAYLOAD
    assert not (tmp_path / "file.gz.part").exists()


def test_longer_leftover_is_cut_when_the_whole_file_comes_again(
    server: Server, tmp_path: Path
) -> None:
    (tmp_path / "file.gz.part").write_bytes(b"x" * 300_000)
    server.plan = ["ignores range"]
    fetch(server, tmp_path / "file.gz", attempts=1)
    assert (tmp_path / "file.gz").read_bytes() == PAYLOAD


def test_wrong_bytes_are_refused_and_not_kept(server: Server, tmp_path: Path) -> None:
    server.plan = ["wrong"]
    with pytest.raises(CourseError, match=r"other bytes than those published"):
        fetch(server, tmp_path / "file.gz")
    assert visible(tmp_path) == []
    assert len(server.ranges) == 1


def test_a_refusal_is_final_and_trouble_is_not(server: Server, tmp_path: Path) -> None:
    server.plan = ["404"]
    with pytest.raises(CourseError, match="answered 404"):
        fetch(server, tmp_path / "file.gz")
    assert len(server.ranges) == 1
    server.plan = ["503", "500"]
    fetch(server, tmp_path / "file.gz")
    assert (tmp_path / "file.gz").read_bytes() == PAYLOAD


def test_no_connection_and_no_room_are_one_line_each(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as closed:
        port = closed.server_address[1]
    with pytest.raises(CourseError, match="refused") as refused:
        download(
            f"http://127.0.0.1:{port}/file.gz", tmp_path / "file.gz", SHA256, pause_seconds=0.0
        )
    (tmp_path / "taken").write_text("a file where the folder should be")
    with pytest.raises(CourseError, match="Cannot write") as unwritable:
        fetch(server, tmp_path / "taken" / "file.gz")
    assert "\n" not in str(refused.value) + str(unwritable.value)


def test_fetches_at_once_take_turns_and_transfer_it_once(server: Server, tmp_path: Path) -> None:
    threads = [threading.Thread(target=fetch, args=(server, tmp_path / "file.gz")) for _ in "12345"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (tmp_path / "file.gz").read_bytes() == PAYLOAD
    assert visible(tmp_path) == ["file.gz"]
    assert len(server.ranges) == 1
