"""What collecting a submission had to say about it, kept beside the notebook until it is graded."""

import json
from pathlib import Path

from course_lib.grading.wording import visible

FILE = ".collected.json"
"""Its name. What a student hands in under it is left out."""

LARGEST = 10_000


def write_notes(folder: Path, remarks: list[str]) -> None:
    """Leave remarks in the folder of a submission."""
    (folder / FILE).write_text(json.dumps(remarks, indent=1), encoding="utf-8")


def notes(folder: Path) -> list[str]:
    """The remarks that lie in the folder of a submission."""
    path = folder / FILE
    if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST:
        return []
    try:
        return [visible(str(line), 300) for line in json.loads(path.read_text("utf-8"))]
    except (ValueError, TypeError):
        return []
