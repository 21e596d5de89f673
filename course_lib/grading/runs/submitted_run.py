"""A run directory that somebody handed in: nothing in it is believed, and nothing is unpickled.

A file that keeps its reader busy, or fills its memory, is stopped by the limits of the process that
reads it (see `boxed_inspection`).
"""

import json
import math
from functools import cached_property
from pathlib import Path
from typing import Any

from course_lib.assignments.inspection import FOLDER
from course_lib.errors import CourseError
from course_lib.training import Run, load_run
from course_lib.training.run_config import RunConfig
from course_lib.training.run_directory import METRICS, RESULT, read_config, started_with


class Fault(CourseError):
    """Something in a submission is not as it should be; the text says what, in one sentence."""


class SubmittedRun:
    """One run. What else lies in its folder is read when it is first asked for.

    Attributes:
        name: how messages call the folder, as in `comparison/rnnsearch`.
        recorded: config.yaml as plain values.
        config: the run as the library would be asked for it.
    """

    def __init__(self, folder: Path, name: str) -> None:
        """Read what was trained, from the folder NAME of the runs that lie below `folder`."""
        self._path = folder / FOLDER / name
        self.name = f"{FOLDER}/{name}"
        self.recorded = read_config(self._path)
        self.config = RunConfig(**started_with(self._path))

    @cached_property
    def trained(self) -> Run:
        """The words and the model, in evaluation mode."""
        return load_run(self._path, "cpu")

    @cached_property
    def result(self) -> dict[str, Any]:
        """What the run says came out."""
        return dict(json.loads(self._text(RESULT)))

    @cached_property
    def validations(self) -> list[dict[str, Any]]:
        """The lines of metrics.jsonl, whatever stands in them."""
        try:
            rows = [dict(json.loads(line)) for line in self._text(METRICS).splitlines()]
        except (ValueError, TypeError):
            rows = []
        if not rows:
            raise Fault(
                f"{self.name}/{METRICS} does not have a JSON object on each line, as training wrote"
                " it. Restore it from a copy, or train again."
            )
        return rows

    @cached_property
    def curve(self) -> list[dict[str, float]]:
        """The validations, each with numbers alone."""
        for place, row in enumerate(self.validations, start=1):
            if not all(type(one) in (int, float) and math.isfinite(one) for one in row.values()):
                raise Fault(f"{self.name}/{METRICS}, line {place}: not all of it are numbers.")
        return self.validations

    def translations(self, split: str, sentences: int) -> list[list[str]]:
        """The translations of a test split that the run was scored with."""
        lines = self._text(f"hypotheses.{split}.txt").removesuffix("\n").split("\n")
        if len(lines) != sentences:
            raise Fault(
                f"{self.name}/hypotheses.{split}.txt has {len(lines)} lines for {sentences}"
                " sentences of the test set."
            )
        return [line.split(" ") if line else [] for line in lines]

    def _text(self, file: str) -> str:
        return (self._path / file).read_text(encoding="utf-8-sig")  # some editors put a mark first
