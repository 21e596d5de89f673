"""All answers to one question on one page, marked by a person with the keyboard alone.

A server on this machine, for as long as the command runs, shows the page and writes points and
comments into the gradebook. Its address has a word in it that nobody can guess.
"""

import hmac
import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import nbformat
from markupsafe import Markup
from nbgrader.api import Gradebook, MissingEntry

from course_lib.errors import CourseError
from course_lib.figures.templates import render
from course_lib.grading.reporting import graded_notebook
from course_lib.grading.reporting.pages import safe_html
from course_lib.grading.running import gradebooks
from course_lib.grading.sources.data import criteria_of
from course_lib.grading.sources.marked_cells import grade_id, is_grade, is_solution
from course_lib.grading.sources.project import db_url, nbgrader_messages, source_of
from course_lib.grading.sources.release import source_notebook

LONGEST_COMMENT = 10_000


@dataclass(frozen=True)
class Answer:
    """One student's answer, and what a person has said about it so far."""

    student: str
    body: Markup
    score: float | None
    comment: str
    changed: bool


def parts_by_hand(root: Path, name: str) -> dict[str, str]:
    """The parts that a person marks: grade id -> title."""
    notebook = source_notebook(source_of(root, name))
    by_hand = {grade_id(cell) for cell in notebook.cells if is_grade(cell) and is_solution(cell)}
    return {
        part: title for part, title in graded_notebook.titles(notebook).items() if part in by_hand
    }


def answers(place: Path, name: str, part: str) -> tuple[list[Answer], float]:
    """Everybody's answer to one question, those to be read or changed first; and its points."""
    if not (place / gradebooks.NAME).is_file():  # to open it would make one
        return [], 0.0
    found, points = [], 0.0
    with nbgrader_messages(), Gradebook(db_url(place)) as gradebook:
        for path in sorted(place.glob(f"autograded/*/{name}/{name}.ipynb")):
            student = path.parts[-3]
            try:
                grade = gradebook.find_grade(part, name, name, student)
            except MissingEntry:
                continue
            cells = nbformat.read(path, as_version=4).cells
            cell = next((one for one in cells if grade_id(one) == part), None)
            if cell is None:
                continue
            points = float(grade.max_score)
            marked = grade.manual_score is not None
            body = safe_html.markdown(cell.source, 2, cell.get("attachments"))
            said = gradebook.find_comment(part, name, name, student).manual_comment or ""
            _, changed = gradebooks.to_look_at(grade)
            score = grade.manual_score if marked else grade.auto_score
            found.append(Answer(student, body, score, said, changed))
    waiting = {one.student: one.score is None or one.changed for one in found}
    return sorted(found, key=lambda one: (not waiting[one.student], one.student)), points


def give(place: Path, name: str, part: str, said: Any) -> None:
    """Write what a person said about an answer into the gradebook.

    Raises:
        ValueError: these are no points, or not for this student.
    """
    student, score, comment = said["student"], float(said["score"]), str(said["comment"])
    with nbgrader_messages(), Gradebook(db_url(place)) as gradebook:
        try:
            grade = gradebook.find_grade(part, name, name, str(student))
        except MissingEntry as error:
            raise ValueError("nobody of this id") from error
        if not 0 <= score <= grade.max_score:
            raise ValueError(f"not between 0 and {grade.max_score:g}")
        grade.manual_score, grade.needs_manual_grade = score, False
        about = gradebook.find_comment(part, name, name, str(student))
        about.manual_comment = comment[:LONGEST_COMMENT] or None
        gradebook.db.commit()


@contextmanager
def serving(root: Path, place: Path, name: str, part: str) -> Iterator[tuple[HTTPServer, str]]:
    """A server of the page, and the address at which it is to be opened.

    Raises:
        CourseError: no person marks this part, or nobody has answered it.
    """
    known = parts_by_hand(root, name)
    if part not in known:
        raise CourseError(f"No person marks {part!r}. Parts that one marks: {', '.join(known)}.")
    if not answers(place, name, part)[0]:
        raise CourseError(f"Nobody's {part} is graded in {place}. Run `course grade {name}` first.")
    word = secrets.token_urlsafe(16)
    criteria = criteria_of(source_of(root, name)).get(part, [])

    class Page(BaseHTTPRequestHandler):
        """Answers whoever knows the word, and asks by the address that was printed."""

        def do_GET(self) -> None:
            """Show the page."""
            if self._allowed():
                nonce = secrets.token_urlsafe(16)
                shown, points = answers(place, name, part)
                text = render(
                    *("course_lib.grading.reporting", "pages", "marking.html.j2"),
                    title=known[part],
                    answers=shown,
                    points=points,
                    criteria=criteria,
                    nonce=nonce,
                )
                self._say(200, text, "text/html; charset=utf-8")

        def do_POST(self) -> None:
            """Take points."""
            if self._allowed():
                try:
                    length = min(int(self.headers["Content-Length"]), 10 * LONGEST_COMMENT)
                    give(place, name, part, json.loads(self.rfile.read(length)))
                except (ValueError, TypeError, KeyError) as error:
                    self._say(400, str(error))
                else:
                    self._say(200, "kept")

        def _allowed(self) -> bool:
            asked = self.path.strip("/").encode()
            if self.headers.get("Host") == host and hmac.compare_digest(asked, word.encode()):
                return True
            self._say(403, "Open the address that `course mark` printed.")
            return False

        def _say(self, status: int, text: str, kind: str = "text/plain; charset=utf-8") -> None:
            data = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Referrer-Policy", "no-referrer")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Say nothing: the terminal is the marker's."""

    with HTTPServer(("127.0.0.1", 0), Page) as server:
        host = f"127.0.0.1:{server.server_port}"
        yield server, f"http://{host}/{word}/"
