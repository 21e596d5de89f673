"""The walls around student code, tried from inside. Needs bubblewrap, as grading does."""

from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from course_lib.errors import CourseError
from course_lib.grading.sandbox import boxes, bubblewrap, forkserver
from course_lib.grading.sandbox.boxes import Box
from tests.conftest import PATIENCE, ROOT
from tests.grading.sandbox.conftest import python

Inside = Callable[..., str]
LEFT_BEHIND = "86397.75"  # seconds that nobody else would sleep


def running() -> str:
    """The command lines of all processes."""
    processes = psutil.process_iter(["cmdline"])
    return "\n".join(" ".join(process.info["cmdline"] or []) for process in processes)


def run(command: list[str], server: Path | None) -> None:
    """Run what a box holds to its end."""
    box = Box(command, server)
    box.process.wait(PATIENCE)
    box.end()


@pytest.fixture
def sockets(tmp_path: Path) -> Path:
    folder = tmp_path / "s"
    folder.mkdir()
    return folder


@pytest.fixture
def inside(chosen: Path | None, sockets: Path) -> Inside:
    """What code prints (or its error) where a submission's kernel would run, started either way."""

    def told(code: str, **data_files: Path) -> str:
        # the kernel's own output goes nowhere: let the trial report through the folder it shares
        script = (
            "import traceback\nresult = 'no error'\ntry:\n"
            + "".join(f"    {line}\n" for line in code.splitlines())
            + "except BaseException as error:\n    result = type(error).__name__\n"
            + f"open({str(sockets / 'said')!r}, 'w').write(str(result))\n"
        )
        files = {name + ".txt": path for name, path in data_files.items()}
        run(python(script, sockets, files), chosen)
        return (sockets / "said").read_text()

    return told


def test_it_works_here() -> None:
    bubblewrap.require()


def test_the_library_and_torch_can_be_imported(inside: Inside) -> None:
    code = "import torch\nfrom course_lib.assignments import checks\nresult = checks.TOLERANCE"
    assert inside(code) == "0.002"


def test_the_rest_of_the_course_is_not_there(inside: Inside) -> None:
    names = ("solutions", "tests", "exercises", "nbgrader_config.py", ".git")
    paths = [str(ROOT / name) for name in names]
    assert (ROOT / "solutions").exists()
    assert inside(f"import os\nresult = [one for one in {paths} if os.path.exists(one)]") == "[]"


def test_neither_are_other_files_of_the_machine(inside: Inside, tmp_path: Path) -> None:
    (tmp_path / "gradebook.db").write_text("marks")
    for path in (tmp_path / "gradebook.db", Path("/etc/passwd"), Path.home() / ".bashrc"):
        assert inside(f"open({str(path)!r})") == "FileNotFoundError"


def test_the_machines_settings_cannot_be_changed(inside: Inside) -> None:
    """Nor by root, whose number alone would be enough: nothing of /proc that is no process's."""
    code = (
        "import os\n"
        "result = []\n"
        "for folder, folders, files in os.walk('/proc'):\n"
        "    folders[:] = [one for one in folders if not one.isdecimal()]\n"
        "    for path in [os.path.join(folder, one) for one in files]:\n"
        "        try:\n"
        "            os.close(os.open(path, os.O_WRONLY | os.O_NOFOLLOW))\n"
        "            result.append(path)\n"
        "        except OSError:\n"
        "            pass"
    )
    assert Path("/proc/sys/fs/file-max").exists()
    assert inside(code) == "[]"


def test_there_is_no_network(inside: Inside) -> None:
    code = (
        "import socket\nresult = sorted(name for _, name in socket.if_nameindex() if name != 'lo')"
    )
    assert inside(code) == "[]"
    assert inside("import socket\nsocket.create_connection(('192.0.2.1', 80), 2)") in {
        "OSError",
        "TimeoutError",
    }


CHECKS = ROOT / "course_lib" / "assignments" / "checks.py"
INSIDE = {
    "secrets in the environment stay outside": "result = 'GRADER_TOKEN' not in os.environ",
    "the library and the system are read-only": "result = True\n"
    f"for path in ({str(CHECKS)!r}, '/usr/x', '/x'):\n"
    "    try: open(path, 'a')\n    except OSError: pass\n    else: result = False",
    # input, output, errors, and the listing itself
    "no file of the grader is open": "result = len(os.listdir('/proc/self/fd')) <= 4",
    "the programs that run cannot be changed": "result = True\nfor program in ('self', 1, 2):\n"
    "    try: open(f'/proc/{program}/exe', 'r+b')\n    except OSError: pass\n"
    "    else: result = False",
    "nobody becomes root of a namespace": "import ctypes\n"
    "result = ctypes.CDLL(None).unshare(0x10000000) == -1",
    # bubblewrap's own, what holds the walls for a forked one, and Python
    "no other process can be seen": "result = 3 >= sum(map(str.isdigit, os.listdir('/proc')))",
    "there are no capabilities to be had": "lines = open('/proc/self/status').readlines()\n"
    "found = {line.split()[1] for line in lines if line.startswith('Cap')}\n"
    "result = found == {'0' * 16}",
}


@pytest.mark.parametrize("what", INSIDE)
def test_walls_are_closed(what: str, inside: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADER_TOKEN", "s3cret")
    assert inside(f"import os\n{INSIDE[what]}") == "True"


def test_memory_and_files_are_limited(inside: Inside) -> None:
    assert inside(f"x = bytearray({bubblewrap.MEMORY_KIB} * 1024)") == "MemoryError"
    code = (
        "import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"with open('big', 'wb') as file: file.write(b'0' * ({bubblewrap.FILE_KIB} * 1024 + 1))"
    )
    assert inside(code) == "OSError"


def test_the_submissions_own_files_are_there_to_read(inside: Inside, tmp_path: Path) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_text("data")
    assert inside("result = open('mine.txt').read()", mine=mine) == "data"
    assert inside("open('mine.txt', 'w')", mine=mine) == "OSError"


def test_without_bubblewrap_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(CourseError, match=r"apt install bubblewrap.*--sandbox none"):
        bubblewrap.require()


def test_bubblewrap_that_may_not_make_namespaces_is_no_sandbox(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(CourseError, match=r"No permissions to create new namespace.*namespaces"):
        bubblewrap.require()


def test_a_copy_has_nothing_of_the_instructors_in_memory(
    sockets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADER_TOKEN", "t0ken-ends-in-0451")
    # the second half is only ever there backwards, or the search would find itself
    code = f"""
import re
found = 0
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb") as memory:
    for line in maps:
        low, high = (int(part, 16) for part in line.split()[0].split("-"))
        if not line.split()[1].startswith("rw"):
            continue
        memory.seek(low)
        part = memory.read(high - low)
        for match in re.finditer(b"t0ken-ends-", part):
            found += part[match.end() : match.end() + 7][::-1] == b"1540-ni"
with open({str(sockets / "said")!r}, "w") as said:
    said.write(str(found))
"""
    with forkserver.shared(bubblewrap.environment(), tmp_path / "server"):
        run(python(code, sockets), tmp_path / "server")
    assert (sockets / "said").read_text() == "0"


def test_copies_draw_random_numbers_of_their_own(sockets: Path, server: Path) -> None:
    code = (
        "import random, numpy, torch, uuid\n"
        f"with open({str(sockets / 'drawn')!r}, 'a') as file:\n"
        "    print(random.random(), numpy.random.rand(), uuid.uuid4(), file=file)\n"
        "    print(float(torch.rand(1)), file=file)\n"
    )
    for _ in range(2):
        run(python(code, sockets), server)
    drawn = (sockets / "drawn").read_text().split()
    assert len(set(drawn)) == len(drawn) == 8


def test_what_is_left_behind_ends_with_the_kernel(chosen: Path | None, sockets: Path) -> None:
    code = (
        "import os, subprocess, time\n"
        f"sleeper = subprocess.Popen(['sleep', '{LEFT_BEHIND}'], start_new_session=True)\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        f"        os.execvp('sleep', ['sleep', '{LEFT_BEHIND}'])\n"
        "    os._exit(0)\n"
        "time.sleep(0.3)"
    )
    run(python(code, sockets), chosen)
    assert LEFT_BEHIND not in running()


def refuse(*_: object) -> int:
    raise OSError("this system does not let a process join namespaces")


def test_without_a_fork_server_kernels_are_started_plainly(
    sockets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("_server", None), ("_cannot_fork", False)):
        monkeypatch.setattr(boxes, name, value)
    monkeypatch.setattr(forkserver, "start_inside", refuse)
    code = f"open({str(sockets / 'said')!r}, 'w').write('here')"
    box = boxes.start(python(code, sockets))
    box.process.wait(PATIENCE)
    box.end()
    assert (sockets / "said").read_text() == "here"
    assert boxes.fork_server() is None


def test_a_box_that_cannot_be_started_leaves_nothing_open(sockets: Path) -> None:
    before = psutil.Process().num_fds()
    with pytest.raises(FileNotFoundError):
        Box([str(sockets / "not-installed"), *python("", sockets)[1:]], None)
    assert psutil.Process().num_fds() == before


def test_a_server_can_be_asked_until_its_owner_ends_it(sockets: Path, tmp_path: Path) -> None:
    command = python(f"open({str(sockets / 'said')!r}, 'a').write('here ')", sockets)
    with forkserver.shared(bubblewrap.environment(), tmp_path / "server"):
        for _ in range(2):
            run(command, tmp_path / "server")
    assert (sockets / "said").read_text() == "here " * 2
    with pytest.raises(OSError, match="refused"):
        Box(command, tmp_path / "server")
