"""A judge for one submission: started, asked for verdicts, ended."""

import contextlib
import os
import secrets
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course_lib.assignments import wire
from course_lib.assignments.wire import Broken
from course_lib.errors import CourseError

if TYPE_CHECKING:
    from course_lib.grading.sandbox.boxes import Box

PROCESS = "course_lib.grading.running.judge_process"
"""The module that it runs."""
START_SECONDS = 60
"""How long Python may take to begin."""
GRACE = 8
"""Seconds beyond its limit that a call is waited for: it is interrupted, and says so."""


class Judge:
    """A process of its own, in which tests run and no code of a student's."""

    def __init__(self, folder: Path, data_files: dict[str, Path] | Path) -> None:
        """Start it; it gets ready by itself.

        Args:
            folder: one with a short path, for its sockets and temporary files.
            data_files: the submission's files besides the notebook (relative name -> path) for a
                judge in a box; the folder where they lie for one without.
        """
        self._folder, self._files = folder, data_files
        self.place = str(folder / "judge")
        """Where a student's kernel calls it: a socket; of a judge without a box a port."""
        self._listener = _listen(self.place) if isinstance(data_files, dict) else None
        self._process: Box | subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None
        self._start()

    def _start(self) -> None:
        if isinstance(self._files, dict):
            from course_lib.grading.sandbox import boxes, bubblewrap  # of Linux alone

            path = self._folder / "grader"
            path.unlink(missing_ok=True)
            self._door = _listen(str(path))
            self._process = boxes.start(bubblewrap.judge_command(path, self._files))
        else:
            self._door = wire.listen()
            self._process = subprocess.Popen(
                [sys.executable, "-m", PROCESS, wire.port(self._door)],
                cwd=self._files,
                env={**os.environ, "TMPDIR": str(self._folder)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )

    def begin(self, source: str, seconds: float) -> str:
        """Let it run a test; the word with which the kernel has to call.

        Raises:
            CourseError: it has not started.
        """
        if self._process is None:
            self._start()
        if self._channel is None:
            self._channel = self._welcome()
        token = secrets.token_hex(16)
        self._channel.settimeout(seconds + GRACE)
        with contextlib.suppress(Broken):  # no verdict will come
            wire.send(self._channel, {"source": source, "token": token, "seconds": seconds})
        return token

    def _welcome(self) -> socket.socket:
        self._door.settimeout(START_SECONDS)
        try:
            channel, _ = self._door.accept()
        except OSError as error:
            raise CourseError(
                "The process that judges tests has not started. Grade again; if it goes on, look"
                f" whether `python -m {PROCESS}` can import what it needs."
            ) from error
        finally:
            self._door.close()
        if self._listener is not None:
            try:
                socket.send_fds(channel, [b"x"], [self._listener.fileno()])
            except OSError as error:  # others may have used up what the system allows a user
                raise CourseError(f"The judge could not be reached: {error.strerror}.") from error
        else:
            channel.settimeout(START_SECONDS)
            self.place = str(wire.receive(channel)["place"])
        return channel

    def verdict(self) -> dict[str, Any]:
        """How the test ended, once the kernel answers no more: `passed`, or `kind` and `said`.

        Raises:
            CourseError: the judge has ended, and not by what it was sent.
        """
        assert self._channel is not None
        try:
            wire.send(self._channel, {"over": True})
            verdict = wire.receive(self._channel)
        except Broken as error:
            killed = self._was_killed()
            self._stop()
            if killed:
                raise CourseError("The process that judges tests was killed.") from error
            why = "It could not be judged: what was answered is too large, or takes too long."
            return {"passed": False, "kind": "Refused", "said": why}
        return verdict

    def _was_killed(self) -> bool:
        """Whether the judge is gone, though it exceeded none of its own limits."""
        if self._process is None or isinstance(self._process, subprocess.Popen):
            process, exceeded = self._process, None
        else:
            process, exceeded = self._process.process, self._process.exceeded
        with contextlib.suppress(subprocess.TimeoutExpired):
            if process is not None and exceeded is None:
                process.wait(1)
                return True
        return False

    def _stop(self) -> None:
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        if isinstance(self._process, subprocess.Popen):
            self._process.kill()
            self._process.wait()
        elif self._process is not None:
            self._process.end()
        self._process = None

    def close(self) -> None:
        """End it; a second time does nothing."""
        self._stop()
        self._door.close()
        if self._listener is not None:
            self._listener.close()


def _listen(path: str) -> socket.socket:
    door = socket.socket(socket.AF_UNIX)
    door.bind(path)
    door.listen(16)
    return door
