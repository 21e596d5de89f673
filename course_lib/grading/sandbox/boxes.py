"""Kernels behind walls: started, watched and ended.

There are two ways to start one, with the same walls, limits and end:

- plain: bubblewrap starts Python inside, which imports everything anew;
- forked: bubblewrap starts a program that does nothing, and a copy of the fork server, which has
  imported everything already, joins it inside (see `forkserver`).

The second is taken where the system allows it. Whichever it is, the box ends with its first
process: when the kernel ends, when this process ends, when a limit is exceeded.
"""

import asyncio
import atexit
import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, cast

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner
from traitlets.config import Config

from course_lib.grading.sandbox import bubblewrap, forkserver, namespaces
from course_lib.grading.sandbox.limits import DEFAULT, BoxLimits, Watch
from course_lib.grading.sandbox.scratch import held_folder

INSIDE = "connection.json"
"""What the kernel is told of how it is reached, beside what the grader knows."""

PORTS = ("shell_port", "iopub_port", "stdin_port", "control_port", "hb_port")
START_SECONDS = 60
"""How long a kernel may take to open its sockets."""

END_SECONDS = 10
"""How long what was killed may take to go."""

_server: Path | None = None
_cannot_fork = False


class Box:
    """Walls with Python running inside.

    Attributes:
        roots: the processes of which all others inside descend.
    """

    def __init__(
        self, command: list[str], server: Path | None, allowed: BoxLimits = DEFAULT
    ) -> None:
        """Start what `bubblewrap.kernel_command` describes.

        Args:
            command: bubblewrap, what sets limits, and Python with its arguments.
            server: where a fork server is asked to start Python inside; None for the plain way.
            allowed: what all its processes together may use.

        Raises:
            OSError: it could not be started; nothing is left of it.
        """
        python = command.index(sys.executable)
        self._watch: Watch | None = None
        self._first: int | None = None
        info, tell = os.pipe()
        with open(info, encoding="utf-8") as stream:
            try:
                self.process = _bubblewrap(command, tell, empty=server is not None)
            finally:
                os.close(tell)
            try:
                facts = stream.read()
                if not facts:
                    raise OSError("bubblewrap has not started")
                self.first = int(json.loads(facts)["child-pid"])
                self._first = os.pidfd_open(self.first) if hasattr(os, "pidfd_open") else None
                self.roots = [self.first]
                if server is not None:
                    self.roots.append(self._start_inside(server, command[python + 1 :]))
                self._watch = Watch(self.roots, allowed, self.kill)
            except BaseException:
                self.end()
                raise

    def _start_inside(self, server: Path, arguments: list[str]) -> int:
        # cat answers once the walls stand, and ends, walls and all, when nobody holds its input
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(b"x")
        self.process.stdin.flush()
        if self.process.stdout.read(1) != b"x":
            raise OSError("bubblewrap has not started")
        request = {
            "arguments": arguments,
            "limits": bubblewrap.resource_limits(),
            "folder": bubblewrap.WORK,
        }
        return forkserver.start_inside(server, self.first, request)

    @property
    def exceeded(self) -> str | None:
        """The limit at which it was stopped, a key of `limits.EXCEEDED`."""
        return None if self._watch is None else self._watch.exceeded

    def kill(self) -> None:
        """Kill everything inside; bubblewrap sees it and ends."""
        # the end of the first process inside is the end of all, wherever they have gone
        if self._first is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._first, signal.SIGKILL)
        else:
            self.process.kill()

    def end(self) -> None:
        """Kill everything inside and wait until it is gone; a second time does nothing."""
        self.kill()
        try:
            self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self._watch is not None:
            self._watch.end()
        if self._first is not None:
            # bubblewrap may end a moment before what it holds
            select.select([self._first], [], [], END_SECONDS)
            os.close(self._first)
            self._first = None
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()


def _bubblewrap(command: list[str], tell: int, *, empty: bool) -> "subprocess.Popen[bytes]":
    """Start bubblewrap, which tells of its first process.

    Args:
        command: as `bubblewrap.kernel_command` gives it.
        tell: the pipe that it writes to.
        empty: whether nothing is to run inside yet but `cat`, until a fork server joins it.
    """
    inner = command.index(bubblewrap.LIMITER)
    outer, program = command[:inner], ["cat"] if empty else command[inner:]
    options, handles = ["--info-fd", str(tell)], [tell]
    with tempfile.TemporaryFile() as rules:
        if rules.write(namespaces.seccomp_filter()):
            rules.seek(0)
            options += ["--seccomp", str(rules.fileno())]
            handles.append(rules.fileno())
        return subprocess.Popen(
            [outer[0], *options, *outer[1:], *program],
            stdin=subprocess.PIPE if empty else subprocess.DEVNULL,
            stdout=subprocess.PIPE if empty else subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=handles,
            start_new_session=True,
            # bubblewrap stays inside as the first process, where its environment can be read
            executable=shutil.which(outer[0]),
            env=bubblewrap.environment(),
        )


def start(command: list[str]) -> Box:
    """Start Python behind walls, forked if it can be, else plain."""
    global _cannot_fork
    server = fork_server()
    if server is not None:
        try:
            return Box(command, server)
        except OSError:
            _cannot_fork = True
    return Box(command, None)


def fork_server() -> Path | None:
    """Where a fork server is asked, here and in copies of this process; the first call starts it.

    None where none can work.
    """
    global _server
    if _cannot_fork or not namespaces.supported():
        return None
    if _server is None:
        until_end = contextlib.ExitStack()
        atexit.register(until_end.close)
        _server = until_end.enter_context(held_folder()) / "server"
        until_end.enter_context(forkserver.shared(bubblewrap.environment(), _server))
    return _server


def kernel_config(
    folder: Path, data_files: dict[str, Path], judge: Path, library: tuple[str, ...]
) -> Config:
    """Settings that make nbclient start its kernel boxed in.

    Args:
        folder: an empty folder, for this kernel alone.
        data_files: the submission's files besides the notebook: relative name -> path.
        judge: the socket where the judge listens.
        library: the parts of the library that are to be there.
    """
    connection = folder / INSIDE
    connection.touch()
    config = Config()
    config.ContainedExecute.command = bubblewrap.kernel_command(
        connection, data_files, judge, library
    )
    config.ConnectionFileMixin.transport = "ipc"
    config.ConnectionFileMixin.connection_file = str(folder / "outside.json")
    return config


async def _pinned(box: Box, ports: list[int], outside: Path) -> list[int]:
    """Take hold of a kernel's sockets as soon as they are there, before a student's code runs.

    From then on they are reached under `outside`-PORT, whatever a student puts in their places: a
    name inside could lead anywhere, and would be followed with the grader's rights.
    """
    inside = f"/proc/{box.first}/root{bubblewrap.SOCKETS}"
    until, handles = time.monotonic() + START_SECONDS, []
    for port in ports:
        while True:
            with contextlib.suppress(FileNotFoundError):
                handles.append(os.open(f"{inside}-{port}", os.O_PATH | os.O_NOFOLLOW))
                break
            if box.process.poll() is not None or time.monotonic() > until:
                return handles  # nbclient will find nobody there
            await asyncio.sleep(0.005)
        Path(f"{outside}-{port}").symlink_to(f"/proc/self/fd/{handles[-1]}")
    return handles


class BoxProvisioner(LocalProvisioner):
    """How jupyter_client starts a boxed kernel: bubblewrap is the process it sees and ends."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Start the kernel; its sockets lie in its box, and are reached through /proc."""
        info: dict[str, Any] = dict(self.connection_info)
        self._pinned: list[int] = []
        connection = {**info, "key": info["key"].decode(), "ip": bubblewrap.SOCKETS}
        manager: Any = self.parent
        Path(manager.connection_file).with_name(INSIDE).write_text(json.dumps(connection))
        self.box = start(cmd)
        self.process = self.box.process
        self.pid = self.pgid = self.process.pid
        ports = [info[port] for port in PORTS]
        outside = Path(manager.connection_file).with_name("o")
        try:
            self._pinned = await _pinned(self.box, ports, outside)
        except BaseException:
            self.box.end()
            raise
        info["ip"] = str(outside)
        self.connection_info = cast(KernelConnectionInfo, info)
        return self.connection_info

    async def kill(self, restart: bool = False) -> None:
        """Kill everything in the box."""
        self.box.kill()

    async def terminate(self, restart: bool = False) -> None:
        """Kill everything in the box: nothing in it has anything to save."""
        self.box.kill()

    async def cleanup(self, restart: bool = False) -> None:
        """Leave nothing of it."""
        self.box.end()
        for handle in self._pinned:
            os.close(handle)
        self._pinned = []
        await super().cleanup(restart)


KernelProvisionerFactory.provisioners[bubblewrap.PROVISIONER] = EntryPoint(
    bubblewrap.PROVISIONER, f"{__name__}:BoxProvisioner", KernelProvisionerFactory.GROUP_NAME
)
