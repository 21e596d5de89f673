"""`course export`: a run as a page that translates in its reader's browser."""

from pathlib import Path
from typing import Annotated

import typer


def export(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="A run, or several to set side by side.")
    ],
    web: Annotated[Path, typer.Option("--web", help="Folder to write.")],
) -> None:
    """Write a page that translates with RUN in any browser, without a server.

    The folder holds index.html with the models in scripts beside it, and translator.html, which is
    all in one file.
    """
    from course_lib.training import load_run
    from course_lib.widgets.standalone import export_web

    for path in export_web([load_run(run, "cpu") for run in runs], web):
        typer.echo(f"{path}  {path.stat().st_size / 1e6:.1f} MB")


def register(app: typer.Typer) -> None:
    """Put the command on the command line."""
    app.command()(export)
