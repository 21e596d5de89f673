"""The trained models that one assignment wants beside its notebook, and what was found out of them.

Their files are looked at before the notebook is run (by `course_lib.grading.runs`); what was found
then lies beside the notebook, where tests read it with `facts`.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from course_lib.assignments import checks

FILE = ".inspection.json"
"""Its name in the folder where a graded notebook runs. What a student puts there is left out."""

LARGEST_DATA = 100 * 1024**2
"""Bytes of all files beside a notebook. More than that is no homework."""


ASSIGNMENT = "training_comparison"
FOLDER = "comparison"
"""Where the runs are, beside the notebook."""
RUNS = ("rnnencdec", "rnnsearch")
"""Their folders in it."""
WEIGHTY = ".safetensors"
"""The suffix of files that the notebook itself has no use for when it is graded."""
REMEDY = "Train both models, to the end, with the command that the notebook prints"

_CONFIG, _VOCABULARY, _MODEL = "config.yaml", "vocabulary.json", "model.safetensors"
_METRICS, _RESULT, _TRANSLATIONS = "metrics.jsonl", "result.json", "hypotheses.*.txt"
PARTS: Mapping[str, tuple[str, ...]] = {
    "files": (_CONFIG, _VOCABULARY, _METRICS, _RESULT, _TRANSLATIONS, _MODEL),
    "recipe": (_CONFIG, _VOCABULARY, _MODEL),
    "scores": (_CONFIG, _RESULT, _TRANSLATIONS),
    "curves": (_CONFIG, _VOCABULARY, _METRICS, _MODEL),
    "translations": (_CONFIG, _VOCABULARY, _RESULT, _TRANSLATIONS, _MODEL),
}
"""What is judged, each with patterns of the files that it rests on, in every run."""


def wanted(part: str = "files") -> list[str]:
    """Patterns of what a part rests on (`files`: everything), from the notebook's folder."""
    return [f"{FOLDER}/{run}/{file}" for run in RUNS for file in PARTS[part]]


def facts(folder: Path | None = None) -> dict[str, Any] | None:
    """What was found out about the files handed in; None where nobody has looked yet."""
    try:
        text = ((folder or Path()) / FILE).read_text(encoding="utf-8")
        report: dict[str, Any] = json.loads(text)["facts"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return report


def missing(folder: Path | None = None, part: str = "files") -> list[str]:
    """The files that ought to lie beside the notebook and do not; no look is taken into any."""
    folder = folder or Path()
    graded = (folder / FILE).exists()  # then what the notebook has no use for is gone
    return [
        pattern
        for pattern in wanted(part)
        if not (graded and pattern.endswith(WEIGHTY))
        and not any(path.is_file() for path in folder.glob(pattern))
    ]


def check_files(part: str) -> None:
    """Refuse a part that rests on files which are not beside the notebook: its visible test."""
    absent = missing(part=part)
    checks.that(not absent, f"There is no {absent[0] if absent else ''}. {REMEDY}.")


def check_found(part: str) -> None:
    """Refuse a part in which the grader has found a problem: its hidden test."""
    known = facts()
    problems = ["The runs were not inspected."] if known is None else known["problems"][part]
    checks.that(not problems, " ".join(problems))
