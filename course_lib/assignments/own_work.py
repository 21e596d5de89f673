"""Noticing when a student's function lets the library do the work.

The library holds the answers to some parts: a function that only calls them would be right and
worth nothing. Python tells a hook of every function that is entered; one whose code lies in the
library's files is the library's own, however it was reached (imported, passed on, wrapped, as a
method or as a module of PyTorch). Two ways round it are known and left open: a thread of the
student's own, and a copy of the library's text.
"""

import os
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import course_lib

OPEN = ("course_lib.assignments", "course_lib.errors")
"""What holds no answers: the checks themselves, and what they raise."""

# A notebook may put others in their place; these are the real ones.
_set, _get = sys.setprofile, sys.getprofile
_LIBRARY = os.path.dirname(course_lib.__file__) + os.sep


class NotOwnWork(Exception):
    """A function did not do its work itself. The text says how, without the function's name."""


def call(
    function: Callable[..., Any], arguments: tuple[Any, ...], allow: tuple[str, ...] = ()
) -> Any:
    """What the function returns, provided that it enters nothing of the library.

    Args:
        function: the student's, or whatever they put in its place.
        arguments: what to call it with.
        allow: modules or packages of the library that it may use ("course_lib.models.cells").

    Raises:
        NotOwnWork: it entered another part of the library, or took the hook away.
        Exception: whatever the function itself raises.
    """
    here, before, opened = sys._getframe(), _get(), OPEN + allow
    entered: list[str] = []
    unwatched = False

    def hook(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal unwatched
        if event == "c_call" and argument is _set and frame is not here:
            unwatched = True
        elif event == "call" and not entered and _is_forbidden(frame, here, opened):
            code = frame.f_code
            entered.append(f"{code.co_qualname} ({module_of(code.co_filename)})")

    _set(hook)
    try:
        return function(*arguments)
    finally:
        unwatched = unwatched or _get() is not hook
        _set(before)
        if entered:
            raise NotOwnWork(f"calls the library's own {entered[0]}: write it yourself.")
        if unwatched:
            raise NotOwnWork(
                "changes Python's profile hook (sys.setprofile), with which the test watches it:"
                " leave the hook alone."
            )


def module_of(file: str) -> str | None:
    """The library's module that a file is; None for any other file."""
    if not file.startswith(_LIBRARY):
        return None
    parts = file.removeprefix(_LIBRARY).removesuffix(".py").split(os.sep)
    return ".".join(["course_lib", *parts]).removesuffix(".__init__")


def _is_forbidden(frame: FrameType, here: FrameType, opened: tuple[str, ...]) -> bool:
    """Whether a frame is the library's, and neither of an opened module nor called by one.

    What the import of a module runs does not count: to import is not to use. What a student's own
    code calls does, though an opened module had called that code.
    """
    if module_of(frame.f_code.co_filename) is None:
        return False
    above: FrameType | None = frame
    while above is not None and above is not here:
        module = module_of(above.f_code.co_filename)
        if module is not None:
            if above.f_code.co_name == "<module>":
                return False
            if any(module == name or module.startswith(f"{name}.") for name in opened):
                return False
        elif _is_of_a_notebook(above.f_code):
            return True
        above = above.f_back
    return True


def _is_of_a_notebook(code: CodeType) -> bool:
    """Whether code was written in a cell, or in a text that a cell runs; no dataclass's own."""
    file, name = code.co_filename, code.co_name
    made = file.startswith("<") and not file.startswith("<frozen") and not name.startswith("__")
    return made or "ipykernel_" in file
