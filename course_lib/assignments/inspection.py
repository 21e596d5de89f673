"""What a student hands in beside the notebook, and what the grader has found out about it.

The files of a trained model are looked at before the notebook is run (by
`course_lib.grading.runs`); what was found then lies beside the notebook, where tests read it with
`facts`.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = ".inspection.json"
"""Its name in the folder where a graded notebook runs. What a student puts there is left out."""

LARGEST_DATA = 100 * 1024**2
"""Bytes of all files beside a notebook. More than that is no homework."""


@dataclass(frozen=True)
class Inspector:
    """What an assignment wants to have beside the notebook, and who looks at it.

    Attributes:
        module: run as `python -m MODULE FOLDER STUDENT`, prints facts and remarks as JSON.
        parts: what it judges; each has a list of problems.
        folder: where the files are, beside the notebook.
        files: patterns of the files in it.
        weighty: the suffix of files that the notebook itself has no use for when it is graded.
        remedy: what to do where they are missing.
    """

    module: str
    parts: tuple[str, ...]
    folder: str
    files: tuple[str, ...]
    weighty: str
    remedy: str


INSPECTORS = {
    "training_comparison": Inspector(
        module="course_lib.grading.runs.comparison",
        parts=("files", "recipe", "scores", "curves", "translations"),
        folder="comparison",
        files=tuple(
            f"{model}/{file}"
            for model in ("rnnencdec", "rnnsearch")
            for file in (
                "config.yaml",
                "vocabulary.json",
                "metrics.jsonl",
                "result.json",
                "hypotheses.*.txt",
                "model.safetensors",
            )
        ),
        weighty=".safetensors",
        remedy="Train both models with the command that the notebook prints",
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


def missing(assignment: str, folder: Path | None = None) -> list[str]:
    """The files that ought to lie beside the notebook and do not; no look is taken into any."""
    inspector, folder = INSPECTORS[assignment], folder or Path()
    graded = (folder / FILE).exists()  # then what the notebook has no use for is gone
    return [
        f"{inspector.folder}/{pattern}"
        for pattern in inspector.files
        if not (graded and pattern.endswith(inspector.weighty))
        and not any(path.is_file() for path in (folder / inspector.folder).glob(pattern))
    ]
