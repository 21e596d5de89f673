"""`course corpus`: which corpora there are, having them, checking them, looking at them."""

from typing import Annotated

import typer

from course_lib.corpora.corpus import Corpus, first_pairs
from course_lib.corpora.multi30k import fetch as fetch_multi30k
from course_lib.corpora.multi30k import verify as verify_multi30k
from course_lib.corpora.registry import CORPORA, describe, inconsistencies, load_corpus
from course_lib.corpora.wmt14 import training_files
from course_lib.corpora.wmt14 import verify as verify_wmt14
from course_lib.errors import CourseError

Name = Annotated[str, typer.Argument(help=f"One of {', '.join(CORPORA)}.")]
Pair = Annotated[str, typer.Option(help="Source and target language, as en-de.")]


def register(app: typer.Typer) -> None:
    """Add the `corpus` commands to `app`."""
    commands = typer.Typer(help="List, fetch, verify and show corpora.", no_args_is_help=True)
    commands.command("list")(list_corpora)
    commands.command()(fetch)
    commands.command()(verify)
    commands.command()(show)
    app.add_typer(commands, name="corpus")


def list_corpora() -> None:
    """List the corpora: what they are, their pairs, their size and the terms of their use."""
    for description in CORPORA.values():
        typer.echo(f"{description.name:9} {description.what}")
        typer.echo(f"{'':9} pairs: {', '.join(description.pairs)}")
        typer.echo(f"{'':9} size:  {description.size}")
        typer.echo(f"{'':9} terms: {description.terms}")


def fetch(name: Name) -> None:
    """Have a corpus's files on this machine: download what is missing, check every SHA-256.

    Of wmt14, tokenise every training pair into the cache: hours; a stopped one goes on.
    """
    if describe(name).generated:
        typer.echo(f"{name} is generated on this machine: there is nothing to fetch.")
        return
    if name == "wmt14":
        files = training_files()
        typer.echo(f"{name}: {len(files):,} training pairs, tokenised, in {files.folder}.")
        return
    paths = fetch_multi30k()
    folders = sorted({str(path.parent) for path in paths})
    typer.echo(f"{name}: {len(paths)} files, every SHA-256 as published, in {', '.join(folders)}.")


def verify(name: Name) -> None:
    """Check a corpus; exit status 1 if a file is missing or not as published."""
    if describe(name).generated:
        problems = inconsistencies(load_corpus(name))
        for problem in problems:
            typer.echo(problem)
        if problems:
            raise typer.Exit(1)
        typer.echo(f"{name}: splits aligned, links inside their sentences, no pair in two splits.")
        return
    if name == "wmt14":
        prepared = verify_wmt14()
        typer.echo(f"{name}: {len(prepared):,} training pairs in {prepared.folder}, as written.")
        return
    files = verify_multi30k()
    wrong = []
    for entry in files:
        optional = "" if entry.required or entry.state != "missing" else " (optional test set)"
        typer.echo(f"{entry.state:10} {entry.path or entry.name}{optional}")
        if entry.state != "ok" and not optional:
            wrong.append(entry)
    if wrong:
        own = [str(entry.path) for entry in wrong if entry.path is not None]
        remedy = f"Delete {', '.join(own)}, then run" if own else "Run"
        typer.echo(
            f"course: {len(wrong)} of {name}'s {len(files)} files missing or not as published. "
            f"{remedy} `course corpus fetch {name}`.",
            err=True,
        )
        raise typer.Exit(1)


def show(
    name: Name,
    pair: Pair = "en-de",
    split: Annotated[str, typer.Option(help="Which part to show.")] = "train",
    n: Annotated[int, typer.Option("--n", min=1, help="How many sentence pairs.")] = 5,
) -> None:
    """Show the first sentence pairs of a split as the models see them, and as people read them."""
    # A generated split starts the same however long it is: no more is made than will be shown.
    few = {"train": n, "val": n, "test": n} if describe(name).generated else {}
    few = {"train": n} if name == "wmt14" else few
    corpus = load_corpus(name, pair, **few)
    if corpus.stream is not None:
        corpus.splits["train"] = first_pairs(corpus.stream, pair, n)
    if split not in corpus.splits:
        raise CourseError(
            f"{name} has no split {split!r}. Choose one of {', '.join(corpus.splits)}."
        )
    sizes = ", ".join(f"{part} {len(content):,}" for part, content in corpus.splits.items())
    typer.echo(f"{corpus.name} {corpus.pair}: {describe(name).size if few else f'{sizes} pairs'}")
    for position in range(min(n, len(corpus.splits[split]))):
        typer.echo(_pair_as_text(corpus, split, position))


def _pair_as_text(corpus: Corpus, split: str, position: int) -> str:
    part = corpus.splits[split]
    lines = [
        f"\n{split} {position + 1}",
        f"  source     {' '.join(part.source[position])}",
        f"  target     {' '.join(part.target[position])}",
        f"  reference  {part.reference[position]}",
    ]
    if part.links is not None:
        links = " ".join(f"{i}-{j}" for i, j in sorted(part.links[position]))
        lines.append(f"  links      {links}")
    return "\n".join(lines)
