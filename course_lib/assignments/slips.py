"""Working code with one slip in it, drawn from a student's id: to be found, mended, and tested for.

The versions lie beside the notebook, encoded: that is no lock, but the wrong line cannot be had by
laying them side by side at a glance. Which line it is stands nowhere in them.
"""

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from course_lib.assignments.owner import normalised_id, seed
from course_lib.errors import CourseError

FILE = "slips.json"


@dataclass(frozen=True)
class Slip:
    """A function's code with a slip in one line.

    Attributes:
        name: the function's.
        code: its text.
        symptom: what somebody noticed who used it.
    """

    name: str
    code: str
    symptom: str

    def __str__(self) -> str:
        lines = [f"{n:3}  {line}" for n, line in enumerate(self.code.splitlines(), start=1)]
        return "\n".join([*lines, "", f"What was noticed: {self.symptom}"])

    def function(self) -> Callable[..., Any]:
        """The function that the code defines."""
        names: dict[str, Any] = {}
        exec("import math\n" + self.code, names)
        function: Callable[..., Any] = names[self.name]
        return function


def packed(slips: Sequence[Slip]) -> str:
    """The text of the file for these."""
    raw = [json.dumps(asdict(one)).encode() for one in slips]
    return json.dumps([base64.b64encode(one).decode() for one in raw], indent=1) + "\n"


def unpacked(text: str) -> list[Slip]:
    """The slips that `packed` has packed."""
    return [Slip(**json.loads(base64.b64decode(one))) for one in json.loads(text)]


def drawn(student_id: str) -> Slip:
    """This student's own, of those in the file beside the notebook.

    Raises:
        CourseError: there is no such file, or it is damaged.
    """
    try:
        slips = unpacked(Path(FILE).read_text(encoding="utf-8"))
        return slips[seed(f"slip {normalised_id(student_id)}") % len(slips)]
    except (OSError, ValueError, TypeError) as error:
        raise CourseError(
            f"{FILE} is missing or damaged. Copy it from the folder of the assignment to where the"
            " notebook is."
        ) from error
