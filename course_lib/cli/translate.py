"""`course translate`: a run at work on sentences of one's own."""

import math
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from course_lib.cli.runs import RunPath
from course_lib.errors import CourseError

if TYPE_CHECKING:
    from course_lib.search import Hypothesis
    from course_lib.training import Run

Beam = Annotated[
    int | None,
    typer.Option(
        max=1000, help="Hypotheses kept a sentence; 1 is greedy search.", show_default="12"
    ),
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
MinLength = Annotated[
    int, typer.Option(max=1000, help="Words, or pieces of words, that a translation has at least.")
]
NoUnk = Annotated[bool, typer.Option("--no-unk", help="Never write the unknown word.")]
ReplaceUnk = Annotated[
    bool,
    typer.Option("--replace-unk", help="Write the source word most looked at for the unknown one."),
]
Sample = Annotated[bool, typer.Option("--sample", help="Draw words instead of searching.")]
Temperature = Annotated[
    float | None, typer.Option(help="With --sample: below 1 nearer to the most probable words.")
]
TopK = Annotated[int | None, typer.Option(help="With --sample: among so many words.")]
TopP = Annotated[
    float | None, typer.Option(help="With --sample: among the words that have this probability.")
]
Seed = Annotated[int | None, typer.Option(help="With --sample: decides what is drawn (0).")]
NBest = Annotated[
    int | None, typer.Option(min=1, help="The so many best translations, with their scores.")
]


def translate(
    run: RunPath,
    beam: Beam = None,
    length_penalty: LengthPenalty = None,
    tokenized: Tokenized = False,
    min_length: MinLength = 0,
    no_unk: NoUnk = False,
    replace_unk: ReplaceUnk = False,
    sample: Sample = False,
    temperature: Temperature = None,
    top_k: TopK = None,
    top_p: TopP = None,
    seed: Seed = None,
    n_best: NBest = None,
) -> None:
    """Translate standard input, one sentence a line, to standard output.

    With --n-best each line is `NUMBER ||| TRANSLATION ||| SCORE`, numbers from 0, as Moses has it.
    """
    from course_lib import search
    from course_lib.corpora.subwords import Pieces
    from course_lib.training import load_run

    drawing = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed}
    searching = {"beam": beam, "length_penalty": length_penalty}
    _refuse_mixed(sample, _given(drawing), _given(searching))
    if length_penalty is not None and not math.isfinite(length_penalty):
        raise CourseError("--length-penalty is not a number. Give one, as in 0.6.")
    if no_unk and replace_unk:
        raise CourseError(
            "With --no-unk there is no unknown word for --replace-unk. Leave one of the two out."
        )
    width = 12 if beam is None else beam
    if n_best is not None:
        _refuse_n_best(n_best, width, bool(sample or replace_unk or no_unk or min_length))
    loaded = load_run(run)
    if replace_unk and isinstance(loaded.target_vocabulary, Pieces):
        raise CourseError(
            f"{run} writes pieces of words, and knows no unknown word but for a character that it "
            "never saw. Leave --replace-unk out."
        )
    lines = _lines()
    sentences = [line.split() if tokenized else loaded.tokens(line) for line in lines]
    encoded = [loaded.source_vocabulary.encode(sentence) for sentence in sentences]
    penalty = loaded.config.recipe.length_penalty if length_penalty is None else length_penalty
    if n_best is not None:
        _write_n_best(loaded, encoded, n_best, width, penalty, tokenized)
        return
    rules: dict[str, Any] = {"min_length": min_length, "forbid_unk": no_unk}
    if sample:
        settings = {"seed": 0, "temperature": 1.0} | _given(drawing)
        hypotheses = search.sample(loaded.model, encoded, **settings, **rules)
    else:
        hypotheses = search.translate(
            loaded.model, encoded, k=width, length_penalty=penalty, **rules
        )
    for sentence, hypothesis in zip(sentences, hypotheses, strict=True):
        words = _words(loaded, hypothesis, sentence, replace_unk) if sentence else []
        typer.echo(" ".join(words) if tokenized else loaded.text(words))


def _words(
    loaded: "Run", hypothesis: "Hypothesis", sentence: list[str], replace_unk: bool
) -> list[str]:
    from course_lib.search import replace_unknown

    if replace_unk:
        return replace_unknown(hypothesis, loaded.target_vocabulary, sentence)
    return loaded.target_vocabulary.decode(hypothesis.tokens)


def _refuse_n_best(n_best: int, width: int, others: bool) -> None:
    if others:
        raise CourseError(
            "--n-best goes with --beam and --length-penalty alone. Leave the rest out."
        )
    if n_best > width:
        raise CourseError(f"A beam has no {n_best} best. Add --beam {n_best}.")


def _write_n_best(
    loaded: "Run",
    encoded: list[list[int]],
    n_best: int,
    width: int,
    penalty: float,
    tokenized: bool,
) -> None:
    """A line for each translation of each sentence that has words."""
    from course_lib import search

    for number, words_in in enumerate(encoded):
        found = search.n_best(loaded.model, words_in, n_best, width, penalty)
        for written, score in found if words_in else []:
            best = loaded.target_vocabulary.decode(written)
            text = " ".join(best) if tokenized else loaded.text(best)
            typer.echo(f"{number} ||| {text} ||| {score:.4f}")


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """The options that were given."""
    return {name: value for name, value in options.items() if value is not None}


def _refuse_mixed(sample: bool, drawing: dict[str, Any], searching: dict[str, Any]) -> None:
    """Refuse options of sampling in a search, and options of a search in sampling."""
    others = searching if sample else drawing
    if not others:
        return
    option = next(iter(others)).replace("_", "-")
    if sample:
        raise CourseError(f"--{option} searches and --sample draws. Leave one of the two out.")
    raise CourseError(f"--{option} is about drawing words. Add --sample, or leave it out.")


def _lines() -> list[str]:
    """The lines of standard input, without their ends."""
    try:
        return [line.rstrip("\n") for line in sys.stdin]
    except UnicodeDecodeError as error:
        raise CourseError("The input is not UTF-8. Convert it first, as with iconv.") from error
