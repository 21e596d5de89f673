"""A function that lets the library do the work is noticed, however it gets there."""

import functools
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import course_lib
from course_lib.assignments import checks
from course_lib.assignments.checks import Refused
from course_lib.assignments.own_work import module_of
from course_lib.models.scores import AdditiveScore, masked_softmax

ENERGIES = torch.tensor([[1.0, 2.0]])
MASK = torch.tensor([[True, True]])


class Mine(nn.Module):
    """A student's module, with the library's inside it."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = AdditiveScore(2, 2, 3)

    def forward(self, energies: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return self.inner.keys(torch.zeros(1, 2, 2))


def calls_it(energies: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return masked_softmax(energies, mask)


def calls_it_through_map(energies: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return next(iter(map(masked_softmax, [energies], [mask])))


def calls_it_and_hides_the_error(energies: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    try:
        masked_softmax(energies, mask)
    finally:
        raise ValueError("look elsewhere")


def score_of(energies: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return AdditiveScore(2, 2, 3)(torch.zeros(1, 2), torch.zeros(1, 2, 3))


def own(energies: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return torch.softmax(energies.masked_fill(~mask, float("-inf")), 1)


def own_after_an_import(energies: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    from course_lib.errors import CourseError
    from course_lib.models import scores

    assert scores
    assert CourseError("text")
    return nn.Softmax(1)(energies)


@pytest.mark.parametrize(
    "function",
    [
        masked_softmax,
        calls_it,
        calls_it_through_map,
        calls_it_and_hides_the_error,
        functools.partial(masked_softmax, mask=MASK),
        lambda *arguments: masked_softmax(*arguments),
        Mine(),
        Mine().forward,
        functools.partial(AdditiveScore(2, 2, 3), keys=torch.zeros(1, 2, 3)),
        score_of,
        functools.lru_cache(masked_softmax),
    ],
)
def test_the_librarys_work_is_refused_in_every_disguise(function: Callable[..., Any]) -> None:
    arguments = (ENERGIES,) if isinstance(function, functools.partial) else (ENERGIES, MASK)
    with pytest.raises(Refused, match=r"calls the library's own .+ \(course_lib\.models\.scores"):
        checks.results(function, ("alpha",), *arguments)
    assert sys.getprofile() is None


@pytest.mark.parametrize("function", [own, own_after_an_import, torch.add, Mine().inner.W_a])
def test_own_work_with_torch_is_taken(function: Callable[..., Any]) -> None:
    arguments = (ENERGIES,) if isinstance(function, nn.Module) else (ENERGIES, MASK)
    (alpha,) = checks.results(function, ("alpha",), *arguments)
    assert isinstance(alpha, torch.Tensor)


def test_every_file_of_the_library_is_watched() -> None:
    package = Path(course_lib.__file__).parent
    for path in package.rglob("*.py"):
        parts = path.relative_to(package).with_suffix("").parts
        assert module_of(str(path)) == ".".join(("course_lib", *parts)).removesuffix(".__init__")


def test_an_import_of_the_library_for_the_first_time_is_not_its_use() -> None:
    code = (
        "from course_lib.assignments import checks\n"
        "def late():\n    from course_lib.models import decoder\n    return 1\n"
        "assert checks.results(late, ('one',)) == (1,)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_opened_module_may_be_used_and_may_use_the_rest() -> None:
    def step(energies: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return score_of(energies, mask) + masked_softmax(energies, mask).sum()

    for opened in ("course_lib.models.scores", "course_lib.models"):
        checks.results(step, ("energies",), ENERGIES, MASK, allow=(opened,))
    for closed in ("course_lib.models.score", "course_lib.search"):
        with pytest.raises(Refused, match="AdditiveScore"):
            checks.results(step, ("energies",), ENERGIES, MASK, allow=(closed,))


def test_a_students_code_that_an_opened_module_calls_is_still_theirs() -> None:
    cell = """
from course_lib.assignments import steps
from course_lib.assignments.own_work import module_of
from course_lib.models.scores import masked_softmax
def softmax(energies, mask):
    class Answer:
        def tolist(self):
            self.alpha = masked_softmax(energies, mask)
            return []
    answer = Answer()
    steps.sentences(answer, 0, "nothing")
    return answer.alpha
"""
    names: dict[str, Any] = {}
    exec(compile(cell, "<cell>", "exec"), names)
    with pytest.raises(Refused, match="calls the library's own masked_softmax"):
        checks.results(names["softmax"], ("alpha",), ENERGIES, MASK)


def test_taking_the_watch_away_is_refused_even_if_it_is_put_back() -> None:
    def takes_it_away(energies: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        sys.setprofile(None)
        return masked_softmax(energies, mask)

    def puts_it_back(energies: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        hook = sys.getprofile()
        sys.setprofile(None)
        alpha = masked_softmax(energies, mask)
        sys.setprofile(hook)
        return alpha

    def for_all_threads(energies: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        threading.setprofile(lambda *_: None)
        functools.partial(sys.setprofile, lambda *_: None)()
        return masked_softmax(energies, mask)

    for function in (takes_it_away, puts_it_back, for_all_threads):
        with pytest.raises(Refused, match="leave the hook alone"):
            checks.results(function, ("alpha",), ENERGIES, MASK)
    assert sys.getprofile() is None


def test_a_hook_that_was_there_before_is_there_again() -> None:
    def profiler(*_: Any) -> None:
        return None

    sys.setprofile(profiler)
    try:
        checks.results(own, ("alpha",), ENERGIES, MASK)
        found = sys.getprofile()
    finally:
        sys.setprofile(None)
    assert found is profiler
