"""A cell for student code: the kernel of one submission inside bubblewrap.

The kernel is boxed in, and not the grader: inside there is no network, no database, no solution and
no other submission, only the system, the Python environment and this library, all read-only. It
talks to the grader through sockets in one folder made for it (`transport="ipc"`). What it may write
lies in memory, is limited in size, and is gone with it.

How such a kernel is started and ended is the business of `boxes`.
"""

import functools
import shutil
import subprocess
import sys
from pathlib import Path

import course_lib
from course_lib.errors import CourseError

LIMITER = "bash"
"""The program inside the walls that sets the limits and starts Python."""
WORK = "/tmp/work"
"""Where the submission's data files lie, as its kernel sees it."""

# Per process; plenty for the assignments, and far from what would trouble the machine.
MEMORY_KIB = 6 * 1024**2
FILE_KIB = 64 * 1024
CPU_SECONDS = 300
TMP_BYTES = 256 * 1024**2
SHARED_BYTES = 64 * 1024**2
"""/dev/shm: what processes of one submission may share."""

HOW_TO_INSTALL = (
    "Install bubblewrap (`apt install bubblewrap`, `dnf install bubblewrap`), or give"
    " `--sandbox none` if you trust every notebook."
)


def reader(program: list[str], readable: list[Path], variables: dict[str, str]) -> list[str]:
    """The command of a program of our own that looks at what a student handed in.

    Args:
        program: what runs inside, with the limits of a kernel.
        readable: folders that it sees beside the system, Python and the library, read-only.
        variables: of its environment, beside those of a kernel.
    """
    set_limits = f'ulimit -v {MEMORY_KIB} -f {FILE_KIB} -t {CPU_SECONDS} -c 0; exec "$@"'
    return [
        *_walls(),
        *(part for path in readable for part in ("--ro-bind", str(path), str(path))),
        *(part for name, value in variables.items() for part in ("--setenv", name, value)),
        *("--remount-ro", "/", "--chdir", "/"),
        *("bash", "-c", set_limits, "bash"),
        *program,
    ]


def require() -> None:
    """Make sure the sandbox works on this machine.

    Raises:
        CourseError: bubblewrap is missing, or the system does not let it make namespaces.
    """
    if shutil.which("bwrap") is None:
        raise CourseError(f"No sandbox: bubblewrap (bwrap) is not installed. {HOW_TO_INSTALL}")
    trial = subprocess.run([*_walls(), "true"], capture_output=True, text=True, check=False)
    if trial.returncode != 0:
        reason = (trial.stderr.strip().splitlines() or ["it gives no reason"])[-1]
        raise CourseError(
            f"No sandbox: bubblewrap does not work here ({reason}). In a container, allow user"
            " namespaces (Docker: --security-opt seccomp=unconfined; Podman: --security-opt"
            " unmask=ALL), or give `--sandbox none` if you trust every notebook."
        )


def command(sockets: Path, data_files: dict[str, Path]) -> list[str]:
    """The command of the boxed kernel; `{connection_file}` is jupyter_client's to fill in."""
    python = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    files = [
        part
        for name, path in sorted(data_files.items())
        for part in ("--ro-bind", str(path), f"{WORK}/{name}")
    ]
    # the same as in `limits`, and as there: should memory run out, this goes first
    set_limits = (
        f"ulimit -v {MEMORY_KIB} -f {FILE_KIB} -t {CPU_SECONDS} -c 0;"
        ' echo 1000 > /proc/self/oom_score_adj; exec "$@" >/dev/null 2>&1'
    )
    return [
        *_walls(),
        *("--bind", str(sockets), str(sockets)),
        *("--dir", WORK, *files, "--chdir", WORK),
        *("--remount-ro", "/"),
        # bash, since a POSIX `ulimit` sets one limit a call; what the kernel itself has to say
        # (how to connect another client) is nobody's business here
        *(LIMITER, "-c", set_limits, LIMITER),
        *python,
        "--HistoryManager.enabled=False",
        # a torch.py beside the notebook must not stand in for torch
        "--InteractiveShellApp.ignore_cwd=True",
    ]


def limits() -> dict[str, int]:
    """The limits of each process, by the names of Python's `resource`."""
    return {
        "RLIMIT_AS": MEMORY_KIB * 1024,
        "RLIMIT_FSIZE": FILE_KIB * 1024,
        "RLIMIT_CPU": CPU_SECONDS,
        "RLIMIT_CORE": 0,
    }


def _walls() -> list[str]:
    """bubblewrap, everything unshared, with the system, Python and this library to read."""
    binds: list[str] = []
    for folder in ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"):
        path = Path(folder)
        if path.is_symlink():
            binds += ["--symlink", str(path.readlink()), folder]
        elif path.exists():
            binds += ["--ro-bind", folder, folder]
    for name in ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime"):
        binds += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    library = Path(course_lib.__file__).resolve().parent
    python = [Path(sys.prefix), Path(sys.base_prefix)]
    outside = {path for path in python if not path.is_relative_to("/usr")}
    for path in [*sorted(outside), library]:
        binds += ["--ro-bind", str(path), str(path)]
    return [
        *("bwrap", "--unshare-all", "--die-with-parent", "--new-session"),
        # nobody inside becomes root of a namespace of their own
        *(("--unshare-user", "--disable-userns") if _can_forbid_namespaces() else ()),
        *("--cap-drop", "ALL", "--clearenv"),
        *(part for name, value in environment().items() for part in ("--setenv", name, value)),
        *("--proc", "/proc", "--dev", "/dev"),
        # before the binds: the library or the environment may lie below /tmp themselves
        *("--size", str(TMP_BYTES), "--tmpfs", "/tmp"),
        *("--size", str(SHARED_BYTES), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"),
        *binds,
    ]


def environment() -> dict[str, str]:
    """All variables that a kernel sees."""
    library = Path(course_lib.__file__).resolve().parent
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        "PYTHONPATH": str(library.parent),
        # a runpy.py beside the notebook would otherwise be the first thing to run
        "PYTHONSAFEPATH": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "HOME": WORK,
        "USER": "student",
        "LANG": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        "NBGRADER_EXECUTION": "autograde",
    }


@functools.cache
def _can_forbid_namespaces() -> bool:
    """Whether bubblewrap (0.8 or later) can keep its inmates from making namespaces here."""
    trial = ["bwrap", "--unshare-user", "--disable-userns", "--ro-bind", "/", "/", "true"]
    return subprocess.run(trial, capture_output=True, check=False).returncode == 0
