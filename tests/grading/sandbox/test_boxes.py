"""A kernel's sockets are the ones it opened, whatever a student puts in their places."""

import socket
from pathlib import Path

import nbformat
import pytest

from course_lib.grading.running.submission import Job, grade
from course_lib.grading.sources.project import db_url
from course_lib.grading.sources.release import generate
from tests.grading.tiny import NAME, cell_of, write_course

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
    released = generate(tmp_path, NAME, db_url(tmp_path))[f"{NAME}.ipynb"].decode()
    notebook = nbformat.reads(released, as_version=4)
    spy = tmp_path / "spy"
    cell_of(notebook, "part_answer").source = LEADING_OUT.format(spy=str(spy))
    handed_in = tmp_path / "submitted" / "eve" / NAME
    handed_in.mkdir(parents=True)
    nbformat.write(notebook, handed_in / f"{NAME}.ipynb")
    with (tmp_path / "nbgrader_config.py").open("a") as settings:
        settings.write(
            "\nc.ContainedExecute.timeout = 3\nc.ContainedExecute.patience_seconds = 3\n"
        )
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(spy))
        listener.listen(5)
        listener.setblocking(False)
        job = Job(tmp_path, tmp_path, handed_in, "eve", NAME, released, boxed=True, alone=True)
        outcome = grade(job)
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert outcome.graded, outcome.remarks
