"""What answers the judge inside a student's kernel. Nothing here is trusted by anybody.

For each test the grader runs `serve` in the kernel, where it answers until the judge is done:
values and functions by their names. What the functions print is the notebook's own output.
"""

import contextlib
import importlib
import importlib.abc
import io
import os
import socket
import sys
import tempfile
from pathlib import Path
from typing import Any, TextIO

from course_lib.assignments import opened, wire
from course_lib.assignments.connection import Connection, Message
from course_lib.assignments.pictures import shown
from course_lib.assignments.wire import Broken, Encoded

MOST_PRINTED = 12 * 1024**2
"""Characters that one test may print: more than the grader listens to. Without a bound they would
wait in the kernel's memory for a reader that is busy."""


class Bounded(io.TextIOBase):
    """A stream that passes on its first characters and drops the rest."""

    def __init__(self, stream: TextIO, room: int = MOST_PRINTED) -> None:
        """Pass on `room` characters to the stream."""
        self._stream, self._room = stream, room

    def write(self, text: str) -> int:
        """What is dropped counts as written."""
        if passed := text[: self._room]:
            self._room -= len(passed)
            self._stream.write(passed)
        return len(text)

    def flush(self) -> None:
        """Flush the stream behind it."""
        self._stream.flush()


class Agent(Connection):
    """The kernel's end."""

    def __init__(self, channel: socket.socket, names: dict[str, Any]) -> None:
        """Answer with these names and their values."""
        super().__init__(channel)
        self._names = names

    def answer(self, message: Message) -> Message:
        """Beside calls and gradients: a value by its name."""
        if message.get("ask") != "get":
            return super().answer(message)
        if message["name"] not in self._names:
            return {"missing": True}
        return {"value": wire.pack(self._names[message["name"]], self.pack_other)}

    def pack_other(self, value: Any) -> Encoded:
        """Beside functions and things: a plot, by the numbers that it shows."""
        figure = _figure_of(value)
        if figure is None:
            return super().pack_other(value)
        return ["figure", [[one.values.tolist(), one.rows, one.columns] for one in shown(figure)]]

    def unpack_other(self, entry: list[Any]) -> Any:
        """Beside functions: a folder, with the files that are in it."""
        if entry[0] != "folder":
            return super().unpack_other(entry)
        folder = Path(tempfile.mkdtemp())
        for name, text in entry[1]:
            (folder / name).write_text(text, encoding="utf-8")
        return folder


def serve(place: str, token: str, imports: str = "") -> None:
    """Answer the judge that listens at a place (see `wire.call`), until it is done.

    As in the student's own notebook, what the test imports is there for the cells that follow.
    """
    from IPython import get_ipython

    names = get_ipython().user_ns
    lend(imports, names)
    with (
        wire.call(place) as channel,
        contextlib.redirect_stdout(Bounded(sys.stdout)),
        contextlib.redirect_stderr(Bounded(sys.stderr)),
    ):
        wire.send(channel, {"hello": token})
        agent = Agent(channel, names)
        while True:
            try:
                message = wire.receive(channel)
                if message.get("ask") == "done":
                    return
                agent.serve(message)
            except Broken:
                return


def lend(imports: str, names: dict[str, Any]) -> None:
    """Add what these statements import to the names, none of which becomes another."""
    lent: dict[str, Any] = {}
    with contextlib.suppress(ImportError):
        exec(imports, lent)
    for name, value in lent.items():
        names.setdefault(name, value)


def _figure_of(value: Any) -> Any:
    """The figure that a figure or axes of matplotlib's is or belongs to."""
    module = sys.modules.get("matplotlib.figure")
    if module is None:
        return None
    figure = value if isinstance(value, module.Figure) else getattr(value, "figure", None)
    return figure if isinstance(figure, module.Figure) else None


class Closed(importlib.abc.MetaPathFinder):
    """Says of a part of the library that it is not there while a notebook is checked."""

    def __init__(self, assignment: str) -> None:
        self._assignment = assignment

    def find_spec(self, name: str, path: Any, target: Any = None) -> None:
        """Nothing, or the reason why there is nothing."""
        if not opened.is_open(self._assignment, name):
            raise ModuleNotFoundError(
                f"{name} {opened.CLOSED}: it holds answers, which are yours to write.", name=name
            )


def restrict_imports(assignment: str) -> None:
    """From now on, import of the library only what an assignment opens.

    Modules that the notebook writes (`%%writefile`) are found too, and stand in for nothing: the
    folder where it runs is looked through last.
    """
    sys.path.append(os.getcwd())
    sys.meta_path.insert(0, Closed(assignment))
    for name in [name for name in sys.modules if not opened.is_open(assignment, name)]:
        parent, _, last = name.rpartition(".")
        vars(sys.modules.get(parent, sys)).pop(last, None)
        del sys.modules[name]


def reopen() -> None:
    """Import again whatever of the library is there."""
    sys.meta_path[:] = [one for one in sys.meta_path if not isinstance(one, Closed)]
