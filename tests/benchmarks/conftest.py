"""Programs that take the seconds they are given: no assertion depends on how busy a machine is."""

from collections.abc import Callable, Iterator
from types import ModuleType

import pytest
import torch

from benchmarks.rounds import Program, Timing

GIB = 2**30
Given = Callable[[ModuleType, dict[str, float]], None]


@pytest.fixture(autouse=True)
def threads_as_before() -> Iterator[None]:
    """Programs say how many threads torch is to take, here for this process."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Given:
    """Let the programs of a module's benchmark run each item once, here, and take so many seconds.

    `given(module, {"ours": 2.0})` stands for a measurement in which every item of `ours` took two
    seconds (or, of a program that returns a measurement, measured 2) in a process that held two GiB
    at its peak. Processes of their own and their times are `test_rounds.py`'s.
    """

    def give(module: ModuleType, seconds: dict[str, float]) -> None:
        def take_turns(
            programs: dict[str, Program], items: int, rounds: int, **_: object
        ) -> dict[str, Timing]:
            for program in programs.values():
                step = program.prepare(*program.arguments)
                for item in range(items):
                    step(item)
            return {
                name: Timing([[seconds[name]] * items] * rounds, peak=2 * GIB) for name in programs
            }

        monkeypatch.setattr(module, "take_turns", take_turns)

    return give


@pytest.fixture
def small_products(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rates of matrix products are measured on small ones."""
    monkeypatch.setattr("benchmarks.machine.SHAPES", ((64, 64, 64),))
