"""The `course` command: one entry point, one way to report a mistake.

Exit status: 0 done, 1 it ran and found something wrong, 2 it could not run.
"""

import sys

import click
import typer

from course_lib.errors import CourseError

app = typer.Typer(
    name="course",
    help="Looking Back: corpora, models, training, translation and assignments of the course.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command line; a user's mistake is one line on standard error, never a traceback."""
    try:
        app(standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help())
        sys.exit(2)
    except click.ClickException as error:
        click.echo(f"course: {error.format_message()} See `course --help`.", err=True)
        sys.exit(2)
    except CourseError as error:
        click.echo(f"course: {error}", err=True)
        sys.exit(2)
    except (KeyboardInterrupt, click.Abort):
        click.echo("course: stopped.", err=True)
        sys.exit(130)
