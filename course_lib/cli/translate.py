"""`course translate`: a run at work on sentences of one's own."""

import math
import sys
from typing import Annotated

import typer

from course_lib.cli.runs import RunPath
from course_lib.errors import CourseError

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
) -> None:
    """Translate standard input, one sentence a line, to standard output."""
    from course_lib import search
    from course_lib.corpora.subwords import Pieces
    from course_lib.corpora.tokenization import detokenize, tokenize
    from course_lib.training import load_run

    drawing = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed}
    asked = {name: value for name, value in drawing.items() if value is not None}
    if asked and not sample:
        option = next(iter(asked)).replace("_", "-")
        raise CourseError(f"--{option} is about drawing words. Add --sample, or leave it out.")
    if sample and (beam is not None or length_penalty is not None):
        option = "beam" if beam is not None else "length-penalty"
        raise CourseError(f"--{option} searches and --sample draws. Leave one of the two out.")
    if length_penalty is not None and not math.isfinite(length_penalty):
        raise CourseError("--length-penalty is not a number. Give one, as in 0.6.")
    if no_unk and replace_unk:
        raise CourseError(
            "With --no-unk there is no unknown word for --replace-unk. Leave one of the two out."
        )
    loaded = load_run(run)
    if replace_unk and isinstance(loaded.target_vocabulary, Pieces):
        raise CourseError(
            f"{run} writes pieces of words, and knows no unknown word but for a character that it "
            "never saw. Leave --replace-unk out."
        )
    source_language, _, target_language = loaded.config.pair.partition("-")
    in_words = tokenized or not target_language  # token strings have no language
    try:
        lines = [line.rstrip("\n") for line in sys.stdin]
    except UnicodeDecodeError as error:
        raise CourseError("The input is not UTF-8. Convert it first, as with iconv.") from error
    sentences = [line.split() if in_words else tokenize(line, source_language) for line in lines]
    encoded = [loaded.source_vocabulary.encode(sentence) for sentence in sentences]
    if sample:
        found = search.sample(
            loaded.model,
            encoded,
            seed or 0,
            temperature=1.0 if temperature is None else temperature,
            top_k=top_k,
            top_p=top_p,
            min_length=min_length,
            forbid_unk=no_unk,
        )
    else:
        found = search.translate(
            loaded.model,
            encoded,
            k=12 if beam is None else beam,
            length_penalty=(
                loaded.config.recipe.length_penalty if length_penalty is None else length_penalty
            ),
            min_length=min_length,
            forbid_unk=no_unk,
        )
    for sentence, hypothesis in zip(sentences, found, strict=True):
        if not sentence:
            words = []
        elif replace_unk:
            words = search.replace_unknown(hypothesis, loaded.target_vocabulary, sentence)
        else:
            words = loaded.target_vocabulary.decode(hypothesis.tokens)
        typer.echo(" ".join(words) if in_words else detokenize(words, target_language))


def register(app: typer.Typer) -> None:
    """Put the command on the command line."""
    app.command()(translate)
