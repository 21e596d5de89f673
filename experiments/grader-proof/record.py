"""Record which answers each test of the assignments takes and which it refuses, for the guide.

A part is an assignment: every variant of every answer runs.
"""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

from course_lib.grading.sources.project import assignment_names, project_root
from experiments.proof import table
from experiments.recording import Part, Read, Records

ROOT = project_root(Path(__file__).parent)
KNOWN = tuple(
    name
    for name in assignment_names(ROOT)
    if (ROOT / "solutions" / name / "variants.yaml").is_file()
)
"""The assignments that have variants."""


def proved(name: str) -> dict[str, Any]:
    """One assignment's record, made by an interpreter of its own: it forks."""
    command = [sys.executable, "-m", "experiments.proof", name]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    return table(ROOT, name, json.loads(done.stdout)[name])


def as_text(found: dict[str, Any]) -> str:
    """JSON with a line a row, so that a change is seen line by line."""
    kinds = [
        f"{json.dumps(kind)}: [\n" + ",\n".join(f" {json.dumps(row)}" for row in rows) + "]"
        for kind, rows in found.items()
    ]
    return "{" + ",\n".join(kinds) + "}\n"


def proof(name: str) -> Records:
    """Run one assignment's variants."""
    yield f"proof-{name}", as_text(proved(name))


def check(read: Read) -> None:
    """Every assignment with variants has its record; a test runs them all again."""
    for name in KNOWN:
        assert read(f"proof-{name}")


PARTS = {name: Part(partial(proof, name), "seconds") for name in KNOWN}
