"""What a function is tried with: each slip of a class is seen, and a right function passes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from course_lib.assignments import probing
from course_lib.assignments.checks import Refused

W = np.array([[0.5, -1.0, 0.25], [2.0, 0.3, -0.7]])
VALUES = {"x": np.array([[1.0, 2.0, -1.0], [0.5, 0.0, 0.3]]), "W": W, "power": 2}
kept: list[Tensor] = []
products: dict[Any, Any] = {}


def reference(x: Any, W: Any, power: int) -> Any:
    return (x @ W.T) ** power


def in_place(x: Tensor, W: Tensor, power: int) -> Tensor:
    x += 0.0
    x[0, 0] += 1
    return (x @ W.T) ** power


def remembered(x: Tensor, W: Tensor, power: int) -> Tensor:
    kept.append(x)
    return reference(x, W, power) + 0.1 * (len(kept) > 1)


def cached_by_shape(x: Tensor, W: Tensor, power: int) -> Any:
    return products.setdefault((x.shape, x.dtype), reference(x, W, power))


SLIPS: dict[str, Callable[..., Any]] = {
    "result is not right. Look again": lambda x, W, power: x @ W.T,
    "changed its argument number 1": in_place,
    "when the same is asked again": remembered,
    "other numbers of the same shape": cached_by_shape,
    "has the shape (2,); expected (1, 2)": lambda *given: reference(*given).squeeze(),
    "A sentence alone": lambda x, W, power: reference(x, W, power) + 0.1 * (len(x) == 1),
    "dtype": lambda x, W, power: (x @ W.float().T) ** power,
    "view size is not compatible": lambda x, W, power: reference(x.view(-1).view(-1, 3), W, power),
}


@pytest.mark.parametrize("said", SLIPS)
def test_each_class_of_slips_is_seen(said: str) -> None:
    with pytest.raises(Refused) as refusal:
        probing.alike(SLIPS[said], ("result",), reference, VALUES, rows=("x",), hint="Look again.")
    assert said in str(refusal.value)


def test_what_is_right_passes_in_torch_and_in_numpy() -> None:
    def in_numpy(x: Tensor, W: Tensor, power: int) -> Any:
        return reference(x.numpy(), W.numpy(), power)

    for function in (reference, in_numpy):
        probing.alike(function, ("result",), reference, VALUES, rows=("x",), hint="")


def test_a_gradient_is_compared_with_how_fast_the_values_change() -> None:
    def wrong_but_whole(x: Tensor, W: Tensor, power: int) -> Tensor:
        return torch.sin(x @ W.T)

    def plain(x: Tensor, W: Tensor, power: int) -> Any:
        return reference(x.detach().numpy(), W.detach().numpy(), power)

    for function in (reference, wrong_but_whole, plain):
        probing.slopes(function, ("result",), VALUES, ("x", "W"))
    for function, said in (
        (lambda x, W, power: (x.detach() @ W.T) ** power, "with respect to x is not how fast"),
        (lambda x, W, power: (x @ torch.tensor(W.tolist()).T) ** power, "with respect to W"),
        (lambda x, W, power: reference(x, W, power).detach(), "carries no gradient"),
        (lambda x, W, power: (x + x - x.detach()) @ W.T, "cut .* or doubled"),
        (lambda x, W, power: x * 2, "stays the same whatever W is"),
        (lambda x, W, power: reference(x, W, power) * (x.sum() - x.sum()).sqrt(), "stays the same"),
    ):
        with pytest.raises(Refused, match=said):
            probing.slopes(function, ("result",), VALUES, ("x", "W"))
