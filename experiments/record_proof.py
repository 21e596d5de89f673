"""Record which answers each test of the assignments takes and which it refuses, for the guide.

    python experiments/record_proof.py [ASSIGNMENT ...]

Runs every variant of every answer and writes assignments-proof.json. Seconds an
assignment; those that are not named keep their record.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from recording import place_of

from course_lib.files import write_atomically
from course_lib.grading.authoring.proof import table
from course_lib.grading.sources.project import assignment_names, project_root

ROOT = project_root(Path(__file__).parent)
RECORD = place_of("assignments-proof.json")


def proved(name: str) -> dict[str, Any]:
    """One assignment's record, made by an interpreter of its own: it forks."""
    command = [sys.executable, "-m", "course_lib.grading.authoring.proof", name]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    return table(ROOT, name, json.loads(done.stdout)[name])


def as_text(record: dict[str, Any]) -> str:
    """JSON with a line a row, so that a change is seen line by line."""
    lines = []
    for name, found in sorted(record.items()):
        kinds = [
            f" {json.dumps(kind)}: [\n" + ",\n".join(f"  {json.dumps(row)}" for row in rows) + "]"
            for kind, rows in found.items()
        ]
        lines.append(f"{json.dumps(name)}: {{\n" + ",\n".join(kinds) + "}")
    return "{" + ",\n".join(lines) + "}\n"


def main(names: list[str]) -> None:
    """Record these assignments, or all that have variants."""
    known = [
        name
        for name in assignment_names(ROOT)
        if (ROOT / "solutions" / name / "variants.yaml").is_file()
    ]
    record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.is_file() else {}
    record = {name: found for name, found in record.items() if name in known}
    record |= {name: proved(name) for name in names or known}
    write_atomically(RECORD, as_text(record).encode())
    print(f"wrote {RECORD.relative_to(ROOT)}: {', '.join(sorted(record))}")


if __name__ == "__main__":
    main(sys.argv[1:])
