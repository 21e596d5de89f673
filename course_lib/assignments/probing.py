"""Trying a student's function on classes of input, where one example would decide little.

A function may be right for the batch it was tried on, and wrong for a batch of one sentence, for
numbers of another precision, for a view that has gaps in memory, or when it is called again. What
each of these should give is the test's own affair: a reference in NumPy, which the hidden tests
bring along. Nothing here knows an answer.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from course_lib.assignments import checks

Arrays = Mapping[str, Any]
"""A function's arguments by their names, in their order: arrays, or whatever it is called with."""

STEP = 0.01
"""How far an input is moved to see how fast a result changes, its largest number being 1."""

TOLERANCE = 1e-4
"""How far a number of a result may lie from the reference's."""

FLAT = 2e-3
"""Slopes nearer than this are the same: single precision says no more of them."""


def tensors(arguments: Arrays, dtype: torch.dtype = torch.float32) -> list[Any]:
    """The arguments as tensors, those of floats in this precision; anything else as it is."""
    return [
        torch.tensor(x, dtype=dtype if x.dtype.kind == "f" else None)
        if isinstance(x, np.ndarray)
        else x
        for x in arguments.values()
    ]


def alike(
    function: Callable[..., Any],
    names: tuple[str, ...],
    reference: Callable[..., Any],
    arguments: Arrays,
    *,
    rows: Sequence[str],
    hint: str,
) -> None:
    """Refuse a function that does not give what the reference gives, however it is asked.

    It is asked for the batch, for the batch again, with its rows the other way round, for each row
    alone, in double precision and with inputs that are not contiguous.

    Args:
        function: the student's.
        names: what its results are called.
        reference: the same in NumPy; one array, or a tuple with one for each name, None for those
            that are not looked at.
        arguments: of both.
        rows: those that have a row for each sentence, as every result has.
        hint: what to look at where the plain call is wrong.
    """
    wanted = _tuple(reference(**arguments))

    def ask(given: Sequence[Any], expected: tuple[Any, ...], why: str) -> None:
        results = checks.results(function, names, *given)
        for name, result, right in zip(names, results, expected, strict=True):
            if right is None:
                continue
            checks.numbers(result, np.shape(right), name)
            checks.close(result, right, name, hint=why, tolerance=TOLERANCE)

    plain = tensors(arguments)
    ask(plain, wanted, hint)
    ask(plain, wanted, "It was right, and is wrong when the same is asked again.")
    turned = {name: x[::-1].copy() if name in rows else x for name, x in arguments.items()}
    why = "It keeps something of one call for the next: other numbers of the same shape go wrong."
    ask(tensors(turned), _tuple(reference(**turned)), why)
    for b in range(len(arguments[rows[0]])):
        alone = {name: x[b : b + 1] if name in rows else x for name, x in arguments.items()}
        why = "A sentence alone, a batch of one, gets another result than among others."
        ask(tensors(alone), _tuple(reference(**alone)), why)
    ask(tensors(arguments, torch.float64), wanted, "It is wrong in double precision.")
    why = "It is wrong where an input is a view, as `x.T` and `x[::2]` are."
    ask([_with_gaps(x) for x in plain], wanted, why)


def slopes(
    function: Callable[..., Any],
    names: tuple[str, ...],
    arguments: Arrays,
    of: Sequence[str],
    *,
    result: int = 0,
) -> None:
    """Refuse a gradient that is not how fast the function's own values change.

    So a wrong value costs nothing here, but a value has to depend on every one of these inputs.
    Each is moved along two directions, and the change of a weighed sum of the result is compared
    with what PyTorch says. A result that is no tensor has no gradient, and passes.

    Args:
        function: the student's.
        names: what its results are called.
        arguments: its arguments.
        of: those the gradient reaches; the gradient is compared for each of them.
        result: which of the results.
    """
    place = {name: i for i, name in enumerate(arguments)}
    leaves = tensors(arguments)
    for name in of:
        leaves[place[name]].requires_grad_()
    answer = checks.results(function, names, *leaves)[result]
    weigh = _waves(answer.shape, 1.0) if isinstance(answer, Tensor) else None
    for name in of:
        direction = [_waves(np.shape(arguments[name]), phase) for phase in (2.0, 3.0)]
        slopes = [_slope(function, names, arguments, name, along, result) for along in direction]
        checks.that(
            any(abs(one) > FLAT for one in slopes),
            f"{names[result]} stays the same whatever {name} is.",
        )
        if weigh is None:
            continue
        total = (answer * torch.as_tensor(weigh).to(answer)).sum()
        taken = np.array(checks.slope(answer, total, leaves[place[name]], names[result]))
        checks.that(
            all(
                abs(float((taken * along).sum()) - one) <= FLAT * (1 + abs(one))
                for along, one in zip(direction, slopes, strict=True)
            ),
            f"The gradient of {names[result]} with respect to {name} is not how fast"
            f" {names[result]} changes with it: a part of the way is cut (`.detach()`,"
            f" `torch.tensor(...)`, `no_grad`) or doubled.",
        )


def _slope(
    function: Callable[..., Any],
    names: tuple[str, ...],
    arguments: Arrays,
    name: str,
    along: NDArray[Any],
    result: int,
) -> float:
    """How fast the weighed sum changes along a direction, from four values of the function."""
    total = 0.0
    for steps, share in ((1, 8), (-1, -8), (2, -1), (-2, 1)):
        moved = {**arguments, name: arguments[name] + steps * STEP * along}
        answer = checks.results(function, names, *tensors(moved))[result]
        values = np.array(answer.tolist() if hasattr(answer, "tolist") else answer, dtype=float)
        total += share * float((values * _waves(values.shape, 1.0)).sum())
    checks.that(math.isfinite(total), f"{names[result]} contains NaN or infinity.")
    return total / (12 * STEP)


def _waves(shape: tuple[int, ...], phase: float) -> NDArray[Any]:
    """Numbers of size 1 at most, none of which is like its neighbours."""
    return np.cos(phase * np.arange(1, 1 + math.prod(shape))).reshape(shape)


def _with_gaps(x: Any) -> Any:
    """The same numbers in another order in memory, or each with a gap behind it."""
    if not isinstance(x, Tensor) or x.ndim == 0:
        return x
    if x.ndim == 1:
        return torch.stack([x, torch.ones_like(x)], dim=-1)[..., 0]
    return x.transpose(-1, -2).contiguous().transpose(-1, -2)


def _tuple(results: Any) -> tuple[Any, ...]:
    return results if isinstance(results, tuple) else (results,)
