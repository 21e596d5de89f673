"""`course translate`: a run at work on sentences of one's own."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated

import typer

from course_lib.cli.runs import Beam, RunPath, finite
from course_lib.errors import CourseError

LengthPenalty = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=10,
        callback=finite,
        help="Rank by log-probability / length ** this; 0: without normalisation.",
        show_default="the run's",
    ),
]
Tokenized = Annotated[
    bool, typer.Option("--tokenized", help="Input and output are in the run's tokenisation.")
]
CHUNK = 1 << 16
"""The most bytes that are read at a time."""
NBest = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=1000,
        help="How many translations a sentence, best first, with their scores.",
    ),
]


def translate(
    run: RunPath,
    beam: Beam = 12,
    length_penalty: LengthPenalty = None,
    tokenized: Tokenized = False,
    n_best: NBest = None,
) -> None:
    """Translate standard input, one sentence a line, to standard output; at once where one waits.

    With --n-best each line is `NUMBER ||| TRANSLATION ||| SCORE`, numbers from 0, as Moses has it.
    """
    from course_lib import search
    from course_lib.training import load_run

    if n_best is not None and n_best > beam:
        raise CourseError(f"A beam has no {n_best} best. Add --beam {n_best}.")
    loaded = load_run(run)
    how = replace(loaded.how, rules="tokens") if tokenized else loaded.how
    source, target = loaded.config.pair.split("-") if "-" in loaded.config.pair else ("", "")
    recipe = loaded.config.recipe
    penalty = recipe.length_penalty if length_penalty is None else length_penalty

    def text(written: list[int]) -> str:
        return how.text(loaded.target_vocabulary.decode(written), target)

    done = 0
    for lines in _lines():
        sentences = [how.tokens(line, source) for line in lines]
        for number, sentence in enumerate(sentences, done + 1):
            if len(sentence) > recipe.max_length:
                typer.echo(
                    f"Line {number} has {len(sentence):,} words, and training had none with over "
                    f"{recipe.max_length:,}: this takes long, and is hardly translated well.",
                    err=True,
                )
        encoded = [loaded.source_vocabulary.encode(sentence) for sentence in sentences]
        if n_best is None:
            translations = search.translate(loaded.model, encoded, k=beam, length_penalty=penalty)
            for sentence, hypothesis in zip(sentences, translations, strict=True):
                typer.echo(text(hypothesis.tokens if sentence else []))
        else:
            for number, numbers in enumerate(encoded, done):
                best = search.n_best(loaded.model, numbers, n_best, beam, penalty)
                for written, score in best if numbers else []:
                    typer.echo(f"{number} ||| {text(written)} ||| {score:.4f}")
        sys.stdout.flush()
        done += len(lines)


def _lines() -> Iterator[list[str]]:
    """The lines of standard input without their ends, as many at a time as are there already."""
    if sys.stdin is None:
        raise CourseError("There is no standard input. Give it a text, a sentence a line.")
    stream, rest, done = getattr(sys.stdin, "buffer", None), b"", 0
    if stream is None:  # a text stream in its place, as in a notebook
        yield sys.stdin.read().removesuffix("\n").split("\n")
        return
    while chunk := stream.read1(CHUNK):
        *lines, rest = (rest + chunk).split(b"\n")
        if lines:
            yield _decoded(lines, done)
            done += len(lines)
    if rest:
        yield _decoded([rest], done)


def _decoded(lines: list[bytes], before: int) -> list[str]:
    """Lines as text; `before` are the lines that were read before them."""
    texts = []
    for number, line in enumerate(lines, before + 1):
        try:
            texts.append(line.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise CourseError(
                f"The input's line {number} is not UTF-8. Convert it first, as with iconv."
            ) from error
    return texts
