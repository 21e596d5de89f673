"""Results as tables, for the terminal and for benchmarks/README.md."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

Result = Mapping[str, Any]


class Table(NamedTuple):
    """Names of the columns, and rows of cells that are already text."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]


def training(result: Result) -> Table:
    """Speed, ratio and memory of each program, and the limit."""
    ours, peaks = result["ours"], result["peak_mib"]
    names = {
        "textbook": "textbook, batches in random order",
        "textbook_bucketed": "textbook, bucketed by length",
        "ours": "course_lib, fp32",
        "ours_bf16": "course_lib, bf16",
    }
    rows = [
        [
            label,
            f"{result[name]:,.0f}",
            f"{result[name] / result['textbook']:.2f}",
            f"{result[name] / result['textbook_bucketed']:.2f}",
            f"{result[name] / result['limit']:.2f}" if name != "ours_bf16" else "",
            f"{peaks[name]:,.0f}",
        ]
        for name, label in names.items()
        if result.get(name)
    ]
    limit = [
        f"limit: {result['gflops_of_products']:.0f} GFLOP/s of products, "
        f"{result['mflop_a_token']:.1f} MFLOP a token",
        f"{result['limit']:,.0f}",
        f"{result['limit'] / result['textbook']:.2f}",
        f"{result['limit'] / result['textbook_bucketed']:.2f}",
        "1.00",
        "",
    ]
    assert ours
    header = [
        *("", "target tokens a second", "times textbook", "times bucketed"),
        *("of the limit", "peak memory, MiB"),
    ]
    return Table(header, [*rows, limit])


def attention(result: Result) -> Table:
    """Every score at every size and length."""
    return Table(
        [
            *("score", "size n", "source words", "steps a second", "times textbook"),
            *("of the limit", "bounded by"),
        ],
        [
            [
                row["score"],
                str(row["size"]),
                str(row["source_length"]),
                f"{row['ours']:,.0f}",
                f"{row['ratio']:.1f}",
                f"{row['fraction_of_limit']:.2f}",
                row["bounded_by"],
            ]
            for row in result["rows"]
        ],
    )


def precision(result: Result) -> Table:
    """BLEU of each seed in either precision."""
    runs = {(run["precision"], run["seed"]): run for run in result["runs"]}
    rows = [
        [
            str(seed),
            *(f"{runs[name, seed]['bleu_tok']:.2f}" for name in ("fp32", "bf16")),
            *(f"{runs[name, seed]['best_val_loss']:.3f}" for name in ("fp32", "bf16")),
        ]
        for seed in sorted({seed for _, seed in runs})
    ]
    header = ["seed", "BLEU, fp32", "BLEU, bf16", "validation loss, fp32", "validation loss, bf16"]
    return Table(header, rows)


def overall(result: Result) -> Table:
    """The numbers that every measurement has."""
    rows = [
        ["ours", f"{result['ours']:,.1f} {result['unit']}"],
        ["textbook", f"{result['textbook']:,.1f}"],
        ["times textbook", f"{result['ratio']:.2f}"],
    ]
    if result.get("limit"):
        rows += [
            ["limit", f"{result['limit']:,.1f}"],
            ["of the limit", f"{result['fraction_of_limit']:.2f}"],
        ]
    return Table(["", ""], rows)


TABLES: dict[str, Callable[[Result], Table]] = {
    "train": training,
    "attention": attention,
    "precision": precision,
}


def circumstances(result: Result) -> str:
    """One line on what was measured where."""
    parts = [f"{result['what']}"]
    if "corpus" in result:
        parts.append(result["corpus"])
    parts += [
        f"{name} {result[name]}"
        for name in ("batch", "threads", "jobs", "rounds")
        if name in result
    ]
    return ", ".join([*parts, result["processor"], f"torch {result['torch']}", result["date"]])


def as_text(result: Result) -> str:
    """A result for the terminal."""
    table = TABLES.get(result["what"], overall)(result)
    widths = [max(map(len, column)) for column in zip(table.header, *table.rows, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if number == 0 else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (table.header, *table.rows)
    ]
    return "\n".join([circumstances(result), "", *filter(None, lines)])


def as_markdown(table: Table) -> str:
    """A table for README.md: the first column to the left, the others to the right."""
    rules = ["---", *("---:" for _ in table.header[1:])]
    return "\n".join(f"| {' | '.join(row)} |" for row in (table.header, rules, *table.rows))
