"""One process that has imported torch and Jupyter, and is copied for every submission.

Starting Python and importing is most of what a small submission costs. The server does it once. It
never runs a student's code, knows no gradebook, and has of the instructor's environment nothing but
what a kernel gets. For a submission bubblewrap builds the walls around a program that does nothing;
a copy of the server (a `fork`, so every submission has a process that nobody used before) joins its
namespaces, closes every file, gives up all rights and becomes the kernel. The walls are the same as
those of a kernel started from nothing, and end it the same way: with the first process inside.

What a copy has in memory beyond what it would have imported itself: nothing. What it can reach of
the outside: the file of the interpreter, as /proc/self/exe, which is why the server runs from a
sealed copy in memory that nobody can write to.
"""

import contextlib
import fcntl
import gc
import importlib
import json
import os
import resource
import runpy
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from course_lib.grading.sandbox import namespaces

# What the assignments' notebooks and their tests import, apart from what is imported with it.
IMPORTED = (
    *("ipykernel.kernelapp", "ipykernel.ipkernel", "IPython", "torch", "numpy"),
    # what every kernel imports when it starts
    *("ipykernel.debugger", "tornado.platform.asyncio", "numpy.random"),
    *("IPython.core.completerlib", "IPython.extensions.storemagic"),
    # what torch imports with the first gradient that begins from a given vector
    "torch.fx.experimental.symbolic_shapes",
    "course_lib.assignments.checks",
)
START_SECONDS = 120
"""How long a copy is waited for: the server may still be importing."""
ASK_SECONDS = 20
LONGEST = 65536
"""Bytes of a message."""


def start_inside(place: Path, process: int, request: dict[str, Any]) -> int:
    """Let the server at a place start Python behind the walls of another process; returns its id.

    Args:
        place: the server's.
        process: the first process inside the walls.
        request: `arguments` of Python, `limits` (name of a resource -> number), `folder` to begin
            in.

    Raises:
        OSError: it could not; nothing was started.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as channel:
        channel.settimeout(START_SECONDS)
        channel.connect(str(place))
        pidfd = os.pidfd_open(process)
        try:
            message = json.dumps({"process": process, **request}).encode()
            socket.send_fds(channel, [message], [pidfd])
        finally:
            os.close(pidfd)
        reply = channel.recv(LONGEST)
    if not reply:
        raise OSError("the fork server has ended")
    answer = json.loads(reply)
    if "error" in answer:
        raise OSError(answer["error"])
    return int(answer["process"])


@contextlib.contextmanager
def shared(environment: dict[str, str], place: Path) -> Iterator[None]:
    """Run a server that this user's processes may ask at a place.

    It ends with this process, however that ends.

    Args:
        environment: all variables of its copies.
        place: a path that nothing lies at.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(str(place))
        listener.listen(64)
        lifeline, held = os.pipe()
        try:
            process = _start(environment, lifeline, listener)
        finally:
            os.close(lifeline)
    try:
        yield
    finally:
        os.close(held)
        process.kill()
        process.wait()


def _start(
    environment: dict[str, str], lifeline: int, listener: socket.socket
) -> "subprocess.Popen[bytes]":
    """Run this module from a copy of the interpreter that nobody can change."""
    program = os.memfd_create("python", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        with open(os.path.realpath(sys.executable), "rb") as source:
            while os.sendfile(program, source.fileno(), None, 2**30):
                pass
        seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
        fcntl.fcntl(program, fcntl.F_ADD_SEALS, seals)
        # -P: the folder it is started in holds no modules
        return subprocess.Popen(
            [sys.executable, "-P", "-m", __name__, str(lifeline), str(listener.fileno())],
            executable=f"/proc/self/fd/{program}",
            env=environment,
            pass_fds=[lifeline, listener.fileno(), program],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,  # Ctrl-C is for the process that grades
        )
    finally:
        os.close(program)


def serve(lifeline: int, listener: socket.socket) -> None:
    """Import, then make a copy for every request, until the lifeline's other end is let go."""
    for name in IMPORTED:
        importlib.import_module(name)
    if len(os.listdir("/proc/self/task")) > 1:
        raise RuntimeError("an import has started a thread: a copy would lack it")
    gc.collect()
    gc.freeze()  # so that a copy's own collections leave the shared pages alone
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the copies
    while lifeline not in select.select([lifeline, listener.fileno()], [], [])[0]:
        channel, _ = listener.accept()
        channel.settimeout(ASK_SECONDS)
        with channel, contextlib.suppress(OSError):
            message, handles, _, _ = socket.recv_fds(channel, LONGEST, 1)
            if message and os.fork() == 0:
                try:
                    _become(channel, json.loads(message), handles[0])
                finally:
                    os._exit(1)  # whatever has gone wrong, a copy is no server
            for handle in handles:
                os.close(handle)


def _become(channel: socket.socket, request: dict[str, Any], pidfd: int) -> None:
    """In the copy: go inside, start what is asked for, and wait outside for its end."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        namespaces.die_with_parent()
        namespaces.enter(request["process"], pidfd)
        inside = os.fork()  # only a child is in the new process namespace
    except BaseException as error:
        channel.send(json.dumps({"error": f"{type(error).__name__}: {error}"}).encode())
        os._exit(1)
    if inside == 0:
        try:
            _run(request)
        except BaseException:  # whatever is left to say, nobody may hear it
            os._exit(1)
        os._exit(0)
    channel.send(json.dumps({"process": inside}).encode())
    channel.close()
    os.waitpid(inside, 0)
    # the kernel is gone: what it has left behind goes with the walls
    try:
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
    finally:
        os._exit(0)


def _run(request: dict[str, Any]) -> None:
    """Inside: nothing open, no rights, limits set, nothing drawn before; then the program."""
    null = os.open("/dev/null", os.O_RDWR)
    for standard in range(3):
        os.dup2(null, standard)
    os.closerange(3, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    os.setsid()
    os.umask(0o022)
    namespaces.forget_keys()
    Path("/proc/self/oom_score_adj").write_text("1000")  # should memory run out, this one first
    namespaces.give_up_rights()
    namespaces.forbid()
    for name, number in request["limits"].items():
        resource.setrlimit(getattr(resource, name), (number, number))
    os.chdir(request["folder"])
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # as Python starts
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _draw_anew()
    # what was listed of folders outside
    sys.path_importer_cache.clear()
    importlib.invalidate_caches()
    _python(request["arguments"])


def _draw_anew() -> None:
    """Random numbers as a fresh process has them: nobody else's."""
    import random

    import numpy as np
    import torch

    # NumPy's old interface as well: students may use it
    for source in (random, np.random, torch):
        source.seed()


def _python(arguments: list[str]) -> None:
    """What `python ARGUMENTS` does, for -m and -c."""
    kind, what, *rest = arguments
    sys.argv = [kind, *rest]
    gc.enable()
    if kind == "-m":
        sys.argv[0] = what
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        sys.path.insert(0, "")
        main = type(sys)("__main__")
        sys.modules["__main__"] = main
        exec(compile(what, "<string>", "exec"), main.__dict__)


if __name__ == "__main__":
    serve(int(sys.argv[1]), socket.socket(fileno=int(sys.argv[2])))
