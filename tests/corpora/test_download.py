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
        self.asked = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/file.gz"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        step = self.server.plan.pop(0) if self.server.plan else "good"
        self.server.asked += 1
        if step.isdigit():
            self.send_error(int(step))
            return
        body = PAYLOAD
        self.send_response(200)
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
    monkeypatch.setattr("course_lib.corpora.download.PAUSE_SECONDS", 0.0)
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def fetch(server: Server, path: Path) -> None:
    download(server.url, path, SHA256)


def visible(folder: Path) -> list[str]:
    return [entry.name for entry in folder.iterdir() if not entry.name.startswith(".")]


def test_file_arrives_whole_and_leaves_nothing_beside_it(server: Server, tmp_path: Path) -> None:
    fetch(server, tmp_path / "new" / "file.gz")
    assert (tmp_path / "new" / "file.gz").read_bytes() == PAYLOAD
    assert visible(tmp_path / "new") == ["file.gz"]


def test_a_broken_transfer_begins_anew_and_nothing_is_kept_of_it(
    server: Server, tmp_path: Path
) -> None:
    server.plan = ["breaks", "breaks"]
    fetch(server, tmp_path / "file.gz")
    assert (tmp_path / "file.gz").read_bytes() == PAYLOAD
    server.plan = ["breaks"] * 3
    with pytest.raises(CourseError, match="128000 bytes read"):
        fetch(server, tmp_path / "other.gz")
    assert visible(tmp_path) == ["file.gz"]


def test_wrong_bytes_are_refused_and_not_kept(server: Server, tmp_path: Path) -> None:
    server.plan = ["wrong"]
    with pytest.raises(CourseError, match=r"other bytes than those published"):
        fetch(server, tmp_path / "file.gz")
    assert visible(tmp_path) == []
    assert server.asked == 1


def test_a_refusal_is_final_and_trouble_is_not(server: Server, tmp_path: Path) -> None:
    server.plan = ["404"]
    with pytest.raises(CourseError, match="answered 404"):
        fetch(server, tmp_path / "file.gz")
    assert server.asked == 1
    server.plan = ["503", "500"]
    fetch(server, tmp_path / "file.gz")
    assert (tmp_path / "file.gz").read_bytes() == PAYLOAD


def test_no_connection_and_no_room_are_one_line_each(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as closed:
        port = closed.server_address[1]
    with pytest.raises(CourseError, match="refused") as refused:
        download(f"http://127.0.0.1:{port}/file.gz", tmp_path / "file.gz", SHA256)
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
    assert server.asked == 1
