"""The walls around student code, tried from inside. Needs bubblewrap, as grading does."""

import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from course_lib.errors import CourseError
from course_lib.grading.sandbox import boxes, forkserver, walls
from course_lib.grading.sandbox.boxes import Box
from course_lib.grading.sandbox.limits import DEFAULT, Group
from tests.conftest import PATIENCE, ROOT

Inside = Callable[..., str]
LEFT_BEHIND = "86397.75"  # seconds that nobody else would sleep


def running() -> str:
    """The command lines of all processes."""
    processes = psutil.process_iter(["cmdline"])
    return "\n".join(" ".join(process.info["cmdline"] or []) for process in processes)


def command_of(told: Path, files: dict[str, Path]) -> list[str]:
    """A kernel's command, in a box that has a folder more, where a test is told something."""
    command = walls.command(ROOT / "pyproject.toml", files)
    place = command.index("--chdir")
    return [*command[:place], "--bind", str(told), str(told), *command[place:]]


@pytest.fixture
def sockets(tmp_path: Path) -> Path:
    folder = tmp_path / "s"
    folder.mkdir()
    return folder


@pytest.fixture(params=["plain", "forked"])
def inside(request: pytest.FixtureRequest, sockets: Path, server: Path) -> Inside:
    """What code prints (or its error) where a submission's kernel would run, started either way."""
    chosen = server if request.param == "forked" else None

    def run(code: str, **data_files: Path) -> str:
        files = {name + ".txt": path for name, path in data_files.items()}
        command = command_of(sockets, files)
        python = command[: command.index(sys.executable) + 1]
        # the kernel's own output goes nowhere: let the trial report through the folder it shares
        script = (
            "import traceback\nresult = 'no error'\ntry:\n"
            + "".join(f"    {line}\n" for line in code.splitlines())
            + "except BaseException as error:\n    result = type(error).__name__\n"
            + f"open({str(sockets / 'said')!r}, 'w').write(str(result))\n"
        )
        box = Box([*python, "-c", script], chosen)
        box.process.wait(PATIENCE)
        box.end()
        return (sockets / "said").read_text()

    return run


def test_it_works_here() -> None:
    walls.require()


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


def test_there_is_no_network(inside: Inside) -> None:
    code = (
        "import socket\nresult = sorted(name for _, name in socket.if_nameindex() if name != 'lo')"
    )
    assert inside(code) == "[]"
    assert inside("import socket\nsocket.create_connection(('192.0.2.1', 80), 2)") in {
        "OSError",
        "TimeoutError",
    }


def test_secrets_in_the_environment_stay_outside(
    inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADER_TOKEN", "s3cret")
    assert "GRADER_TOKEN" not in inside("import os\nresult = sorted(os.environ)")


def test_the_library_and_the_system_are_read_only(inside: Inside) -> None:
    checks = ROOT / "course_lib" / "assignments" / "checks.py"
    for path in (str(checks), "/usr/x", "/x"):
        assert inside(f"open({path!r}, 'a')") == "OSError"


def test_no_file_of_the_grader_is_open(inside: Inside) -> None:
    # input, output, errors, and the listing itself
    assert int(inside("import os\nresult = len(os.listdir('/proc/self/fd'))")) <= 4


def test_the_programs_that_run_inside_cannot_be_changed(inside: Inside) -> None:
    code = (
        "result = ''\nfor program in ('self', 1, 2):\n"
        "    try:\n        open(f'/proc/{program}/exe', 'r+b')\n        result += ' opened'\n"
        "    except Exception as error:\n        result += ' ' + type(error).__name__"
    )
    assert set(inside(code).split()) <= {"OSError", "PermissionError"}


def test_nobody_becomes_root_of_a_namespace_of_their_own(inside: Inside) -> None:
    code = "import ctypes\nresult = ctypes.CDLL(None).unshare(0x10000000)"
    assert inside(code) == "-1"


def test_no_other_process_can_be_seen_or_reached(inside: Inside) -> None:
    code = "import os\nresult = len([name for name in os.listdir('/proc') if name.isdigit()])"
    # bubblewrap's own, what holds the walls for a forked one, and Python
    assert int(inside(code)) <= 3


def test_there_are_no_capabilities_to_be_had(inside: Inside) -> None:
    code = (
        "result = {line.split()[1] for line in open('/proc/self/status') if line.startswith('Cap')}"
    )
    assert inside(code) == str({"0" * 16})


def test_memory_and_files_are_limited(inside: Inside) -> None:
    assert inside(f"x = bytearray({walls.MEMORY_KIB} * 1024)") == "MemoryError"
    code = (
        "import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"with open('big', 'wb') as file: file.write(b'0' * ({walls.FILE_KIB} * 1024 + 1))"
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
        walls.require()


def test_bubblewrap_that_may_not_make_namespaces_is_no_sandbox(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(CourseError, match=r"No permissions to create new namespace.*namespaces"):
        walls.require()


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
    command = command_of(sockets, {})
    with forkserver.shared(walls.environment(), tmp_path / "server"):
        program = [*command[: command.index(sys.executable) + 1], "-c", code]
        box = Box(program, tmp_path / "server")
        box.process.wait(PATIENCE)
        box.end()
    assert (sockets / "said").read_text() == "0"


def test_copies_draw_random_numbers_of_their_own(sockets: Path, server: Path) -> None:
    code = (
        "import random, numpy, torch, uuid\n"
        f"with open({str(sockets / 'drawn')!r}, 'a') as file:\n"
        "    print(random.random(), numpy.random.rand(), uuid.uuid4(), file=file)\n"
        "    print(float(torch.rand(1)), file=file)\n"
    )
    command = command_of(sockets, {})
    for _ in range(2):
        box = Box([*command[: command.index(sys.executable) + 1], "-c", code], server)
        box.process.wait(PATIENCE)
        box.end()
    drawn = (sockets / "drawn").read_text().split()
    assert len(set(drawn)) == len(drawn) == 8


@pytest.mark.parametrize("way", ["plain", "forked"])
def test_what_is_left_behind_ends_with_the_kernel(way: str, sockets: Path, server: Path) -> None:
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
    command = command_of(sockets, {})
    chosen = server if way == "forked" else None
    box = Box([*command[: command.index(sys.executable) + 1], "-c", code], chosen)
    box.process.wait(PATIENCE)
    box.end()
    assert LEFT_BEHIND not in running()


def refuse(*_: object) -> int:
    raise OSError("this system does not let a process join namespaces")


def test_without_a_fork_server_kernels_are_started_plainly(
    sockets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("_place", None), ("_own", None), ("_cannot_fork", False)):
        monkeypatch.setattr(boxes, name, value)
    monkeypatch.setattr(forkserver, "start_inside", refuse)
    command = command_of(sockets, {})
    code = f"open({str(sockets / 'said')!r}, 'w').write('here')"
    box = boxes.start([*command[: command.index(sys.executable) + 1], "-c", code])
    box.process.wait(PATIENCE)
    box.end()
    assert (sockets / "said").read_text() == "here"
    assert boxes.fork_server() is None


def test_a_box_that_cannot_be_started_leaves_nothing_open(
    sockets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = command_of(sockets, {})
    removed: list[Group] = []
    remove = Group.remove
    monkeypatch.setattr(Group, "remove", lambda group: (removed.append(group), remove(group)))
    made = Group.create(DEFAULT)
    if made is not None:
        remove(made)
    before = psutil.Process().num_fds()
    with pytest.raises(FileNotFoundError):
        Box([str(sockets / "not-installed"), *command[1:]], None)
    assert psutil.Process().num_fds() == before
    assert len(removed) == (made is not None)


def test_a_server_can_be_asked_until_its_owner_ends_it(sockets: Path, tmp_path: Path) -> None:
    command = command_of(sockets, {})
    code = f"open({str(sockets / 'said')!r}, 'a').write('here ')"
    command = [*command[: command.index(sys.executable) + 1], "-c", code]
    with forkserver.shared(walls.environment(), tmp_path / "server"):
        for _ in range(2):
            box = Box(command, tmp_path / "server")
            box.process.wait(PATIENCE)
            box.end()
    assert (sockets / "said").read_text() == "here " * 2
    with pytest.raises(OSError, match="refused"):
        Box(command, tmp_path / "server")
