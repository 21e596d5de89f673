"""What one submission may use, all its processes together: tried by exceeding it, even as root."""

import errno
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import IO

import psutil
import pytest

from course_lib.grading.sandbox import bubblewrap, limits, namespaces
from course_lib.grading.sandbox.boxes import Box
from course_lib.grading.sandbox.limits import BoxLimits, too_heavy, too_many
from tests.conftest import PATIENCE
from tests.grading.sandbox.conftest import python

# Filling memory takes processor time too, on a busy machine more than a second.
FEW = BoxLimits(memory=400 * 1024**2, processes=48, processor=10, wall=PATIENCE)
SHORT = replace(FEW, processor=1)
MEMORY_BOMB = """
kept = []
while True:
    kept.append(bytearray(10_000_000))
"""
SPREAD_MEMORY_BOMB = """
import os, time
for _ in range(8):
    if os.fork() == 0:
        kept = bytearray(b"x") * 100_000_000
        time.sleep(600)
time.sleep(600)
"""
FORK_BOMB = """
import os
while True:
    try:
        os.fork()
    except OSError:
        pass
"""
THREAD_BOMB = """
import threading, time
while True:
    try:
        threading.Thread(target=time.sleep, args=(600,)).start()
    except RuntimeError:
        time.sleep(1)
"""
SOCKET_BOMB = """
import os, socket, time
for _ in range(16):
    if os.fork() == 0:
        kept = [socket.socketpair() for _ in range(100)]
        time.sleep(600)
time.sleep(600)
"""
EMPTY_FILES_BOMB = """
import os
number = 0
while True:
    os.close(os.open(f"/tmp/{number}", os.O_CREAT))
    number += 1
"""
TERMINAL_BOMB = """
import os, time
kept = [os.openpty() for _ in range(100)]
time.sleep(600)
"""
LOOP = "while True: pass"
LEFT_LOOPS = """
import os, time
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        while True: pass
time.sleep(600)
"""
SLEEP = "import time; time.sleep(600)"


def run(code: str, folder: Path, server: Path | None, allowed: BoxLimits) -> tuple[str | None, int]:
    """Run code in a box to its end: the limit it exceeded, and how many processes are left."""
    box = Box(python(code, folder), server, allowed)
    with (Path("/proc") / str(box.first) / "ns/pid").open() as inside:
        try:
            box.process.wait(PATIENCE)
            exceeded = box.exceeded
        finally:
            box.end()
        return exceeded, left_in(inside)


def left_in(inside: IO[str]) -> int:
    """Processes that still live there, once the system has had time to clear away the dead.

    As long as the namespace is open its number is not given to another.
    """
    number = os.fstat(inside.fileno()).st_ino
    deadline = time.monotonic() + PATIENCE
    while True:
        left = sum(namespace_of(process) == number for process in psutil.pids())
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.02)


def namespace_of(process: int) -> int | None:
    try:
        return (Path("/proc") / str(process) / "ns/pid").stat().st_ino
    except OSError:
        return None


BOMBS = {
    "memory": (MEMORY_BOMB, FEW, "MemoryExceeded"),
    "spread memory": (SPREAD_MEMORY_BOMB, FEW, "MemoryExceeded"),
    "forks": (FORK_BOMB, FEW, "ProcessesExceeded"),
    "sockets": (SOCKET_BOMB, FEW, "MemoryExceeded"),
    "empty files": (EMPTY_FILES_BOMB, FEW, "MemoryExceeded"),
    "terminals": (TERMINAL_BOMB, FEW, "TerminalsExceeded"),
    "threads": (THREAD_BOMB, FEW, "ProcessesExceeded"),
    "loop": (LOOP, SHORT, "ProcessorTimeExceeded"),
    "left loops": (LEFT_LOOPS, SHORT, "ProcessorTimeExceeded"),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_what_takes_too_much_is_stopped_and_named(bomb: str, server: Path, tmp_path: Path) -> None:
    code, most, exceeded = BOMBS[bomb]
    assert run(code, tmp_path, server, most) == (exceeded, 0)


@pytest.mark.parametrize("bomb", ["spread memory", "left loops"])
def test_so_is_what_was_started_plainly(bomb: str, tmp_path: Path) -> None:
    code, most, exceeded = BOMBS[bomb]
    assert run(code, tmp_path, None, most) == (exceeded, 0)


def test_what_runs_for_too_long_is_stopped_though_it_does_nothing(
    server: Path, tmp_path: Path
) -> None:
    assert run(SLEEP, tmp_path, server, BoxLimits(wall=1)) == ("TimeExceeded", 0)


def test_what_waits_for_a_processor_has_that_much_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = "import time; time.sleep(2)"
    monkeypatch.setattr(limits, "_waited", lambda process: PATIENCE)
    assert run(short, tmp_path, None, BoxLimits(wall=1)) == (None, 0)
    monkeypatch.setattr(limits, "_waited", lambda process: 0.0)
    assert run(short, tmp_path, None, BoxLimits(wall=1)) == ("TimeExceeded", 0)


def test_it_is_known_how_long_a_process_waited() -> None:
    one = min(os.sched_getaffinity(0))
    busy = [
        subprocess.Popen(["taskset", "-c", str(one), sys.executable, "-c", LOOP]) for _ in range(2)
    ]
    try:
        # Where two never end on one processor, each waits for the other, sooner or later.
        while min(limits._waited(process.pid) for process in busy) < 0.1:
            assert [process.poll() for process in busy] == [None, None]
            time.sleep(0.05)
    finally:
        for process in busy:
            process.kill()
            process.wait()


def test_what_stays_within_its_limits_is_left_alone(chosen: Path | None, tmp_path: Path) -> None:
    code = (
        "import os\n"
        "for _ in range(20):\n"
        "    if os.fork() == 0: os._exit(0)\n"
        "    os.wait()\n"
        f"open({str(tmp_path / 'said')!r}, 'w').write(str(len(bytearray(100_000_000))))"
    )
    assert run(code, tmp_path, chosen, FEW) == (None, 0)
    assert (tmp_path / "said").read_text() == "100000000"


def test_nothing_can_be_made_that_no_process_owns_or_that_counts_for_a_whole_user(
    chosen: Path | None, tmp_path: Path
) -> None:
    calls = namespaces.FORBIDDEN[os.uname().machine]
    code = (
        "import ctypes\n"
        "libc, said = ctypes.CDLL(None, use_errno=True), []\n"
        f"for number in {[*calls.values()]}:\n"
        "    said.append((libc.syscall(number, 0, 0, 0, 0, 0), ctypes.get_errno()))\n"
        f"open({str(tmp_path / 'said')!r}, 'w').write(repr(said))"
    )
    box = Box(python(code, tmp_path), chosen, FEW)
    try:
        box.process.wait(PATIENCE)
    finally:
        box.end()
    assert (tmp_path / "said").read_text() == repr([(-1, errno.ENOSYS)] * len(calls))


FILL = """
import json
found, said = [], {}
for folder in folders:
    written = 0
    try:
        for number in range(1000):
            with open(f"{folder}/{number}", "wb", buffering=0) as file:
                written += file.write(b"0" * 16 * 1024**2)
    except OSError as error:
        said[folder] = (error.strerror, written)
for line in open("/proc/self/mounts"):
    _, folder, kind, options, *_ = line.split()
    if options.split(",")[0] == "rw" and kind not in ("proc", "devpts", "devtmpfs"):
        found.append(folder)
"""


def test_what_can_be_written_has_an_end_and_nothing_else_can_be(
    chosen: Path | None, tmp_path: Path
) -> None:
    most = {
        "/tmp": bubblewrap.TMP_BYTES,
        "/dev/shm": bubblewrap.SHARED_BYTES,
        "/run/kernel": bubblewrap.SOCKETS_BYTES,
    }
    noted = f"open({str(tmp_path / 'said')!r}, 'w').write(json.dumps([sorted(found), said]))"
    code = f"folders = {list(most)}\n{FILL}\n{noted}"
    assert run(code, tmp_path, chosen, BoxLimits()) == (None, 0)
    found, said = json.loads((tmp_path / "said").read_text())
    assert found == sorted([*most, str(tmp_path)])
    for folder, (why, written) in said.items():
        assert why == "No space left on device"
        assert most[folder] - 16 * 1024**2 <= written <= most[folder]
    assert said.keys() == most.keys()


def test_looking_counts_shared_pages_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Children that only share what their parent has take no more."""
    for of_the_machine in ("_files", "_sockets"):  # and not of a box
        monkeypatch.setattr(limits, of_the_machine, lambda process: 0)
    code = (
        "import os, time\nkept = bytearray(b'x') * 100_000_000\n"
        "for _ in range(4):\n    if os.fork() == 0: break\n"
        "print('ready', flush=True)\ntime.sleep(600)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        for _ in range(5):
            process.stdout.readline()
        many = [too_many([process.pid], BoxLimits(processes=most)) for most in (4, 5)]
        # counted for each it is five times as much as there is
        heavy = [too_heavy([process.pid], BoxLimits(memory=most * 10**8)) for most in (1, 2)]
    finally:
        for child in psutil.Process(process.pid).children():
            child.kill()
        process.kill()
        process.communicate()
    assert many == ["ProcessesExceeded", None]
    assert heavy == ["MemoryExceeded", None]


def test_a_box_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    """Killed at once, with no time to clear away: nothing of the box lives on."""
    code = (
        "import sys, time\nfrom pathlib import Path\n"
        "from course_lib.grading.sandbox import boxes, bubblewrap\n"
        f"command = bubblewrap.kernel_command(Path({str(tmp_path)!r}), {{}})\n"
        "python = command[: command.index(sys.executable) + 1]\n"
        f"box = boxes.start([*python, '-c', {SLEEP!r}])\n"
        "print(box.first, flush=True)\ntime.sleep(600)"
    )
    grader = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert grader.stdout is not None
    first = int(grader.stdout.readline())
    children = psutil.Process(grader.pid).children()
    [fork_server] = [one.pid for one in children if "forkserver" in " ".join(one.cmdline())]
    with (Path("/proc") / str(first) / "ns/pid").open() as inside:
        grader.kill()
        grader.communicate()
        assert left_in(inside) == 0
    deadline = time.monotonic() + PATIENCE
    while psutil.pid_exists(fork_server) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not psutil.pid_exists(fork_server)
