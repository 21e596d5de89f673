"""Results as tables, for the terminal and for benchmarks/README.md."""

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

from benchmarks.growth import by_factor
from benchmarks.pipeline import STAGES

Result = Mapping[str, Any]


class Table(NamedTuple):
    """Names of the columns, and rows of cells that are already text."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]


def training(result: Result) -> Table:
    """Speed, ratio and memory of each program, and the limit."""
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
            # What bf16 could reach at most is another rate.
            f"{result[name] / result['limit']:.2f}" if name != "ours_bf16" else "",
            f"{result['peak_mib'][name]:,.0f}",
        ]
        for name, label in names.items()
        if result[name] is not None
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
    header = [
        *("", "target tokens a second", "times textbook", "times bucketed"),
        *("of the limit", "peak memory, MiB"),
    ]
    return Table(header, [*rows, limit])


def decoding(result: Result) -> Table:
    """Speed of each search and width, what it gains over the others, and memory."""
    rows = []
    for name, speed in sorted(result["speeds"].items(), key=lambda item: item[1]):
        search, _, width = name.partition(", k = ")
        loop = result["speeds"].get(f"loop, k = {width}")
        each = result["speeds"].get(f"per sentence, k = {width}")
        rows.append(
            [
                {"ours": "course_lib", "loop": "loop over hypotheses"}.get(search, search),
                width,
                f"{speed:,.1f}",
                f"{speed / loop:.1f}" if loop else "",
                f"{speed / each:.2f}" if each else "",
                f"{result['peak_mib'][name]:,.0f}",
            ]
        )
    limit = [
        f"limit: {result['mflop_a_sentence']:,.0f} MFLOP a sentence",
        str(result["beam"]),
        f"{result['limit']:,.1f}",
        f"{result['limit'] / result['textbook']:.1f}",
        "",
        "",
    ]
    header = ["", "k", "sentences a second", "times the loop", "times per sentence", "peak, MiB"]
    return Table(header, [*rows, limit])


def attention(result: Result) -> Table:
    """Every score at every size and length."""
    header = [
        *("score", "size n", "source words", "steps a second", "times textbook"),
        *("of the limit", "bounded by"),
    ]
    rows = [
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
    ]
    return Table(header, rows)


def growth(result: Result) -> Table:
    """One update at every value of every factor, in milliseconds."""
    header = [
        *("what grows", "to", "textbook, ms", "course_lib, ms", "limit, ms"),
        *("times textbook", "of the limit", "kept for backward, MiB"),
    ]
    rows = [
        [
            factor.replace("_", " "),
            f"{row['value']:,}",
            f"{row['textbook'] * 1e3:,.0f}",
            f"{row['ours'] * 1e3:,.0f}",
            f"{row['limit'] * 1e3:,.0f}",
            f"{row['textbook'] / row['ours']:.2f}",
            f"{row['limit'] / row['ours']:.2f}",
            f"{row['kept_mib']:,.0f}",
        ]
        for factor, each in by_factor(result)
        for row in each
    ]
    return Table(header, rows)


def update(result: Result) -> Table:
    """Where the time of an update goes."""
    rows = [[kind, f"{share:.0%}"] for kind, share in result["shares"].items()]
    return Table(["kind of operation", "of the time"], rows)


def products(result: Result) -> Table:
    """One result, computed in two ways."""
    rows = [
        [
            row["what"],
            f"{row['first']:.2f}",
            f"{row['library']:.2f}",
            f"{row['first'] / row['library']:.1f}",
        ]
        for row in result["rows"]
    ]
    return Table(["", "first way, ms", "second way, ms", "times as fast"], rows)


def precision(result: Result) -> Table:
    """BLEU of the same trainings in both precisions."""
    runs = {(run["precision"], run["seed"]): run for run in result["runs"]}
    seeds = sorted({seed for _, seed in runs})
    header = ["precision", *(f"seed {seed}" for seed in seeds), "spread over seeds"]
    rows = [
        [
            name,
            *(f"{runs[name, seed]['bleu_tok']:.1f}" for seed in seeds),
            f"{result['seed_noise'][name]:.2f}",
        ]
        for name in ("fp32", "bf16")
    ]
    return Table(header, rows)


def overall(result: Result) -> Table:
    """The numbers that every measurement has."""
    rows = [
        ["ours", f"{result['ours']:,.1f} {result['unit']}"],
        ["textbook", f"{result['textbook']:,.1f}"],
        ["times textbook", f"{result['ratio']:.2f}"],
        ["limit", f"{result['limit']:,.1f}"],
        ["of the limit", f"{result['fraction_of_limit']:.2f}"],
    ]
    return Table(["", ""], rows)


def grading(result: Result) -> Table:
    """The overall numbers in a grader's words, and where the time of a submission goes."""
    jobs = f"{result['jobs']} at a time"
    speeds = {
        f"nbgrader, no sandbox, {jobs}": result["textbook"],
        f"course grade, sandboxes and judges, {jobs}": result["ours"],
        "limit: no notebook is run": result["limit"],
    }
    rows = [
        [label, f"{speed:.1f}", f"{speed / result['textbook']:.2f}", ""]
        for label, speed in speeds.items()
    ]
    rows += [[f"step: {name}", "", "", f"{took:.2f}"] for name, took in result["steps"].items()]
    header = [f"{result['submissions']} submissions", "a minute", "times nbgrader", "seconds each"]
    return Table(header, rows)


def large_class(result: Result) -> Table:
    """How long, how many, and in how much memory."""
    header = [f"{result['submissions']} submissions", "minutes", "finished", "peak memory, MiB"]
    rows = [
        [row["run"], f"{row['minutes']:.1f}", str(row["finished"]), f"{row['peak_mib']:,.0f}"]
        for row in result["rows"]
    ]
    return Table(header, rows)


def pipeline(result: Result) -> Table:
    """Every stage at every size."""
    header = ["stage", "sentence pairs", "target words a second", "peak memory, MiB"]
    rows = [
        [
            row["stage"],
            f"{row['pairs']:,}",
            f"{row['target_words_a_second']:,.0f}",
            f"{row['peak_mib']:,.0f}",
        ]
        for row in sorted(result["rows"], key=lambda row: list(STAGES.values()).index(row["stage"]))
    ]
    return Table(header, rows)


def cost(result: Result) -> Table:
    """How far the cost model is from what was measured."""
    header = ["predicted", "points", "median error", "worst error"]
    rows = [
        [quantity, str(error["points"]), f"{error['median']:.0%}", f"{error['worst']:+.0%}"]
        for quantity, error in result["errors"].items()
    ]
    return Table(header, rows)


def starting(result: Result) -> Table:
    """Both commands, and what is between them."""
    names = {"torch": 'python -c "import torch"', "translate": f"course translate {result['name']}"}
    ways = ("seconds", "processor_seconds")
    rows = [
        [label, *(f"{median(result[way][name]):.2f}" for way in ways)]
        for name, label in names.items()
    ]
    more = ["more than torch", f"{result['beyond']:.2f}", f"{result['processor_beyond']:.2f}"]
    return Table(["", "seconds", "of the processor"], [*rows, more])


def figures(result: Result) -> Table:
    """Each moving figure in a browser, in milliseconds."""
    rows = [
        [
            row["figure"].replace("_", " "),
            row["data"],
            f"{row['drawn']:.0f}",
            f"{row['step']:.1f}",
            f"{row['step_90']:.1f}",
            f"{row['processor']:.1f}",
        ]
        for row in result["rows"]
    ]
    promised = [f"{result['promised'][name]:.0f}" for name in ("drawn", "step")]
    header = [
        *("figure", "with", "drawn, ms", "a step, ms", "nine in ten steps, ms"),
        "processor a step, ms",
    ]
    live = [
        [
            f"live: {row['what']}",
            f"promised {row['promised']:,}",
            "",
            f"{row['measured']:,.0f}",
            "",
            "" if row["processor"] is None else f"{row['processor']:.1f}",
        ]
        for row in result["live"]
    ]
    return Table(header, [*rows, ["promised", "", *promised, "", ""], *live])


TABLES: dict[str, Callable[[Result], Table]] = {
    "train": training,
    "decode": decoding,
    "attention": attention,
    "grade": grading,
    "class": large_class,
    "start": starting,
    "growth": growth,
    "update": update,
    "products": products,
    "precision": precision,
    "pipeline": pipeline,
    "cost": cost,
    "figures": figures,
}


def circumstances(result: Result) -> str:
    """One line on what was measured where."""
    parts = [result["what"], *([result["corpus"]] if "corpus" in result else [])]
    counted = {"batch": "batch", "threads": "thread", "rounds": "round"}
    for name, word in counted.items():
        if name == "batch" and name in result:
            parts.append(f"batch {result[name]}")
        elif name in result:
            parts.append(f"{result[name]} {word}{'s' * (result[name] != 1)}")
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
