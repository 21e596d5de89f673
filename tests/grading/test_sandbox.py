"""The walls around student code, tried from inside. Needs bubblewrap, as grading does."""

import subprocess
import sys
from pathlib import Path

import pytest

from course_lib.errors import CourseError
from course_lib.grading import sandbox
from course_lib.grading.project import project_root

ROOT = project_root(Path(__file__).parent)


@pytest.fixture
def sockets(tmp_path: Path) -> Path:
    folder = tmp_path / "s"
    folder.mkdir()
    return folder


def inside(code: str, sockets: Path, **data_files: Path) -> str:
    """What `code` prints (or the last line of its error) where a submission's kernel would run."""
    command = sandbox.command(sockets, {name + ".txt": path for name, path in data_files.items()})
    python = command[: command.index(sys.executable) + 1]
    # the kernel's own output goes nowhere: let the trial report through the folder it shares
    script = (
        "import traceback\nresult = 'no error'\ntry:\n"
        + "".join(f"    {line}\n" for line in code.splitlines())
        + "except BaseException as error:\n    result = type(error).__name__\n"
        + f"open({str(sockets / 'said')!r}, 'w').write(str(result))\n"
    )
    subprocess.run([*python, "-c", script], check=True, timeout=60)
    return (sockets / "said").read_text()


def test_it_works_here() -> None:
    sandbox.require()


def test_the_library_and_torch_can_be_imported(sockets: Path) -> None:
    code = "import torch\nfrom course_lib.grading import checks\nresult = checks.TOLERANCE"
    assert inside(code, sockets) == "0.002"


@pytest.mark.parametrize("name", ["solutions", "tests", "exercises", "nbgrader_config.py", ".git"])
def test_the_rest_of_the_course_is_not_there(name: str, sockets: Path) -> None:
    assert (ROOT / "solutions").exists()
    code = f"import os\nresult = os.path.exists({str(ROOT / name)!r})"
    assert inside(code, sockets) == "False"


def test_neither_are_other_files_of_the_machine(sockets: Path, tmp_path: Path) -> None:
    (tmp_path / "gradebook.db").write_text("marks")
    for path in (tmp_path / "gradebook.db", Path("/etc/passwd"), Path.home() / ".bashrc"):
        assert inside(f"open({str(path)!r})", sockets) == "FileNotFoundError"


def test_there_is_no_network(sockets: Path) -> None:
    code = (
        "import socket\nresult = sorted(name for _, name in socket.if_nameindex() if name != 'lo')"
    )
    assert inside(code, sockets) == "[]"
    assert inside("import socket\nsocket.create_connection(('192.0.2.1', 80), 2)", sockets) in {
        "OSError",
        "TimeoutError",
    }


def test_secrets_in_the_environment_stay_outside(
    sockets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADER_TOKEN", "s3cret")
    assert "GRADER_TOKEN" not in inside("import os\nresult = sorted(os.environ)", sockets)


def test_the_library_and_the_system_are_read_only(sockets: Path) -> None:
    checks = ROOT / "course_lib" / "grading" / "checks.py"
    for path in (str(checks), "/usr/x", "/x"):
        assert inside(f"open({path!r}, 'a')", sockets) == "OSError"


def test_no_other_process_can_be_seen_or_reached(sockets: Path) -> None:
    code = "import os\nresult = len([name for name in os.listdir('/proc') if name.isdigit()])"
    # bubblewrap's own and Python
    assert int(inside(code, sockets)) <= 2


def test_there_are_no_capabilities_to_be_had(sockets: Path) -> None:
    code = (
        "result = {line.split()[1] for line in open('/proc/self/status') if line.startswith('Cap')}"
    )
    assert inside(code, sockets) == str({"0" * 16})


def test_memory_and_files_are_limited(sockets: Path) -> None:
    assert inside(f"x = bytearray({sandbox.MEMORY_KIB} * 1024)", sockets) == "MemoryError"
    code = (
        "import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"with open('big', 'wb') as file: file.write(b'0' * ({sandbox.FILE_KIB} * 1024 + 1))"
    )
    assert inside(code, sockets) == "OSError"


def test_the_submissions_own_files_are_there_to_read(sockets: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_text("data")
    assert inside("result = open('mine.txt').read()", sockets, mine=mine) == "data"
    assert inside("open('mine.txt', 'w')", sockets, mine=mine) == "OSError"


def test_without_bubblewrap_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(CourseError, match=r"apt install bubblewrap.*--sandbox none"):
        sandbox.require()


def test_bubblewrap_that_may_not_make_namespaces_is_no_sandbox(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(CourseError, match=r"No permissions to create new namespace.*namespaces"):
        sandbox.require()
