"""Write benchmarks/results/ and, from it, the tables of benchmarks/README.md.

    python -m benchmarks.record             # the README anew, from the results as they are
    python -m benchmarks.record all         # measure everything first; about an hour
    python -m benchmarks.record decode      # measure this first

A machine that does nothing else gives numbers that mean something.
"""

import argparse
import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import report
from benchmarks.attention import measure_attention
from benchmarks.grading import measure_grading
from benchmarks.pipeline import measure_pipeline
from benchmarks.searches import measure_decode
from benchmarks.training import measure_training
from course_lib.files import write_atomically

HERE = Path(__file__).parent
RESULTS, README = HERE / "results", HERE / "README.md"

TRAININGS = [(1, 64), (1, 128)]

MEASURES: dict[str, Callable[[], dict[str, Any]]] = {
    **{
        f"train-{threads}-threads-batch-{batch}": partial(
            measure_training, threads=threads, batch=batch
        )
        for threads, batch in TRAININGS
    },
    "decode": partial(measure_decode, rounds=3, batches=1),
    "attention": partial(measure_attention, rounds=9),
    "grade": measure_grading,
    "pipeline": measure_pipeline,
}


def read_results() -> dict[str, dict[str, Any]]:
    """Every recorded result by its file's name."""
    return {path.stem: json.loads(path.read_text()) for path in sorted(RESULTS.glob("*.json"))}


def blocks(results: dict[str, dict[str, Any]]) -> dict[str, str]:
    """What stands between the marks of README.md, by name."""
    filled = {
        name: f"{report.as_markdown(report.TABLES[result['what']](result))}\n\n"
        f"*{report.circumstances(result)}*"
        for name, result in results.items()
    }
    return filled


def filled_in(text: str, contents: dict[str, str]) -> str:
    """The README with every block between `<!-- NAME -->` and `<!-- end -->` replaced."""

    def replace(match: re.Match[str]) -> str:
        return f"<!-- {match['name']} -->\n\n{contents[match['name']]}\n\n<!-- end -->"

    return re.sub(r"<!-- (?P<name>[a-z0-9-]+) -->\n.*?<!-- end -->", replace, text, flags=re.DOTALL)


def write() -> None:
    """README.md from the recorded results."""
    write_atomically(README, filled_in(README.read_text(), blocks(read_results())))


def main() -> None:
    """Measure what is asked for, then write the README."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"all, {', '.join(MEASURES)}")
    asked = parser.parse_args().names
    if unknown := set(asked) - {"all", *MEASURES}:
        parser.error(f"{', '.join(sorted(unknown))}: choose all, {', '.join(MEASURES)}")
    for name in MEASURES if "all" in asked else asked:
        print(f"{name} ...", flush=True)
        result = MEASURES[name]()
        write_atomically(RESULTS / f"{name}.json", json.dumps(result, indent=1) + "\n")
        print(report.as_text(result), flush=True)
    write()


if __name__ == "__main__":
    main()
