"""`course extend`, `mark`, `orals`, `join`: what an instructor does about single marks."""

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from course_lib.cli.classes import SubmittedFolder, class_folder
from course_lib.files import private_files


def extend(
    name: Annotated[str, typer.Argument(help="The assignment.")],
    student: Annotated[str, typer.Argument(help="The student's id.")],
    until: Annotated[str, typer.Argument(help='"2026-05-06 23:59", or "none" to take it back.')],
    submitted: SubmittedFolder = None,
) -> None:
    """Let one student hand in later, before or after the class is graded."""
    _, place = class_folder(name, submitted)
    from course_lib.grading.running import extensions

    with private_files():
        when = extensions.set_extension(place, name, student, until)
    said = f"may hand in {name} until {when:%Y-%m-%d %H:%M}" if when else "has no longer time"
    typer.echo(f"{student} {said}. The next `course grade {name}` counts it.")


def orals(
    name: Annotated[str, typer.Argument(help="The assignment.")],
    student: Annotated[
        list[str] | None, typer.Option(help="This student; everybody if not given.")
    ] = None,
    submitted: SubmittedFolder = None,
) -> None:
    """Print three short questions for each student, from their own answers, for five minutes."""
    root, place = class_folder(name, submitted)
    from course_lib.grading.reporting.orals import as_text
    from course_lib.grading.reporting.orals import orals as ask

    typer.echo(as_text(ask(root, place, name, student or [])))


def mark(
    name: Annotated[str, typer.Argument(help="The assignment.")],
    part: Annotated[str | None, typer.Argument(help="The part, if a person marks several.")] = None,
    submitted: SubmittedFolder = None,
) -> None:
    """Mark all answers to one question on one page in a browser, until Ctrl-C."""
    root, place = class_folder(name, submitted)
    from course_lib.grading.reporting import marking

    chosen = part or next(iter(marking.parts_by_hand(root, name)), "")
    with marking.serving(root, place, name, chosen) as (server, address):
        typer.echo(f"Open {address} (Ctrl-C ends; then `course grade {name}`)")
        with suppress(KeyboardInterrupt):
            server.serve_forever()


def join(
    other: Annotated[Path, typer.Argument(help="The other marker's gradebook.db.")],
    submitted: SubmittedFolder = None,
) -> None:
    """Take over the points, comments and extensions of another marker; exit 1 at a conflict."""
    _, place = class_folder(None, submitted)
    from course_lib.grading.running import gradebooks

    with private_files():
        joined = gradebooks.join(place, other)
    typer.echo(f"{joined.taken} taken over, {joined.same} were here already.")
    for what, lines in (
        ("Not in this gradebook, so left out", joined.unknown),
        ("Different in both; this gradebook's stand", joined.conflicts),
    ):
        if lines:
            typer.echo(f"{what}:")
            for line in lines:
                typer.echo(f"  {line}")
    if joined.conflicts or joined.unknown:
        raise typer.Exit(1)
