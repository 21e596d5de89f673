"""What the test cells of the assignments are written with.

An answer may be a list, a tuple, a NumPy array or a tensor, of floats or of whole numbers; it is
turned into plain Python floats before anything is compared, so that no patched comparison of a
library has a say. A refusal is a sentence for the student: it says what is wrong and what kind of
thing was expected, never the answer.
"""

import math
import textwrap
import traceback
from collections.abc import Callable, Sequence
from typing import Any

TOLERANCE = 0.002
"""How far a number worked out by hand may lie from the exact one; the assignments state it."""


class Refused(AssertionError):
    """An answer a test does not accept. Its text is all that the notebook shows of it."""

    def _render_traceback_(self) -> list[str]:
        """What IPython prints in place of a traceback, which would show hidden tests' code."""
        return textwrap.wrap(f"Not yet: {self}", width=88)


def that(holds: bool, message: str) -> None:
    """Refuse with `message` unless `holds`."""
    if not holds:
        raise Refused(message)


def numbers(
    answer: Any, shape: tuple[int, ...], name: str, *, axes: tuple[str, ...] | None = None
) -> Any:
    """`answer` as nested lists of plain floats, of exactly this shape.

    Args:
        answer: list, tuple, array or tensor (anything with `tolist`), of numbers.
        shape: the shape it must have.
        name: what the student calls it.
        axes: the axes' names, for the message about a wrong shape.

    Raises:
        Refused: it is missing, of another kind or shape, or not finite.
    """
    that(answer is not None, f"{name} is still None: put your answer in its place.")
    nested = _plain(answer, name)
    found = _shape(nested, name)
    if found != shape:
        raise Refused(_wrong_shape(name, found, shape, axes))
    that(
        all(map(math.isfinite, _flat(nested))),
        f"{name} contains NaN or infinity: something was divided by zero, or a softmax saw nothing"
        " but -inf.",
    )
    return nested


def numbers_or_none(answer: Any, shape: tuple[int, ...]) -> Any:
    """Like `numbers`, but None where it would refuse: for an earlier part's answer."""
    try:
        return numbers(answer, shape, "")
    except Refused:
        return None


def close(
    answer: Any, expected: Any, name: str, *, hint: str, tolerance: float = TOLERANCE
) -> None:
    """Refuse `answer` unless every number is within `tolerance` of the expected one."""
    close_to_any(answer, [expected], name, hint=hint, tolerance=tolerance)


def close_to_any(
    answer: Any, accepted: Sequence[Any], name: str, *, hint: str, tolerance: float = TOLERANCE
) -> None:
    """Refuse `answer` unless it is within `tolerance`, number by number, of one of `accepted`.

    Several are accepted where a part goes on from an earlier answer: the right numbers, and those
    that follow from the student's own.
    """
    wanted = [_flat(_plain(one, name)) for one in accepted]
    given = _flat(numbers(answer, _shape(_plain(accepted[0], name), name), name))
    gaps = [[abs(x - y) for x, y in zip(given, one, strict=True)] for one in wanted]
    # `not <=` and never `>`: a NaN compares as false with everything.
    if any(all(gap <= tolerance for gap in one) for one in gaps):
        return
    best = min(gaps, key=max)
    if max(best) <= 5 * tolerance and tolerance == TOLERANCE:
        raise Refused(
            f"{name}: close, but not within {tolerance}. Keep at least three decimals in every"
            " step, and round only at the end."
        )
    off = [str(place) for place, gap in enumerate(best, start=1) if not gap <= tolerance]
    which = "" if len(off) == len(given) else f" (number {', '.join(off)} of {len(given)})"
    raise Refused(f"{name} is not right{which}. {hint}")


def choice(answer: Any, options: tuple[int, ...], name: str) -> int:
    """The option chosen, as an int; a number, a one-number tensor or a text such as "h_3" will do.

    Raises:
        Refused: it is missing or none of the options.
    """
    listed = f"{', '.join(map(str, options[:-1]))} or {options[-1]}"
    that(answer is not None, f"{name} is still None: choose {listed}.")
    value = answer.tolist() if hasattr(answer, "tolist") else answer
    while isinstance(value, list | tuple) and len(value) == 1:
        value = value[0]
    if isinstance(value, str):
        value = value.strip().lower().removeprefix("h").lstrip("_ ")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise Refused(f"{name} is no number: choose {listed}.") from None
    if number == 0 and 0 not in options:
        raise Refused(f"{name} is 0: the paper counts from 1. Choose {listed}.")
    that(number in options, f"{name} is none of the choices: {listed}.")
    return int(number)


def results(function: Callable[..., Any], names: tuple[str, ...], *arguments: Any) -> tuple:
    """Call a student's function and take its results apart, in the order of `names`.

    Raises:
        Refused: it is not a function, it raised, or it returned something else than those results.
    """
    called = getattr(function, "__name__", "the function")
    that(callable(function), "What should be a function is none: keep the `def` line as it was.")
    try:
        returned = function(*arguments)
    except Exception as error:
        raise Refused(f"{called} {_what_went_wrong(error)}") from None
    wanted = ", ".join(names)
    that(returned is not None, f"{called} returned nothing: end it with `return {wanted}`.")
    that(
        isinstance(returned, tuple | list) and len(returned) == len(names),
        f"{called} has to return {len(names)} results: `return {wanted}`.",
    )
    return tuple(returned)


def _what_went_wrong(error: Exception) -> str:
    """A student's exception in a line: its kind, its text, and the line of their cell."""
    # The innermost frame that is the student's: cells of a notebook have no file of that name.
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if "ipykernel" in frame.filename or frame.filename.startswith("<")
    ]
    where = f" (line {lines[-1]} of its cell)" if lines else ""
    text = (str(error).strip().splitlines() or [""])[0][:200]
    return f"stopped with {type(error).__name__}{where}: {text}"


def _plain(answer: Any, name: str) -> Any:
    """Nested lists of floats; sequences may hold arrays or tensors."""
    if hasattr(answer, "tolist"):
        answer = answer.tolist()
    if isinstance(answer, list | tuple):
        return [_plain(part, name) for part in answer]
    if isinstance(answer, bool):
        raise Refused(f"{name} contains True or False where numbers are expected.")
    if isinstance(answer, str):
        raise Refused(f"{name} contains text: write numbers without quotation marks.")
    try:
        return float(answer)
    except (TypeError, ValueError):
        kind = type(answer).__name__
        raise Refused(
            f"{name} is of the kind {kind}: expected numbers in a list, tuple, array or tensor."
        ) from None


def _shape(nested: Any, name: str) -> tuple[int, ...]:
    if not isinstance(nested, list):
        return ()
    inner = {_shape(part, name) for part in nested}
    that(len(inner) <= 1, f"{name} is ragged: all its rows must have the same length.")
    return (len(nested), *(inner.pop() if inner else ()))


def _flat(nested: Any) -> list[float]:
    if not isinstance(nested, list):
        return [nested]
    return [number for part in nested for number in _flat(part)]


def _wrong_shape(
    name: str, found: tuple[int, ...], shape: tuple[int, ...], axes: tuple[str, ...] | None
) -> str:
    if len(shape) == 1 and len(found) == 1:
        comma = " (Decimal points, not commas.)" if found[0] == 2 * shape[0] else ""
        return f"{name} holds {found[0]} numbers; expected {shape[0]}.{comma}"
    if len(shape) == 1:
        kind = "a single number" if not found else f"a table of shape {found}"
        return f"{name} is {kind}; expected {shape[0]} numbers in a row."
    meaning = f" = ({', '.join(axes)})" if axes else ""
    return f"{name} has the shape {found}; expected {shape}{meaning}."
