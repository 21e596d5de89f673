"""Programs take turns in processes of their own."""

import os

import pytest

from benchmarks import rounds
from benchmarks.rounds import Program, Step, take_turns
from course_lib.errors import CourseError


def number_of_process(_: str) -> Step:
    return lambda _: float(os.getpid())


def item_number(_: str) -> Step:
    return float


class Clock:
    """Stands in for the module `time` in a program's own process; only its work moves it on."""

    now = 0.0

    def perf_counter(self) -> float:
        return self.now


def worker(seconds: float) -> Step:
    """Work that takes so many seconds on that clock."""
    clock = Clock()
    rounds.time = clock

    def work(_: int) -> None:
        clock.now += seconds

    return work


def eater(mebibytes: int) -> Step:
    kept: list[bytes] = []

    def eat(_: int) -> float:
        kept.append(b"x" * (mebibytes << 20))
        return 0.0

    return eat


def quitter(_: str) -> Step:
    def leave(_: int) -> float:
        os._exit(1)

    return leave


def test_every_item_is_measured_in_every_round_by_a_process_of_its_own() -> None:
    programs = {
        "a": Program(number_of_process, ("",)),
        "b": Program(number_of_process, ("",)),
        "items": Program(item_number, ("",)),
    }
    timings = take_turns(programs, items=3, rounds=2, quiet=True)
    assert timings["items"].values == [[0.0, 1.0, 2.0]] * 2
    processes = {value for name in ("a", "b") for row in timings[name].values for value in row}
    assert len(processes) == 2
    assert os.getpid() not in processes


def test_time_and_peak_memory_are_each_programs_own() -> None:
    programs = {"works": Program(worker, (0.5,)), "eats": Program(eater, (100,))}
    timings = take_turns(programs, items=1, rounds=2, warmup=0, quiet=True)
    assert timings["works"].values == [[0.5], [0.5]]
    assert timings["eats"].peak - timings["works"].peak >= 150 << 20


def test_a_program_that_ends_is_named() -> None:
    with pytest.raises(CourseError, match="quits ended"):
        take_turns({"quits": Program(quitter, ("",))}, items=1, rounds=1, quiet=True)
