"""`course cost`: what a training would cost, before anybody pays for it."""

import json
from dataclasses import replace
from typing import Annotated, Any

import typer

from course_lib.cli.runs import Json, Preset, Set

GIB = 2**30


def cost(
    model: Annotated[str, typer.Option(help="rnnsearch or rnnencdec.")] = "rnnsearch",
    preset: Preset = "paper",
    settings: Set = None,
    updates: Annotated[int, typer.Option(min=1, help="Minibatches.")] = 288_000,
    source_words: Annotated[
        float | None, typer.Option(help="Of an average pair; the paper's by default.")
    ] = None,
    target_words: Annotated[float | None, typer.Option(help="The same.")] = None,
    vocabulary: Annotated[
        int | None,
        typer.Option(min=1, help="Words a side; 30,000 by default, or the recipe's pieces."),
    ] = None,
    tflops: Annotated[
        float | None, typer.Option(help="What the device sustains, in 10^12 operations a second.")
    ] = None,
    words_per_second: Annotated[
        float | None, typer.Option(help="Instead: target words a second that it trains with.")
    ] = None,
    price: Annotated[float | None, typer.Option(min=0, help="Of an hour on the device.")] = None,
    as_json: Json = False,
) -> None:
    """Parameters, operations, memory, hours and money of a training."""
    found = predicted(
        model,
        preset,
        settings or [],
        updates,
        (source_words, target_words),
        vocabulary,
        tflops,
        words_per_second,
        price,
    )
    typer.echo(json.dumps(found, indent=1) if as_json else as_text(found))


def predicted(
    model: str,
    preset: str,
    settings: list[str],
    updates: int,
    words: tuple[float | None, float | None],
    vocabulary: int | None,
    tflops: float | None,
    words_per_second: float | None,
    price: float | None,
) -> dict[str, Any]:
    """Everything that `course cost` says."""
    from course_lib.corpora.vocabulary import MARKS
    from course_lib.errors import CourseError
    from course_lib.training import RunConfig, parse_changes
    from course_lib.training import cost as formulas

    # The corpus is not looked at: only sizes decide.
    config = RunConfig(model, "wmt14", "en-fr", preset, changes=parse_changes(settings))
    recipe = config.recipe
    if vocabulary is None and recipe.subwords is not None:
        size = recipe.subwords  # the marks are among them
    else:
        size = (30_000 if vocabulary is None else vocabulary) + len(MARKS)
    model_config = config.model_config(size, size)
    source, target = (
        mean if given is None else given
        for given, mean in zip(words, formulas.PAPER_WORDS, strict=True)
    )
    if source <= 0 or target <= 0:
        raise CourseError("An average pair has more than 0 words on each side.")
    work = formulas.Workload(updates, recipe.batch_size, source, target)
    read = replace(work, batch=2 * recipe.batch_size) if recipe.r_drop else work
    longest = recipe.max_length + 1
    memory = formulas.memory(model_config, read.batch, longest, longest)
    found: dict[str, Any] = {
        "model": model,
        "preset": preset,
        "parameters": formulas.parameters(model_config),
        "updates": updates,
        "batch": recipe.batch_size,
        "target_words": work.words,
        "flops": read.flops(model_config),
        "flops_a_word": read.flops(model_config) / work.words,
        "longest": recipe.max_length,
        "memory_bytes": sum(memory.values()),
        "memory": memory,
        "hours": None,
        "price": None,
    }
    if tflops is not None or words_per_second is not None:
        rate = None if tflops is None else tflops * 1e12
        found["hours"] = formulas.seconds(model_config, read, rate, words_per_second) / 3600
        found["price"] = None if price is None else price * found["hours"]
    elif price is not None:
        raise CourseError(
            "A price needs to know how fast the device is. Add --tflops or --words-per-second."
        )
    return found


def as_text(found: dict[str, Any]) -> str:
    """The prediction for a person."""
    memory = ", ".join(f"{name} {size / GIB:.2f}" for name, size in found["memory"].items())
    lines = [
        f"{found['model']}, preset {found['preset']}: {found['parameters']:,} parameters",
        f"work     {found['updates']:,} updates of {found['batch']} pairs",
        f"         {found['target_words'] / 1e6:,.1f} million target words, "
        f"{found['flops_a_word'] / 1e6:,.1f} MFLOP each: {found['flops'] / 1e15:,.1f} PFLOP",
        f"memory   {found['memory_bytes'] / GIB:.2f} GiB, fp32, pairs of {found['longest']} words:",
        f"         {memory}",
    ]
    if found["hours"] is not None:
        days = f" ({found['hours'] / 24:.1f} days)" if found["hours"] > 48 else ""
        lines.append(f"time     {found['hours']:,.1f} hours{days}")
    if found["price"] is not None:
        lines.append(f"price    {found['price']:,.2f}")
    return "\n".join(lines)
