"""`course translate`: a run at work on sentences of one's own."""

import math
import sys
from typing import Annotated

import typer

from course_lib.cli.runs import Beam, RunPath
from course_lib.errors import CourseError

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
    int | None,
    typer.Option(min=1, help="So many translations a sentence, best first, with their scores."),
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

    def text(written: list[int]) -> str:
        words = loaded.target_vocabulary.decode(written)
        return " ".join(words) if tokenized else loaded.text(words)

    if n_best is None:
        translations = search.translate(loaded.model, encoded, k=beam, length_penalty=penalty)
        for sentence, hypothesis in zip(sentences, translations, strict=True):
            typer.echo(text(hypothesis.tokens if sentence else []))
        return
    for number, numbers in enumerate(encoded):
        best = search.n_best(loaded.model, numbers, n_best, beam, penalty) if numbers else []
        for written, score in best:
            typer.echo(f"{number} ||| {text(written)} ||| {score:.4f}")


def _lines() -> list[str]:
    """The lines of standard input, without their ends."""
    try:
        return [line.rstrip("\n") for line in sys.stdin]
    except UnicodeDecodeError as error:
        raise CourseError("The input is not UTF-8. Convert it first, as with iconv.") from error
