"""Results as tables, for the terminal and for benchmarks/README.md."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from benchmarks.pipeline import STAGES

Result = Mapping[str, Any]
Table = list[list[str]]
"""Rows of cells; the first has the names of the columns."""


def table(names: str, cells: str, rows: Iterable[Result], *more: str) -> Table:
    """The names of the columns, how each row's cells are written, and rows that are written.

    Bars stand between cells, as in the table itself.
    """
    return [line.split(" | ") for line in (names, *(cells.format(**row) for row in rows), *more)]


def training(result: Result) -> Table:
    """Speed, ratio and memory of each program, and the limit."""
    names = {
        "textbook": "textbook, batches in random order",
        "textbook_bucketed": "textbook, bucketed by length",
        "ours": "course_lib, fp32",
        "ours_bf16": "course_lib, bf16",
        "limit": f"limit: {result['gflops_of_products']:.0f} GFLOP/s of products, "
        f"{result['mflop_a_token']:.1f} MFLOP a token",
    }
    rows = [
        {
            "label": label,
            "speed": result[name],
            "gain": result[name] / result["textbook"],
            "bucketed": result[name] / result["textbook_bucketed"],
            # What bf16 could reach at most is another rate.
            "share": f"{result[name] / result['limit']:.2f}" if name != "ours_bf16" else "",
            "peak": f"{result['peak_mib'][name]:,.0f}" if name != "limit" else "",
        }
        for name, label in names.items()
        if result[name] is not None
    ]
    return table(
        " | target tokens a second | times textbook | times bucketed | of the limit | peak, MiB",
        "{label} | {speed:,.0f} | {gain:.2f} | {bucketed:.2f} | {share} | {peak}",
        rows,
    )


def decoding(result: Result) -> Table:
    """Speed of each search and width, what it gains over the others, and memory."""
    speeds = result["speeds"]
    rows = []
    for name, speed in sorted(speeds.items(), key=lambda item: item[1]):
        search, _, k = name.partition(", k = ")
        loop, each = speeds.get(f"loop, k = {k}"), speeds.get(f"per sentence, k = {k}")
        rows.append(
            {
                "search": {"ours": "course_lib", "loop": "loop over hypotheses"}.get(
                    search, search
                ),
                "k": k,
                "speed": speed,
                "over_loop": f"{speed / loop:.1f}" if loop else "",
                "over_each": f"{speed / each:.2f}" if each else "",
                "peak": result["peak_mib"][name],
            }
        )
    return table(
        " | k | sentences a second | times the loop | times per sentence | peak, MiB",
        "{search} | {k} | {speed:,.1f} | {over_loop} | {over_each} | {peak:,.0f}",
        rows,
        f"limit: {result['mflop_a_sentence']:,.0f} MFLOP a sentence | {result['beam']} | "
        f"{result['limit']:,.1f} | {result['limit'] / result['textbook']:.1f} |  | ",
    )


def attention(result: Result) -> Table:
    """Every score at every size and length."""
    return table(
        "score | size n | source words | steps a second | times textbook | of the limit | "
        "bounded by",
        "{score} | {size} | {source_length} | {ours:,.0f} | {ratio:.1f} | "
        "{fraction_of_limit:.2f} | {bounded_by}",
        result["rows"],
    )


def joeynmt(result: Result) -> Table:
    """Both libraries' speeds in each precision, and their ratio."""
    rows = [
        {
            "precision": name,
            **{who: result["speeds"][f"{who}, {name}"] for who in ("joeynmt", "ours")},
        }
        for name in ("fp32", "bf16")
    ]
    return table(
        "target tokens a second | JoeyNMT 2.3 | course_lib | times JoeyNMT",
        "{precision} | {joeynmt:,.0f} | {ours:,.0f} | {gain:.2f}",
        [{**row, "gain": row["ours"] / row["joeynmt"]} for row in rows],
    )


def grading(result: Result) -> Table:
    """Speeds in a grader's words, and where the time of a submission goes."""
    jobs = f"{result['jobs']} at a time"
    speeds = {
        f"nbgrader, no sandbox, {jobs}": result["textbook"],
        f"course grade, sandboxes and judges, {jobs}": result["ours"],
        "limit: no notebook is run": result["limit"],
    }
    return table(
        f"{result['submissions']} submissions | a minute | times nbgrader | seconds each",
        "{label} | {speed:.1f} | {gain:.2f} | ",
        [{"label": x, "speed": y, "gain": y / result["textbook"]} for x, y in speeds.items()],
        *(f"step: {name} |  |  | {took:.2f}" for name, took in result["steps"].items()),
    )


def pipeline(result: Result) -> Table:
    """Every stage at every size."""
    stages = list(STAGES.values())
    return table(
        "stage | sentence pairs | target words a second | peak memory, MiB",
        "{stage} | {pairs:,} | {target_words_a_second:,.0f} | {peak_mib:,.0f}",
        sorted(result["rows"], key=lambda row: stages.index(row["stage"])),
    )


TABLES: dict[str, Callable[[Result], Table]] = {
    "train": training,
    "decode": decoding,
    "attention": attention,
    "grade": grading,
    "joeynmt": joeynmt,
    "pipeline": pipeline,
}


def circumstances(result: Result) -> str:
    """One line on what was measured where."""
    parts = [result["what"], *([result["corpus"]] if "corpus" in result else [])]
    if "batch" in result:
        parts.append(f"batch {result['batch']}")
    for name, word in (("threads", "thread"), ("rounds", "round")):
        if name in result:
            parts.append(f"{result[name]} {word}{'s' * (result[name] != 1)}")
    return ", ".join([*parts, result["processor"], f"torch {result['torch']}", result["date"]])


def as_text(result: Result) -> str:
    """A result for the terminal."""
    rows = TABLES[result["what"]](result)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
        for row in rows
    ]
    return "\n".join([circumstances(result), "", *lines])


def as_markdown(rows: Table) -> str:
    """A table for README.md: the first column to the left, the others to the right."""
    names, *others = rows
    rules = ["---", *("---:" for _ in names[1:])]
    return "\n".join(f"| {' | '.join(row)} |" for row in (names, rules, *others))
