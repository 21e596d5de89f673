"""`course bench`: how fast the course's code is, measured here and now.

What it is measured against lies in `benchmarks/`, beside the library and not in it, so these
commands need a checkout of the course.
"""

import importlib
import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from course_lib.cli.runs import Json
from course_lib.errors import CourseError

FOLDER = "benchmarks"

Threads = Annotated[int, typer.Option(min=1, max=1024, help="Threads of each program.")]
BatchSize = Annotated[int, typer.Option(min=1, max=10_000, help="Sentences side by side.")]
Rounds = Annotated[int, typer.Option(min=1, max=1000, help="Repetitions; medians are reported.")]
CorpusName = Annotated[str, typer.Option("--corpus", help="multi30k, or toy to try it out.")]

commands = typer.Typer(
    help="Speed against the textbook implementation and the hardware's limit.",
    no_args_is_help=True,
)


@commands.command()
def train(
    corpus: CorpusName = "multi30k",
    threads: Threads = 1,
    batch: BatchSize = 64,
    rounds: Rounds = 5,
    as_json: Json = False,
) -> None:
    """Training: target tokens a second, against the textbook's with and without bucketing."""
    measure = _load("training").measure_training
    _show(measure(corpus=corpus, threads=threads, batch=batch, rounds=rounds), as_json)


@commands.command()
def decode(
    corpus: CorpusName = "multi30k",
    threads: Threads = 1,
    batch: BatchSize = 64,
    rounds: Rounds = 3,
    as_json: Json = False,
) -> None:
    """Beam search: sentences a second, against a loop over hypotheses.

    A model is trained for a moment and translates its training sentences.
    """
    measure = _load("searches").measure_decode
    _show(measure(corpus=corpus, threads=threads, batch=batch, rounds=rounds), as_json)


@commands.command()
def attention(
    threads: Threads = 1, batch: BatchSize = 64, rounds: Rounds = 5, as_json: Json = False
) -> None:
    """One look back: every score, keys projected once against keys projected at every step."""
    measure = _load("attention").measure_attention
    _show(measure(threads=threads, batch=batch, rounds=rounds), as_json)


@commands.command()
def grade(rounds: Rounds = 1, as_json: Json = False) -> None:
    """Grading a class of 24 in sandboxes, against nbgrader's own commands. Takes minutes."""
    _show(_load("grading").measure_grading(rounds=rounds), as_json)


@commands.command()
def pipeline(
    pairs: Annotated[
        int, typer.Option(min=1000, max=10**8, help="Sentence pairs of the corpus.")
    ] = 50_000,
    as_json: Json = False,
) -> None:
    """Reading a corpus too large for memory: words a second and peak memory of every stage."""
    _show(_load("pipeline").measure_pipeline(sizes=(pairs,)), as_json)


def checkout(start: Path | None = None) -> Path:
    """The folder of the course's repository: the nearest at or above `start` with benchmarks/.

    Raises:
        CourseError: there is none.
    """
    start = (start or Path.cwd()).resolve()
    for folder in (start, *start.parents):
        if (folder / FOLDER / "textbook.py").is_file():
            return folder
    raise CourseError(
        f"`course bench` compares with code that lies in the course's repository, and there is no "
        f"{FOLDER}/ at or above {start}. Change into a clone of the course and try again."
    )


def _load(module: str) -> Any:
    root = str(checkout())
    if root not in sys.path:
        sys.path.insert(0, root)
    try:
        return importlib.import_module(f"{FOLDER}.{module}")
    except ModuleNotFoundError as error:
        raise CourseError(
            f'Not installed: {error.name}. Run `pip install -e ".[classes,scale]"` in the clone.'
        ) from error


def _show(result: dict[str, Any], as_json: bool) -> None:
    report = _load("report")
    typer.echo(json.dumps(result, indent=1) if as_json else report.as_text(result))
