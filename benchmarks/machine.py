"""What the machine can do: the rates that no program can beat, measured beside the programs."""

import platform
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from statistics import median
from typing import Any

import psutil
import torch
from torch import Tensor
from torch.utils.benchmark import Timer

from course_lib.training.provenance import device_name, git_commit

# (rows, inner, columns): square, and those that a large layer has. The best one counts.
SHAPES = ((1024, 1024, 1024), (2048, 1024, 1024), (1024, 256, 8192))


def product_rates() -> list[Callable[[], float]]:
    """For each shape, a function that multiplies once in fp32 and returns operations a second."""

    def rate(a: Tensor, b: Tensor, out: Tensor) -> float:
        started = time.perf_counter()
        torch.mm(a, b, out=out)
        return 2 * a.shape[0] * a.shape[1] * b.shape[1] / (time.perf_counter() - started)

    tensors = [(torch.randn(m, k), torch.randn(k, n), torch.empty(m, n)) for m, k, n in SHAPES]
    return [partial(rate, *three) for three in tensors]


def copy_rate(numbers: int) -> float:
    """Bytes a second moved by a[i] = b[i] + s c[i] over three arrays (STREAM's triad), at best.

    numbers: length of each array. Small ones stay in the caches, as a small model does.
    """
    a, b, c = torch.zeros(numbers), torch.ones(numbers), torch.ones(numbers)
    return 12 * numbers / _fastest(lambda: torch.add(b, c, alpha=3.0, out=a))


def tanh_rate() -> float:
    """Numbers a second that go through tanh, at best, in arrays that stay in the caches."""
    x, y = torch.randn(100_000), torch.empty(100_000)
    return len(x) / _fastest(lambda: torch.tanh(x, out=y))


def _fastest(work: Callable[[], object]) -> float:
    """The shortest time that `work` took while it was repeated for a twentieth of a second."""
    return min(timer(work).blocked_autorange(min_run_time=0.05).times)


def timer(work: Callable[[], object]) -> Timer:
    """Torch's clock for some work; it warms up and repeats what is short."""
    return Timer("work()", globals={"work": work}, num_threads=torch.get_num_threads())


def seconds_in_turn(works: Sequence[Callable[[], object]], rounds: int) -> list[float]:
    """The median time of each, over rounds in which they take turns."""
    times = [
        [timer(work).blocked_autorange(min_run_time=0.02).median for work in works]
        for _ in range(rounds)
    ]
    return [median(each) for each in zip(*times, strict=True)]


def about() -> dict[str, Any]:
    """Date, processor and versions, for a recorded result; nothing that names the machine."""
    return {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "processor": device_name(),
        "cores": psutil.cpu_count(logical=False),
        "python": platform.python_version(),
        "torch": version("torch"),
        "git_commit": git_commit(),
    }
