"""`course cost`: what a training would cost, before anybody pays for it."""

import json
from itertools import chain, islice
from math import ceil
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from course_lib.cli.runs import CORPUS, Json, LanguagePair, Preset, Set, finite, loaded_corpus
from course_lib.corpora.registry import chosen
from course_lib.errors import CourseError

if TYPE_CHECKING:
    from course_lib.training import Recipe, RunConfig

GIB = 2**30


def cost(
    model: Annotated[str, typer.Option(help="rnnsearch or rnnencdec.")] = "rnnsearch",
    preset: Preset = "paper",
    settings: Set = None,
    corpus: Annotated[
        str | None, typer.Option(help=CORPUS, show_default="the paper's, which is not read")
    ] = None,
    pair: LanguagePair = None,
    updates: Annotated[
        int | None,
        typer.Option(
            min=1, max=10**9, help="Minibatches; all epochs of --corpus.", show_default="288000"
        ),
    ] = None,
    tflops: Annotated[
        float | None,
        typer.Option(
            min=1e-6,
            max=1e6,
            callback=finite,
            help="What the device sustains, in 10^12 operations a second.",
        ),
    ] = None,
    words_per_second: Annotated[
        float | None,
        typer.Option(
            min=1e-3,
            max=1e12,
            callback=finite,
            help="Instead: target words a second that it trains with.",
        ),
    ] = None,
    price: Annotated[
        float | None,
        typer.Option(min=0, max=1e6, callback=finite, help="Of an hour on the device."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Parameters, operations, memory, hours and money of a training.

    With --corpus vocabularies, lengths and minibatches are those that `course train` has.
    """
    from course_lib.training import RunConfig, parse_changes

    if pair is not None and corpus is None:
        raise CourseError("--pair is a pair of a corpus. Add --corpus.")
    name, pair = ("wmt14", "en-fr") if corpus is None else chosen(corpus, pair)
    _check_rate(tflops, words_per_second, price)
    config = RunConfig(model, name, pair, preset, changes=parse_changes(settings or []))
    text = typical(config.recipe) if corpus is None else sizes_of_text(config)
    text = text._replace(updates=updates or text.updates)
    bill = predicted(config, text, tflops, words_per_second, price)
    typer.echo(json.dumps(bill, indent=1) if as_json else as_text(bill))


class TextSizes(NamedTuple):
    """What decides the cost of a training about its text."""

    vocabularies: tuple[int, int]  # marks included
    words: tuple[float, float]  # of an average pair, end marks apart
    longest: int  # words or pieces on a side, likewise
    updates: int


def typical(recipe: "Recipe") -> TextSizes:
    """The paper's text, in words or in the recipe's pieces."""
    from course_lib.corpora.vocabulary import MARKS
    from course_lib.training.cost import PAPER_WORDS

    size = recipe.subwords or 30_000 + len(MARKS)  # the marks are among the pieces
    return TextSizes((size, size), PAPER_WORDS, recipe.max_length, 288_000)


def sizes_of_text(config: "RunConfig") -> TextSizes:
    """The text that a training would read; of a stream the lengths are those of a sample."""
    from course_lib.training.estimate import SAMPLE
    from course_lib.training.minibatches import make_minibatches
    from course_lib.training.vocabularies import make_vocabularies

    corpus, recipe = loaded_corpus(config), config.recipe
    source, target = make_vocabularies(config, corpus)
    minibatches = make_minibatches(config, corpus, (source, target))
    sample = None if corpus.stream is None else SAMPLE
    pairs = chain.from_iterable(islice(minibatches.epoch(0), sample))
    lengths = [(len(x), len(y)) for x, y in pairs]
    return TextSizes(
        (len(source), len(target)),
        (fmean(x for x, _ in lengths), fmean(y for _, y in lengths)),
        max(map(max, lengths)) if sample is None else recipe.max_length,
        recipe.epochs * minibatches.per_epoch,
    )


def predicted(
    config: "RunConfig",
    text: TextSizes,
    tflops: float | None = None,
    words_per_second: float | None = None,
    price: float | None = None,
) -> dict[str, Any]:
    """Everything that `course cost` says."""
    from course_lib.training import cost as formulas

    recipe = config.recipe
    model_config = config.model_config(*text.vocabularies)
    work = formulas.Workload(text.updates, recipe.batch_size, *text.words)
    at_once = ceil(work.batch / recipe.accumulation)
    memory = formulas.memory(model_config, at_once, text.longest + 1, text.longest + 1)
    bill: dict[str, Any] = {
        "model": config.model,
        "preset": config.preset,
        "parameters": formulas.parameters(model_config),
        "vocabularies": text.vocabularies,
        "words": text.words,
        "updates": text.updates,
        "batch": recipe.batch_size,
        "target_words": work.words,
        "flops": work.flops(model_config),
        "flops_a_word": work.flops(model_config) / work.words,
        "longest": text.longest,
        "memory_bytes": sum(memory.values()),
        "memory": memory,
        "hours": None,
        "price": None,
    }
    seconds = None
    if tflops is not None:
        seconds = work.flops(model_config) / (tflops * 1e12)
    elif words_per_second is not None:
        seconds = work.words / words_per_second
    if seconds is not None:
        bill["hours"] = seconds / 3600
        bill["price"] = None if price is None else price * bill["hours"]
    return bill


def _check_rate(tflops: float | None, words: float | None, price: float | None) -> None:
    """Refuse what says nothing about time or money, before a corpus is read for it."""
    rates = [rate for rate in (tflops, words) if rate is not None]
    if len(rates) > 1:
        raise CourseError(
            "Say how fast the device is by one number: --tflops or --words-per-second."
        )
    if price is not None and not rates:
        raise CourseError(
            "A price needs to know how fast the device is. Add --tflops or --words-per-second."
        )


def as_text(bill: dict[str, Any]) -> str:
    """The prediction for a person."""
    memory = [f"{name} {size / GIB:.2f}" for name, size in bill["memory"].items()]
    sizes, words = bill["vocabularies"], bill["words"]
    lines = [
        f"{bill['model']}, preset {bill['preset']},",
        f"         {bill['parameters']:,} parameters",
        f"text     vocabularies of {sizes[0]:,} and {sizes[1]:,};",
        f"         pairs of {words[0]:.1f} and {words[1]:.1f} words (mean)",
        f"work     {bill['updates']:,} updates of {bill['batch']} pairs",
        f"         {bill['target_words'] / 1e6:,.1f} million target words,",
        f"         {bill['flops_a_word'] / 1e6:,.1f} MFLOP each: {bill['flops'] / 1e15:,.1f} PFLOP",
        f"memory   {bill['memory_bytes'] / GIB:.2f} GiB, fp32, pairs of {bill['longest']} words:",
        *(f"         {', '.join(memory[k : k + 2])}," for k in (0, 2)),
        f"         {', '.join(memory[4:])}",
    ]
    if bill["hours"] is not None:
        days = f" ({bill['hours'] / 24:.1f} days)" if bill["hours"] > 48 else ""
        lines.append(f"time     {bill['hours']:,.1f} hours{days}")
    if bill["price"] is not None:
        lines.append(f"price    {bill['price']:,.2f}")
    return "\n".join(lines)
