"""What a student hands in beside the notebook, and what the grader has found out about it.

The files of a trained model are looked at before the notebook is run (by
`course_lib.grading.runs`); what was found then lies beside the notebook, where tests read it with
`facts`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course_lib.assignments import checks

FILE = ".inspection.json"
"""Its name in the folder where a graded notebook runs. What a student puts there is left out."""

LARGEST_DATA = 100 * 1024**2
"""Bytes of all files beside a notebook. More than that is no homework."""


@dataclass(frozen=True)
class Inspector:
    """What an assignment wants to have beside the notebook, and who looks at it.

    Attributes:
        module: run as `python -m MODULE FOLDER STUDENT [CORPUS PAIR]`, prints facts and remarks as
            JSON; the corpus is one that the instructor names.
        parts: what it judges, each with patterns of the files that it rests on, in every run.
        folder: where the runs are, beside the notebook.
        runs: their folders in it.
        weighty: the suffix of files that the notebook itself has no use for when it is graded.
        remedy: what to do where they are missing.
    """

    module: str
    parts: Mapping[str, tuple[str, ...]]
    folder: str
    runs: tuple[str, ...]
    weighty: str
    remedy: str

    def files(self, part: str = "files") -> list[str]:
        """Patterns of what a part rests on (`files`: everything), from the notebook's folder."""
        return [f"{self.folder}/{run}/{file}" for run in self.runs for file in self.parts[part]]


_CONFIG, _VOCABULARY, _MODEL = "config.yaml", "vocabulary.json", "model.safetensors"
_METRICS, _RESULT, _TRANSLATIONS = "metrics.jsonl", "result.json", "hypotheses.*.txt"

INSPECTORS = {
    "training_comparison": Inspector(
        module="course_lib.grading.runs.comparison",
        parts={
            "files": (_CONFIG, _VOCABULARY, _METRICS, _RESULT, _TRANSLATIONS, _MODEL),
            "recipe": (_CONFIG, _VOCABULARY, _MODEL),
            "scores": (_CONFIG, _RESULT, _TRANSLATIONS),
            "curves": (_CONFIG, _VOCABULARY, _METRICS, _RESULT, _MODEL),
            "translations": (_CONFIG, _VOCABULARY, _RESULT, _TRANSLATIONS, _MODEL),
        },
        folder="comparison",
        runs=("rnnencdec", "rnnsearch"),
        weighty=".safetensors",
        remedy="Train both models, to the end, with the command that the notebook prints",
    )
}
"""By assignment; most have none."""


def facts(folder: Path | None = None) -> dict[str, Any] | None:
    """What was found out about the files handed in; None where nobody has looked yet."""
    try:
        # not pathlib's, whose methods a notebook could have replaced; `open` is watched
        with open(FILE if folder is None else folder / FILE, "rb") as file:
            found: dict[str, Any] = json.loads(file.read())["facts"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found


def missing(assignment: str, folder: Path | None = None, part: str = "files") -> list[str]:
    """The files that ought to lie beside the notebook and do not; no look is taken into any."""
    inspector, folder = INSPECTORS[assignment], folder or Path()
    graded = (folder / FILE).exists()  # then what the notebook has no use for is gone
    return [
        pattern
        for pattern in inspector.files(part)
        if not (graded and pattern.endswith(inspector.weighty))
        and not any(path.is_file() for path in folder.glob(pattern))
    ]


def check_files(assignment: str, part: str) -> None:
    """Refuse a part that rests on files which are not beside the notebook: its visible test."""
    absent = missing(assignment, part=part)
    remedy = INSPECTORS[assignment].remedy
    checks.that(not absent, f"There is no {absent[0] if absent else ''}. {remedy}.")


def check_found(part: str) -> None:
    """Refuse a part in which the grader has found a problem: its hidden test."""
    found = facts()
    problems = ["The runs were not inspected."] if found is None else found["problems"][part]
    checks.that(not problems, " ".join(problems))
