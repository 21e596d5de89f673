"""A kernel's sockets are the ones it opened, whatever a student puts in their places."""

import socket
from pathlib import Path

import pytest

from course_lib.grading.running.submission import grade
from tests.grading.tiny import hand_in, job_of, write_course

LEADING_OUT = """
import glob, os, socket, time
for path in glob.glob("/run/kernel/k-*"):
    os.unlink(path)
    os.symlink({spy!r}, path)
for handle in map(int, os.listdir("/proc/self/fd")):
    try:  # whoever is connected is cut off, and looks for the socket again
        socket.socket(fileno=os.dup(handle)).shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
time.sleep(2)
"""


def test_a_link_in_place_of_a_socket_is_not_followed(tmp_path: Path) -> None:
    write_course(tmp_path, answer="number = 42", test="assert number == 42")
    spy = tmp_path / "spy"
    hand_in(tmp_path, "eve", LEADING_OUT.format(spy=str(spy)))
    with (tmp_path / "nbgrader_config.py").open("a") as settings:
        settings.write(
            "\nc.ContainedExecute.timeout = 3\nc.ContainedExecute.patience_seconds = 3\n"
        )
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(spy))
        listener.listen(5)
        listener.setblocking(False)
        outcome = grade(job_of(tmp_path, "eve", alone=True))
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert outcome.graded, outcome.remarks
