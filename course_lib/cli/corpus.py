"""`course corpus`: which corpora there are, having them, checking them, looking at them."""

from pathlib import Path
from typing import Annotated

import typer

from course_lib.cli.runs import LanguagePair
from course_lib.corpora import multi30k, python_docs
from course_lib.corpora.corpus import Split, first_pairs
from course_lib.corpora.own_text import OwnText, links_beside, pairs_of
from course_lib.corpora.registry import CORPORA, chosen, describe, load_corpus
from course_lib.corpora.wmt14 import training_files
from course_lib.corpora.wmt14 import verify as verify_wmt14
from course_lib.errors import CourseError

Name = Annotated[str, typer.Argument(help=f"One of {', '.join(CORPORA)}.")]
Text = Annotated[
    str, typer.Argument(help=f"One of {', '.join(CORPORA)}, or a folder or table of your own.")
]
DOWNLOADED = {"multi30k": multi30k, "python-docs": python_docs}
"""The modules that have and check the files of corpora small enough to download at once."""


commands = typer.Typer(help="List, fetch, verify and show corpora.", no_args_is_help=True)


@commands.command("list")
def list_corpora() -> None:
    """List the corpora: what they are, their pairs, their size and the terms of their use."""
    for name, description in CORPORA.items():
        typer.echo(f"{name:11} {description.what}")
        typer.echo(f"{'':11} pairs: {', '.join(description.pairs)}")
        typer.echo(f"{'':11} size:  {description.size}")
        typer.echo(f"{'':11} terms: {description.terms}")


@commands.command()
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
    paths = DOWNLOADED[name].fetch()
    folders = sorted({str(path.parent) for path in paths})
    sizes = f"{len(paths)} file{'s' * (len(paths) > 1)}"
    typer.echo(f"{name}: {sizes}, every SHA-256 as published, in {', '.join(folders)}.")


@commands.command()
def verify(name: Name) -> None:
    """Check a corpus; exit status 1 if a file is missing or not as published."""
    if describe(name).generated:
        typer.echo(f"{name} is generated on this machine: there is nothing to verify.")
        return
    if name == "wmt14":
        prepared = verify_wmt14()
        typer.echo(f"{name}: {len(prepared):,} training pairs in {prepared.folder}, as written.")
        return
    files = DOWNLOADED[name].verify()
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


@commands.command()
def show(
    name: Text,
    pair: LanguagePair = None,
    split: Annotated[str, typer.Option(help="Which part to show.")] = "train",
    n: Annotated[
        int, typer.Option("--n", min=1, max=1_000_000, help="How many sentence pairs.")
    ] = 5,
) -> None:
    """Show the first sentence pairs of a split as the models see them, and as people read them."""
    # A generated split starts the same however long it is: no more is made than will be shown.
    name, pair = chosen(name, pair)
    description = CORPORA.get(name)
    few = {"train": n, "val": n, "test": n} if description and description.generated else {}
    few = {"train": n} if name == "wmt14" else few
    corpus = load_corpus(name, pair, **few)
    if corpus.stream is not None:
        corpus.splits["train"] = first_pairs(corpus.stream, pair, n)
    shown = corpus.split(split)
    sizes = ", ".join(f"{part} {len(content):,}" for part, content in corpus.splits.items())
    size = description.size if description and few else f"{sizes} pairs"
    typer.echo(f"{corpus.name} {corpus.pair}: {size}")
    for note in corpus.notes:
        typer.echo(note)
    for position in range(min(n, len(shown))):
        typer.echo(f"\n{split} {position + 1}\n{_pair_as_text(shown, position)}")


def _known(encoding: str | None) -> str | None:
    """Refuse what is no encoding; for an option's callback."""
    try:
        b"a".decode("utf-8" if encoding is None else encoding)
    except UnicodeDecodeError:  # known, and of more bytes than one
        return encoding
    except (LookupError, ValueError) as error:
        raise typer.BadParameter(
            f"{encoding!r} is no encoding. Name one, as in cp1252, utf-16 or euc_jp."
        ) from error
    return encoding


@commands.command()
def check(
    text: Annotated[
        Path, typer.Argument(help="A folder with train.en, train.es and so on, or a table (TSV).")
    ],
    pair: Annotated[
        str | None, typer.Option(help="Where there are more than two languages.")
    ] = None,
    encoding: Annotated[
        str | None,
        typer.Option(
            callback=_known, help="What lines that are not UTF-8 are in, as cp1252 or utf-16."
        ),
    ] = None,
    fix: Annotated[bool, typer.Option("--fix", help="Write a copy without those lines.")] = False,
) -> None:
    """Say what is wrong with a text of your own, with line numbers; exit status 1 if anything is.

    What may be right is asked about, and is not a fault. With --fix, NAME-clean is written beside
    it, in UTF-8, and with it the lines that it is without; the text itself is never touched.
    """
    from course_lib.corpora.text_checker import (
        LEFT_OUT,
        MESSAGES,
        TextChecker,
        ask,
        encoding_of,
        write_cleaned,
    )
    from course_lib.corpora.text_checker import check as faults_of
    from course_lib.evaluation.links import counted_from_one, read_links

    known = pairs_of(text, encoding)
    if pair is None and len(known) > 2:
        raise CourseError(f"{text} has several pairs. Add --pair, as in --pair {known[0]}.")
    if pair is None and text.is_file() and not known:
        own = OwnText(text, ("und", "und"), encoding)
    else:
        own = OwnText.find(text, (known or ["en-es"])[0] if pair is None else pair, encoding)
    checker = TextChecker(own)
    faults = faults_of(checker)
    for fault in (*faults, *ask(checker)):
        typer.echo(fault)
    for split in own.splits():
        gold = links_beside(str(text), split)
        if gold is not None and (question := counted_from_one(read_links(gold))):
            typer.echo(f"{gold}: {question}")
    if not faults:
        typer.echo(f"{text}: {', '.join(own.splits())}: nothing is wrong.")
    if fix and (faults or encoding):
        goal, without = write_cleaned(checker)
        left_out = f"{LEFT_OUT} has the {without:,} lines that it is without" * bool(without)
        typer.echo(f"Written: {goal}, in UTF-8. {left_out or 'Every line is in it'}.")
    elif any(MESSAGES["encoding"] in fault for fault in faults):
        _, name = encoding_of(own)
        look = f" They look like {name}." if name else ""
        typer.echo(f"Lines that are not UTF-8 are converted with --encoding NAME --fix.{look}")
    elif encoding:
        typer.echo("With --fix you get a copy in UTF-8, which can be trained on.")
    elif faults and not any(MESSAGES["unequal"] in fault for fault in faults):
        typer.echo("With --fix you get a copy without these lines.")
    if faults:
        raise typer.Exit(1)


def _pair_as_text(part: Split, position: int) -> str:
    lines = [
        f"  source     {' '.join(part.source[position])}",
        f"  target     {' '.join(part.target[position])}",
        f"  reference  {part.reference[position]}",
    ]
    if part.links is not None:
        links = " ".join(f"{i}-{j}" for i, j in sorted(part.links[position]))
        lines.append(f"  links      {links}")
    return "\n".join(lines)
