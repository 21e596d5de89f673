"""What the test cells of the assignments are written with.

An answer may be a list, a tuple, a NumPy array or a tensor, of floats or of whole numbers; it is
turned into plain Python floats before anything is compared. A refusal is a sentence for the
student: it says what is wrong and what kind of thing was expected, never the answer.
"""

import array
import builtins
import math
import re
import sys
import textwrap
import traceback
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from course_lib.assignments import instances, wire
from course_lib.assignments.owner import owner, same

TOLERANCE = 0.002
"""How far a number worked out by hand may lie from the exact one; the assignments state it."""


SECONDS = 30
"""How long a cell may take, and a test with all the calls that it makes."""


class Refused(AssertionError):
    """An answer a test does not accept. Its text is all that the notebook shows of it."""

    def _render_traceback_(self) -> list[str]:
        """What IPython prints in place of a traceback, which would show hidden tests' code."""
        return textwrap.wrap(f"Not yet: {self}", width=88)


class Raised(Refused):
    """A student's function raised, in a process of its own."""


def that(holds: bool, message: str) -> None:
    """Refuse with `message` unless `holds`."""
    if not holds:
        raise Refused(message)


def numbers(
    answer: Any,
    shape: tuple[int, ...],
    name: str,
    *,
    axes: tuple[str, ...] | None = None,
    floats: bool = False,
) -> Any:
    """`answer` as nested lists of plain floats, of exactly this shape.

    Args:
        answer: list, tuple, array or tensor (anything with `tolist`), of numbers.
        shape: the shape it must have.
        name: what the student calls it.
        axes: the axes' names, for the message about a wrong shape.
        floats: whether whole numbers are a mistake: a tensor or array of another dtype than a
            floating-point one (of any width), or nothing but Python's `int`.

    Raises:
        Refused: it is missing, of another kind, dtype or shape, or not finite.
    """
    that(answer is not None, f"{name} is still None: put your answer in its place.")
    if floats:
        _refuse_whole_numbers(answer, name)
    nested = _plain(answer, name)
    given = _shape(nested, name)
    if not shape and given and set(given) == {1}:  # one number in brackets is one number
        (nested,), given = _flat(nested), ()
    if given != shape:
        raise Refused(_wrong_shape(name, given, shape, axes))
    that(
        all(map(math.isfinite, _flat(nested))),
        f"{name} contains NaN or infinity: something was divided by zero, the logarithm of 0 was"
        " taken, an exponential was too large, or a softmax saw nothing but -inf.",
    )
    return nested


def numbers_or_none(answer: Callable[[], Any], shape: tuple[int, ...]) -> Any:
    """An earlier part's answer, or None where `numbers` would refuse it or nothing has its name.

    It is asked for by a function, `lambda: energies`: where the earlier cell raised, there is no
    such name, and that must not cost the part that comes after it.
    """
    try:
        return numbers(answer(), shape, "")
    except (Refused, NameError):
        return None


def flag(
    answer: Any, shape: tuple[int, ...], name: str, *, axes: tuple[str, ...] | None = None
) -> Any:
    """`answer` as nested lists of True and False, of exactly this shape: for masks.

    Raises:
        Refused: it is missing, of another shape, or holds anything else than True and False.
    """
    that(answer is not None, f"{name} is still None: put your answer in its place.")
    nested = listed(answer)
    given = _shape(nested, name)
    if given != shape:
        raise Refused(_wrong_shape(name, given, shape, axes))
    that(
        all(isinstance(one, bool) for one in _flat(nested)),
        f"{name} holds something else than True and False. Write these without quotation marks, or"
        " leave what a comparison (`<`, `!=`, ...) gives as it is.",
    )
    return nested


def gradient(
    answer: Any,
    inputs: Any,
    expected: Any,
    name: str,
    *,
    hint: str = "",
) -> None:
    """Refuse a tensor through which the right gradient does not flow.

    An answer that is no tensor (NumPy, lists) has no gradient to be wrong, and passes.

    Args:
        answer: what the student's function returned for `inputs`.
        inputs: the tensor, with `requires_grad`, that the gradient is taken of.
        expected: the gradient of the answer's sum, as nested lists; None asks for a finite one.
        name: what the student calls the answer.
        hint: what to look at where the gradient is wrong.
    """
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(answer, torch.Tensor):
        return
    plain = _flat(slope(answer, answer.sum(), inputs, name, hint))
    wanted = plain if expected is None else _flat(_plain(expected, name))
    that(
        all(abs(x - y) <= 1e-4 for x, y in zip(plain, wanted, strict=True)),
        f"The value of {name} may be right, but its gradient is not: a part of the way from the"
        f" input to it is cut or doubled. {hint}".strip(),
    )


def slope(answer: Any, total: Any, inputs: Any, name: str, hint: str = "") -> Any:
    """The gradient of `total`, a sum over a student's tensor `answer`, with respect to `inputs`.

    It comes as nested lists of floats, with 0 where no gradient flows.

    Raises:
        Refused: the answer carries no gradient, or the gradient is not finite.
    """
    torch = sys.modules["torch"]
    that(
        bool(answer.requires_grad),
        f"{name} carries no gradient: somewhere it leaves PyTorch (`.detach()`, `.item()`,"
        " `.tolist()`, `torch.tensor(...)`, `no_grad`), and nothing could be trained through it.",
    )
    (taken,) = torch.autograd.grad(total, [inputs], retain_graph=True, allow_unused=True)
    nested = (torch.zeros_like(inputs) if taken is None else taken).tolist()
    that(
        all(map(math.isfinite, _flat(nested))),
        f"The gradient through {name} is NaN or infinite, though the value is not. {hint}".strip(),
    )
    return nested


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
    value = _unpacked(answer)
    while isinstance(value, list | tuple) and len(value) == 1:
        value = value[0]
    if isinstance(value, str):
        value = value.strip().lower().removeprefix("h").lstrip("_ ")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise Refused(f"{name} is no number: choose {listed}.") from None
    if number == 0 and 0 not in options:
        raise Refused(f"{name} is 0, and counting begins at 1. Choose {listed}.")
    that(number in options, f"{name} is none of the choices: {listed}.")
    return int(number)


def places(answer: Any, name: str, each: int = 1) -> set[Any]:
    """`answer` as a set of positions counted from 0, or with `each` 2 of pairs of them: links.

    A set, list, tuple, array or tensor will do, in any order; a list that has one of them twice is
    refused.

    Raises:
        Refused: it is missing, or holds something else.
    """
    one = "a position" if each == 1 else f"a tuple of {each} positions"
    wanted = f"{name} has to be a set or a list in which everything is {one}, counted from 0"
    that(answer is not None, f"{name} is still None: put your answer in its place.")
    items = list(answer) if isinstance(answer, set | frozenset) else listed(answer)
    that(isinstance(items, list), f"{wanted}; it is of the kind {type(answer).__name__}.")
    positions = []
    for item in items:
        parts = [item] if each == 1 else listed(item)
        that(
            isinstance(parts, list)
            and len(parts) == each
            and all(_is_position(part) for part in parts),
            f"{wanted}; {str(item)[:40]} is none.",
        )
        positions.append(int(parts[0]) if each == 1 else tuple(map(int, parts)))
    twice = next((item for item in positions if positions.count(item) > 1), None)
    that(twice is None, f"{name} has {twice} twice: name each once, as a set does by itself.")
    return set(positions)


def _is_position(part: Any) -> bool:
    """Whether a part is a whole number from 0, of whatever kind; True and False are none."""
    value = listed(part)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return value >= 0 and float(value).is_integer()


def whose(student_id: Any) -> str:
    """The id that a student's own numbers are drawn from, if it is theirs.

    In the grader it is compared with the name the submission came under; while a student works,
    there is nobody to ask, and what they type is taken.

    Raises:
        Refused: no id is given, or somebody else's.
    """
    that(student_id is not None, "STUDENT_ID is still None: type your id, in quotation marks.")
    typed = student_id.strip() if isinstance(student_id, str) else student_id
    that(
        type(typed) in (str, int) and typed != "",
        "STUDENT_ID is no id: type yours, in quotation marks.",
    )
    known = owner()
    members = (known or "").splitlines()
    that(
        known is None or same(typed, known),
        f"STUDENT_ID is {str(typed)[:40]!r}, but {' or '.join(map(repr, members))} handed this"
        " notebook in. Numbers drawn for somebody else earn nothing: type your own id, and work"
        " with the numbers it gives.",
    )
    return next((member for member in members if same(typed, member)), str(typed))


def drawn_for(student_id: Callable[[], Any]) -> str | None:
    """Whose numbers a part has: None for the book's, which everybody has unless told otherwise.

    Raises:
        Refused: the class has numbers of its own, and no id is given, or somebody else's.
    """
    if instances.salt() is None:
        return None
    try:
        return whose(student_id())
    except NameError:
        return whose(None)


def results(function: Callable[..., Any], names: tuple[str, ...], *arguments: Any) -> tuple:
    """Call a student's function and take its results apart, in the order of `names`.

    With one name, what it returns is the result; with several, a tuple or list of so many.
    Afterwards every argument that holds numbers has to be what it was before.

    Args:
        function: the student's.
        names: what its results are called.
        arguments: what to call it with.

    Raises:
        Refused: it is not a function, it raised, it harmed an argument, or it returned something
            else than those results.
    """
    called = getattr(function, "__name__", "the function")
    that(callable(function), "What should be a function is none: keep the `def` line as it was.")
    before = [wire.snapshot(argument) for argument in arguments]
    try:
        returned = _returned(function, arguments)
    except Refused:  # a stand-in's, which has said already what went wrong
        raise
    except (Exception, SystemExit) as error:
        raise Refused(f"{called} {error_message(*describe_error(error))}") from None
    for place, (argument, copy) in enumerate(zip(arguments, before, strict=True), start=1):
        that(
            wire.snapshot(argument) == copy,
            f"{called} changed its argument number {place}. Every input has to come back as it was:"
            " work on a copy, or write `x = x + 1` and not `x += 1`.",
        )
    wanted = ", ".join(names)
    that(returned is not None, f"{called} returned nothing: end it with `return {wanted}`.")
    if len(names) == 1:
        return (returned,)
    that(
        isinstance(returned, tuple | list) and len(returned) == len(names),
        f"{called} has to return {len(names)} results: `return {wanted}`.",
    )
    return tuple(returned)


def _returned(function: Callable[..., Any], arguments: tuple) -> Any:
    """What a function returns; NumPy takes no tensor that a gradient is asked of, so none then."""
    torch = sys.modules.get("torch")
    asked = [
        torch is not None and isinstance(x, torch.Tensor) and x.requires_grad for x in arguments
    ]
    try:
        return function(*arguments)
    except Exception as error:
        judged = isinstance(error, Refused) and not isinstance(error, Raised)
        if judged or not any(asked):
            raise
        return function(
            *(x.detach() if leaf else x for x, leaf in zip(arguments, asked, strict=True))
        )


def describe_error(error: BaseException) -> tuple[str, str, int | None]:
    """A student's exception: its kind, its text, and the line of their cell."""
    # Cells of a notebook have no file of such a name. The first is the answer's; what it calls may
    # lie in the test's own cell, whose lines say nothing to anybody.
    cells = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if "ipykernel" in frame.filename or frame.filename.startswith("<")
    ]
    lines = [frame.lineno for frame in cells if frame.filename == cells[0].filename]
    kind = next(
        one.__name__
        for one in type(error).__mro__
        if getattr(builtins, one.__name__, None) is one  # a made-up name could carry a message
    )
    try:
        message = str(error)
    except BaseException:
        message = "an error that cannot be put into words"
    text = (message.strip().splitlines() or [""])[0][:200]
    return kind, text, lines[-1] if lines else None


def error_message(kind: str, text: str, line: int | None) -> str:
    """What a student reads of an exception; no number with decimals is repeated."""
    where = f" (line {line} of its cell)" if line is not None else ""
    text = re.sub(r"[-+]?(\d+\.\d*|\.\d+)(e[-+]?\d+)?", "…", text)
    return f"stopped with {kind}{where}: {text}".removesuffix(": ")


def _plain(answer: Any, name: str) -> Any:
    """Nested lists of floats; sequences may hold arrays or tensors."""
    answer = _unpacked(answer)
    if isinstance(answer, list | tuple):
        return [_plain(part, name) for part in answer]
    if isinstance(answer, bool):
        raise Refused(f"{name} contains True or False where numbers are expected.")
    if isinstance(answer, str):
        raise Refused(f"{name} contains text: write numbers without quotation marks.")
    if answer is None:
        raise Refused(f"{name} contains None where a number is expected.")
    if isinstance(answer, int | float | Fraction | Decimal):
        return float(answer)
    raise Refused(
        f"{name} is of the kind {type(answer).__name__}: expected numbers in a list, tuple, array"
        " or tensor."
    )


def listed(answer: Any) -> Any:
    """Nested lists of whatever an answer holds."""
    answer = _unpacked(answer)
    if isinstance(answer, list | tuple):
        return [listed(part) for part in answer]
    return answer


def _unpacked(answer: Any) -> Any:
    """What an array or tensor holds, in plain Python; anything else as it is."""
    torch = sys.modules.get("torch")
    held = isinstance(answer, np.ndarray | np.generic | array.array)
    return answer.tolist() if held or (torch and isinstance(answer, torch.Tensor)) else answer


def _refuse_whole_numbers(answer: Any, name: str) -> None:
    """One zero among floats may be written `0`; a dtype, or a list of nothing else, is meant."""
    dtype = str(getattr(answer, "dtype", ""))
    if dtype:
        whole = not re.search(r"float|complex|object", dtype)
    else:
        held = _flat(listed(answer))
        whole = bool(held) and all(isinstance(one, int) for one in held)
    kind = dtype.removeprefix("torch.") or "whole numbers"
    that(not whole, f"{name} is of dtype {kind}; expected floating-point numbers.")


def shape(answer: Any) -> tuple[int, ...]:
    """The shape of nested lists."""
    return _shape(listed(answer), "it")


def _shape(nested: Any, name: str) -> tuple[int, ...]:
    if not isinstance(nested, list):
        return ()
    inner = {_shape(part, name) for part in nested}
    that(len(inner) <= 1, f"{name} is ragged: all its rows must have the same length.")
    return (len(nested), *(inner.pop() if inner else ()))


def _flat(nested: Any) -> list[Any]:
    if not isinstance(nested, list):
        return [nested]
    return [number for part in nested for number in _flat(part)]


def _wrong_shape(
    name: str, given: tuple[int, ...], shape: tuple[int, ...], axes: tuple[str, ...] | None
) -> str:
    if len(shape) == 1 and len(given) == 1:
        comma = " (Decimal points, not commas.)" if given[0] == 2 * shape[0] else ""
        return f"{name} holds {given[0]} numbers; expected {shape[0]}.{comma}"
    if len(shape) == 1:
        kind = "a single number" if not given else f"a table of shape {given}"
        return f"{name} is {kind}; expected {shape[0]} numbers in a row."
    if not shape:
        comma = " (A decimal point, not a comma.)" if given == (2,) else ""
        return f"{name} has the shape {given}; expected a single number, without an axis.{comma}"
    meaning = f" = ({', '.join(axes)})" if axes else ""
    return f"{name} has the shape {given}; expected {shape}{meaning}."
