"""A cell for student code: the kernel of one submission inside bubblewrap.

The kernel is boxed in, and not the grader: inside there is no network, no database, no solution and
no other submission, only the system, the Python environment and this library, all read-only. It
talks to the grader through sockets in a folder of its own (`transport="ipc"`), which the grader
sees below /proc. What it may write lies in memory, is limited in size, and is gone with it.

How such a kernel is started and ended is the business of `boxes`.
"""

import functools
import shutil
import subprocess
import sys
from pathlib import Path

import course_lib
from course_lib.assignments import opened
from course_lib.errors import CourseError

PROVISIONER = "course-box"
"""The name under which jupyter_client finds what starts a boxed kernel (see `boxes`)."""
LIMITER = "bash"
"""The program inside the walls that sets the limits and starts Python."""
PYTHON = (sys.executable, "-m")
WORK = "/tmp/work"
"""Where the submission's data files lie, as its kernel sees it."""

# Per process; plenty for the assignments, and far from what would trouble the machine.
MEMORY_KIB = 6 * 1024**2
FILE_KIB = 64 * 1024
CPU_SECONDS = 300
TMP_BYTES = 256 * 1024**2
MOST_OPEN = 256
"""Files that a process may have open; Linux counts those on their way through sockets for a whole
user, so that more could keep the grader from passing any."""
SOCKETS = "/run/kernel/k"
"""How the names of the kernel's sockets begin, as the kernel sees them."""
CONNECTION = "/run/connection.json"
SOCKETS_BYTES = 1024**2
SHARED_BYTES = 64 * 1024**2
"""/dev/shm: what processes of one submission may share."""

HOW_TO_INSTALL = (
    "Install bubblewrap (`apt install bubblewrap`, `dnf install bubblewrap`), or give"
    " `--sandbox none` if you trust every notebook."
)


def reader(
    program: list[str],
    readable: list[Path],
    variables: dict[str, str],
    library: tuple[str, ...] | None = None,
) -> list[str]:
    """The command of a program of our own that looks at what a student handed in.

    Args:
        program: what runs inside, with the limits of a kernel.
        readable: folders that it sees beside the system, Python and the library, read-only.
        variables: of its environment, beside those of a kernel.
        library: the parts of the library that are to be there; all of it if None.
    """
    seen = [part for path in readable for part in ("--ro-bind", str(path), str(path))]
    seen += [part for name, value in variables.items() for part in ("--setenv", name, value)]
    return _inside(library, seen, "/", program)


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


def kernel_command(
    connection: Path,
    data_files: dict[str, Path],
    judge: Path | None = None,
    library: tuple[str, ...] = opened.ALWAYS,
) -> list[str]:
    """The command of the boxed kernel.

    Args:
        connection: the file that tells it how it is to be reached: at SOCKETS.
        data_files: the submission's files besides the notebook: relative name -> path.
        judge: the socket where the judge listens; None if there is none.
        library: the parts of the library that are to be there.
    """
    python = ["ipykernel_launcher", "-f", CONNECTION, "--HistoryManager.enabled=False"]
    # a torch.py beside the notebook must not stand in for torch
    python += ["--InteractiveShellApp.ignore_cwd=True"]
    seen = ["--size", str(SOCKETS_BYTES), "--tmpfs", str(Path(SOCKETS).parent)]
    seen += ["--ro-bind", str(connection), CONNECTION]
    if judge is not None:
        seen += ["--ro-bind", str(judge), str(judge)]
    return _inside(library, [*seen, *_files(data_files)], WORK, [*PYTHON, *python])


def judge_command(place: Path, data_files: dict[str, Path]) -> list[str]:
    """The command of the process that judges, as in a kernel's box, with all of the library.

    Args:
        place: the socket where the grader listens.
        data_files: the submission's files besides the notebook: relative name -> path.
    """
    seen = ["--ro-bind", str(place), str(place)]
    program = [*PYTHON, "course_lib.grading.running.judge_process", str(place)]
    return _inside(None, [*seen, *_files(data_files)], WORK, program)


def _files(data_files: dict[str, Path]) -> list[str]:
    """What shows a submission's files at WORK, read-only."""
    shown = [
        ("--ro-bind", str(path), f"{WORK}/{name}") for name, path in sorted(data_files.items())
    ]
    return ["--dir", WORK, *(part for one in shown for part in one)]


def _inside(
    library: tuple[str, ...] | None, seen: list[str], folder: str, program: list[str]
) -> list[str]:
    """The command of a program that begins in a folder behind the walls, and sees more there."""
    # the same as in `resource_limits`; should memory run out, this goes first
    set_limits = (
        f"ulimit -v {MEMORY_KIB} -f {FILE_KIB} -t {CPU_SECONDS} -n {MOST_OPEN} -c 0;"
        ' echo 1000 > /proc/self/oom_score_adj; exec "$@"'
    )
    # bash, since a POSIX `ulimit` sets one limit a call
    limited = [LIMITER, "-c", set_limits, LIMITER, *program]
    return [*_walls(library), *seen, "--chdir", folder, "--remount-ro", "/", *limited]


def resource_limits() -> dict[str, int]:
    """The limits of each process, by the names of Python's `resource`."""
    return {
        "RLIMIT_AS": MEMORY_KIB * 1024,
        "RLIMIT_FSIZE": FILE_KIB * 1024,
        "RLIMIT_CPU": CPU_SECONDS,
        "RLIMIT_NOFILE": MOST_OPEN,
        "RLIMIT_CORE": 0,
    }


def _walls(parts: tuple[str, ...] | None = None) -> list[str]:
    """bubblewrap, everything unshared, with the system, Python and this library to read.

    Args:
        parts: of the library, modules and packages below it; all of it if None.
    """
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
    for path in sorted(outside):
        binds += ["--ro-bind", str(path), str(path)]
    if parts is None:
        binds += ["--ro-bind", str(library), str(library)]
    else:
        binds += ["--tmpfs", str(library)]  # the environment may hold the library too
        for part in ("__init__", *parts):
            path = library.joinpath(*part.split("."))
            path = path if path.is_dir() else path.with_suffix(".py")
            binds += ["--ro-bind", str(path), str(path)]
        binds += ["--remount-ro", str(library)]
    return [
        *("bwrap", "--unshare-all", "--die-with-parent", "--new-session"),
        # nobody inside becomes root of a namespace of their own
        *(("--unshare-user", "--disable-userns") if _can_forbid_namespaces() else ()),
        *("--cap-drop", "ALL", "--clearenv"),
        *(part for name, value in environment().items() for part in ("--setenv", name, value)),
        *("--proc", "/proc", *_shared_proc(), "--dev", "/dev"),
        # before the binds: the library or the environment may lie below /tmp themselves
        *("--size", str(TMP_BYTES), "--tmpfs", "/tmp"),
        *("--size", str(SHARED_BYTES), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"),
        *binds,
    ]


def _shared_proc() -> list[str]:
    """What shows read-only all of /proc that is the machine's and no process's own.

    Where the grader is root, so is everybody inside, without any rights, and for a machine's
    settings (/proc/sys) the number alone is enough. bubblewrap itself covers only folders there
    that can be written, and not those of which the files can.
    """
    shared = [
        str(path)
        for path in sorted(Path("/proc").iterdir())
        if not path.name.isdecimal()
        and not path.is_symlink()
        and (path.is_dir() or path.stat().st_mode & 0o222)
    ]
    return [part for path in shared for part in ("--ro-bind-try", path, path)]


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
