"""`course questions`: the book's quizzes and predictions as a question bank."""

import importlib.util
from pathlib import Path
from typing import Annotated

import typer

from course_lib.errors import CourseError
from course_lib.files import write_atomically


def questions(
    qti: Annotated[
        Path | None, typer.Option(help="Write the zip that Canvas imports (QTI 1.2).")
    ] = None,
    moodle: Annotated[
        Path | None, typer.Option(help="Write the XML that Moodle imports into a question bank.")
    ] = None,
) -> None:
    """Write the book's quizzes and predictions for Canvas or Moodle."""
    if qti is None and moodle is None:
        raise CourseError("Say where to: --qti questions.zip for Canvas, --moodle questions.xml.")
    if importlib.util.find_spec("mdit_py_plugins") is None:
        raise CourseError(
            'Not installed: mdit-py-plugins. Install the course with `pip install -e ".[classes]"`.'
        )
    from course_lib.grading.authoring.questions import bank_for_canvas, bank_for_moodle
    from course_lib.grading.authoring.questions import book_questions as of_book
    from course_lib.grading.sources.project import project_root

    bank = of_book(project_root())
    for path, make, what in (
        (qti, bank_for_canvas, "Canvas: Settings > Import Course Content > QTI .zip file"),
        (moodle, bank_for_moodle, "Moodle: Question bank > Import > Moodle XML format"),
    ):
        if path is not None:
            write_atomically(path, make(bank))
            typer.echo(f"{path}   {what}")
    quizzes = sum(bool(one.options) for one in bank)
    typer.echo(f"{quizzes} quizzes, {len(bank) - quizzes} predictions (answered in words).")
