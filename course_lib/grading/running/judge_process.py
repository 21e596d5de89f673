"""The process in which test cells run: no line of a student's code ever does.

`python -m course_lib.grading.running.judge_process PLACE` connects to the grader at PLACE and then
runs one test after the other. In a box it is handed the socket where the student's kernel is going
to call; without one PLACE is a port, and it says itself at which port it can be called. The names
that a test asks for are values that the kernel has sent, or stand-ins of its functions.
"""

import builtins
import contextlib
import hmac
import select
import socket
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from course_lib.assignments import wire
from course_lib.assignments.checks import Raised, Refused, error_message
from course_lib.assignments.connection import Connection, Message, Remote, Stopped
from course_lib.assignments.wire import Broken, Encoded
from course_lib.grading.running.judge import GRACE

LARGEST_FOLDER = 2**20
"""Bytes of all files in a folder that a test hands to a function."""
SAID = 4000
"""Characters of a message."""


class Bench(Connection):
    """The judge's end: what comes from the other is a value, a stand-in, or a refusal."""

    def __init__(
        self, channel: socket.socket, grader: socket.socket, seconds: float, endless: set[str]
    ) -> None:
        """Ask for `seconds` at most; functions that took longer are put into `endless`."""
        super().__init__(channel, self._wait)
        self._grader, self._seconds, self._endless = grader, seconds, endless
        self._begun = time.monotonic()

    def _wait(self) -> None:
        """Until there is something to read.

        Raises:
            Broken: the time is over, or nobody can answer any more.
        """
        left = self._begun + self._seconds + GRACE - time.monotonic()
        ready, _, _ = select.select([self.channel, self._grader], [], [], max(left, 0))
        if self.channel not in ready:
            raise Broken("no answer came")

    def value_of(self, name: str) -> Any:
        """What a name stands for in the notebook.

        Raises:
            KeyError: for nothing.
            Refused: for something that cannot be sent.
        """
        try:
            reply = self.ask({"ask": "get", "name": name})
            if "missing" in reply:
                raise KeyError(name)
            if "error" in reply:
                raise Refused(f"{name} cannot be read: it is too large, or nested too deep.")
            return wire.unpack(reply["value"], self.unpack_other)
        except (Refused, KeyError):
            raise
        except Exception as error:
            raise self._refusal(name) from error

    def call(self, function: Remote, arguments: tuple, keywords: Mapping[str, Any]) -> Any:
        """What a function of the student's returns.

        Raises:
            Refused: it raised, did not end, or returned nothing that can be read.
        """
        name = function.__name__
        if name in self._endless:
            raise Refused(
                f"{name} did not end within {self._seconds:g} seconds in an earlier test; it was"
                " not called again."
            )
        try:
            return super().call(function, arguments, keywords)
        except Stopped as error:
            raise Raised(f"{name} {error_message(error.kind, error.text, error.line)}") from None
        except Broken:
            raise self._refusal(name) from None

    def _refusal(self, name: str) -> Refused:
        if time.monotonic() - self._begun >= 0.9 * self._seconds:  # its clock began a little later
            self._endless.add(name)
            return Refused(f"{name} did not end within {self._seconds:g} seconds.")
        return Refused(f"{name} was asked for, and no answer came that could be read.")

    def pack_other(self, value: Any) -> Encoded:
        """Beside functions and things: a folder, with the files that are in it."""
        if not isinstance(value, Path) or not value.is_dir():
            return super().pack_other(value)
        files = [[path.name, path.read_text("utf-8")] for path in sorted(value.iterdir())]
        if sum(len(text) for _, text in files) > LARGEST_FOLDER:
            raise ValueError("the folder is too large")
        return ["folder", files]

    def unpack_other(self, entry: list[Any]) -> Any:
        """Beside functions and things: a plot, drawn again from the numbers that it shows."""
        return _figure(entry[1]) if entry[0] == "figure" else super().unpack_other(entry)


def _figure(drawn: list[Any]) -> Any:
    """A figure of matplotlib's that shows these tables, and their labels at the same places."""
    import numpy as np
    from matplotlib.figure import Figure

    figure = Figure()
    for values, rows, columns in drawn[:20]:
        axes = figure.add_axes((0, 0, 1, 1))
        axes.imshow(np.array(values, float))
        for put, labels in ((axes.set_yticks, rows), (axes.set_xticks, columns)):
            put([float(place) for place, _ in labels], [str(text) for _, text in labels])
    return figure


class Names(dict[str, Any]):
    """The names of a test: those that it does not define are the student's."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(__name__="__main__")
        self._bench = bench

    def __missing__(self, name: str) -> Any:
        """What a name stands for in the notebook, asked for once.

        Raises:
            KeyError: for nothing, or it is one of Python's own.
        """
        if hasattr(builtins, name):
            raise KeyError(name)
        return self.setdefault(name, self._bench.value_of(name))


def hear(listener: socket.socket, grader: socket.socket, token: str, seconds: float) -> Any:
    """The connection of the kernel that knows the token.

    Raises:
        Broken: none came.
    """
    until = time.monotonic() + seconds
    while True:
        ready, _, _ = select.select([listener, grader], [], [], max(until - time.monotonic(), 0))
        if listener not in ready:
            raise Broken("nobody has called")
        channel, _ = listener.accept()
        channel.settimeout(GRACE)
        with contextlib.suppress(Broken):
            greeting = wire.receive(channel)
            if hmac.compare_digest(str(greeting.get("hello")).encode(), token.encode()):
                return channel
        channel.close()


def sit(
    listener: socket.socket, grader: socket.socket, test: Message, endless: set[str]
) -> Message:
    """Run one test; its verdict."""
    channel = None
    try:
        channel = hear(listener, grader, test["token"], test["seconds"])
        bench = Bench(channel, grader, test["seconds"], endless)
        exec(compile(test["source"], "<test>", "exec"), Names(bench))
        verdict: Message = {"passed": True}
    except Broken:
        why = "The notebook's Python did not answer, so nothing could be tested."
        verdict = {"passed": False, "kind": "Refused", "said": why}
    except BaseException as error:
        verdict = {"passed": False, "kind": type(error).__name__, "said": str(error)[:SAID]}
    finally:
        if channel is not None:
            with contextlib.suppress(Broken):
                wire.send(channel, {"ask": "done"})
            channel.close()
    return verdict


def main(place: str) -> None:
    """Judge until the grader has gone."""
    import torch

    torch.set_num_threads(1)
    endless: set[str] = set()
    with wire.call(place) as grader:
        if place.isdecimal():
            listener = wire.listen()
            wire.send(grader, {"place": wire.port(listener)})
        else:
            _, handles, _, _ = socket.recv_fds(grader, 1, 1)
            listener = socket.socket(fileno=handles[0])
        with contextlib.suppress(Broken):
            while True:
                test = wire.receive(grader)
                if "source" in test:  # else: the last test's kernel has answered all it will
                    wire.send(grader, sit(listener, grader, test, endless))


if __name__ == "__main__":
    main(sys.argv[1])
