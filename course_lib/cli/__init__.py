"""The `course` command: one entry point, one way to report a mistake.

Exit status: 0 done, 1 it ran and found something wrong, 2 it could not run.
"""

import io
import sys

import typer

from course_lib.cli import (
    alignment,
    bench,
    classes,
    corpus,
    cost,
    doctor,
    marking,
    questions,
    runs,
    translate,
)
from course_lib.errors import CourseError

app = typer.Typer(
    name="course",
    help="Looking Back: corpora, models, training, translation and assignments of the course.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(corpus.commands, name="corpus")
for command in (
    *(classes.release, classes.validate, classes.submit, classes.collect, classes.grade),
    *(marking.extend, marking.mark, marking.orals, marking.join),
    *(doctor.doctor, runs.train, runs.compare, runs.score, translate.translate, runs.export),
    *(cost.cost, alignment.align, runs.report, questions.questions),
):
    app.command()(command)
app.add_typer(bench.commands, name="bench")


def main() -> None:
    """Run the command line; a user's mistake is one line on standard error, never a traceback."""
    # What the platform calls its encoding may lack the letters of the languages translated here.
    for stream, errors in (
        (sys.stdin, "strict"),
        (sys.stdout, "surrogateescape"),
        (sys.stderr, "replace"),
    ):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors=errors)
    try:
        status = app(standalone_mode=False)
    except typer.TyperException as error:
        # Without a command the help has been printed and there is no message.
        if message := error.format_message():
            stop = "" if message.endswith((".", "?")) else "."
            typer.echo(f"course: {message}{stop} See `course --help`.", err=True)
        sys.exit(2)
    except CourseError as error:
        typer.echo(f"course: {error}", err=True)
        sys.exit(2)
    except OSError as error:
        remedy = "Check the path, its permissions and the space left on the disk."
        where = f": {error.filename}" if error.filename else ""
        typer.echo(f"course: {error.strerror or error}{where}. {remedy}", err=True)
        sys.exit(2)
    except (RuntimeError, MemoryError) as error:
        if (said := _of_the_machine(error)) is None:
            raise
        typer.echo(f"course: {said}", err=True)
        sys.exit(2)
    except (KeyboardInterrupt, typer.Abort):
        status = 130
    if status == 130:
        typer.echo("course: stopped.", err=True)
    # typer hands the code of a typer.Exit back instead of leaving with it.
    sys.exit(status if isinstance(status, int) else 0)


def _of_the_machine(error: BaseException) -> str | None:
    """What to tell where it is the machine and not the course that failed; None: it is not."""
    from course_lib.training.memory import is_out_of_memory

    if is_out_of_memory(error):
        return (
            "Memory ran out. Close other programs, or ask for less: a smaller --beam, fewer or "
            "shorter sentences. What was trained is kept."
        )
    if "no kernel image is available" in str(error):
        return (
            "This graphics card is too old for this PyTorch. Set CUDA_VISIBLE_DEVICES= to compute "
            "on the processor."
        )
    return None
