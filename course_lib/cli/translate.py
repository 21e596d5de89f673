"""`course translate`: a run at work on sentences of one's own."""

import math
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from course_lib.cli.runs import RunPath
from course_lib.errors import CourseError

if TYPE_CHECKING:
    from course_lib.training import Run

Beam = Annotated[
    int, typer.Option(max=1000, help="Hypotheses kept a sentence; 1 is greedy search.")
]
LengthPenalty = Annotated[
    float | None,
    typer.Option(
        help="Rank by log-probability / length ** this; 0: without normalisation.",
        show_default="the run's",
    ),
]
Tokenized = Annotated[
    bool, typer.Option("--tokenized", help="Input and output are in the run's tokenisation.")
]
NBest = Annotated[
    int | None, typer.Option(min=1, help="The so many best translations, with their scores.")
]


def translate(
    run: RunPath,
    beam: Beam = 12,
    length_penalty: LengthPenalty = None,
    tokenized: Tokenized = False,
    n_best: NBest = None,
) -> None:
    """Translate standard input, one sentence a line, to standard output.

    With --n-best each line is `NUMBER ||| TRANSLATION ||| SCORE`, numbers from 0, as Moses has it.
    """
    from course_lib import search
    from course_lib.training import load_run

    if length_penalty is not None and not math.isfinite(length_penalty):
        raise CourseError("--length-penalty is not a number. Give one, as in 0.6.")
    if n_best is not None and n_best > beam:
        raise CourseError(f"A beam has no {n_best} best. Add --beam {n_best}.")
    loaded = load_run(run)
    sentences = [line.split() if tokenized else loaded.tokens(line) for line in _lines()]
    encoded = [loaded.source_vocabulary.encode(sentence) for sentence in sentences]
    penalty = loaded.config.recipe.length_penalty if length_penalty is None else length_penalty
    if n_best is not None:
        _write_n_best(loaded, encoded, n_best, beam, penalty, tokenized)
        return
    translations = search.translate(loaded.model, encoded, k=beam, length_penalty=penalty)
    for sentence, hypothesis in zip(sentences, translations, strict=True):
        typer.echo(_text(loaded, hypothesis.tokens if sentence else [], tokenized))


def _write_n_best(
    loaded: "Run",
    encoded: list[list[int]],
    n_best: int,
    beam: int,
    penalty: float,
    tokenized: bool,
) -> None:
    """A line for each translation of each sentence that has words."""
    from course_lib import search

    for number, sentence in enumerate(encoded):
        translations = search.n_best(loaded.model, sentence, n_best, beam, penalty)
        for written, score in translations if sentence else []:
            typer.echo(f"{number} ||| {_text(loaded, written, tokenized)} ||| {score:.4f}")


def _text(loaded: "Run", written: list[int], tokenized: bool) -> str:
    words = loaded.target_vocabulary.decode(written)
    return " ".join(words) if tokenized else loaded.text(words)


def _lines() -> list[str]:
    """The lines of standard input, without their ends."""
    try:
        return [line.rstrip("\n") for line in sys.stdin]
    except UnicodeDecodeError as error:
        raise CourseError("The input is not UTF-8. Convert it first, as with iconv.") from error
