"""`course report`: what a comparison found, for people."""

from pathlib import Path
from typing import Annotated

import typer


def report(
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="DIR...", help="What `course compare` wrote; more: other seeds."),
    ],
) -> None:
    """Write report.html, which needs nothing else, and report.ipynb into the first DIR."""
    from course_lib.figures.report import write_report

    for path in write_report(folders):
        typer.echo(path)


def register(app: typer.Typer) -> None:
    """Put the command on the command line."""
    app.command()(report)
