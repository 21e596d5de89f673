"""What instructors run: a room for each step on a submission's way.

`sources` makes the releases, `handing_in` is what students run before they upload, `intake` unpacks
what came in, `sandbox` holds student code, `running` grades, `runs` judges trained models that were
handed in, `reporting` tells of the result. `authoring` is for those who write assignments.
"""

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING

if not TYPE_CHECKING:  # or no type checker would notice a misspelt import from here

    def __getattr__(name: str) -> ModuleType:
        """A module that has moved to `assignments`: notebooks given out before still ask here."""
        if name not in {"checks", "inspection", "instances", "owner", "steps"}:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module = importlib.import_module(f"course_lib.assignments.{name}")
        return sys.modules.setdefault(f"{__name__}.{name}", module)
