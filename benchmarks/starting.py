"""How long the first translation takes: `course translate NAME` against importing torch alone."""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from tqdm import tqdm

from benchmarks.machine import about
from course_lib.files import sha256_of
from course_lib.pretrained import FOLDER
from course_lib.training.run_directory import BEST

SENTENCE = "a man is riding a bicycle ."
COURSE = "from course_lib.cli import main; main()"


def measure_start(name: str = "multi30k-en-de-laptop", rounds: int = 5) -> dict[str, Any]:
    """Seconds of both commands, from start to end, taking turns, each in a process of its own.

    They are run from an empty folder, on one thread, once before anything counts, so that the files
    are in memory. Beside the seconds on the clock stand those of the processor, which other
    programs on the machine hardly change.
    """
    library = str(Path(__file__).parents[1])  # the copy that is measured is the one that measures
    python = [sys.executable, "-c"]
    commands = {
        "torch": [*python, "import torch"],
        "translate": [*python, COURSE, "translate", name],
    }
    clock: dict[str, list[float]] = {each: [] for each in commands}
    processor: dict[str, list[float]] = {each: [] for each in commands}
    answers = set()
    with tempfile.TemporaryDirectory() as folder:
        for number in tqdm(range(rounds + 1), desc="rounds"):
            for each, command in commands.items():
                used, started = _used(), time.perf_counter()
                done = subprocess.run(
                    command,
                    cwd=folder,
                    env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": library},
                    input=SENTENCE + "\n",
                    capture_output=True,
                    text=True,
                    check=True,
                )
                if number:
                    clock[each].append(time.perf_counter() - started)
                    processor[each].append(_used() - used)
                if each == "translate":
                    answers.add(done.stdout)
    [answer] = answers
    return {
        "what": "start",
        "name": name,
        "model_sha256": sha256_of(FOLDER / name / BEST),
        "source": SENTENCE,
        "translation": answer.rstrip("\n"),
        "threads": 1,
        "rounds": rounds,
        "seconds": clock,
        "processor_seconds": processor,
        "beyond": _beyond(clock),
        "processor_beyond": _beyond(processor),
        **about(),
    }


def _used() -> float:
    """Processor seconds of all ended child processes so far."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _beyond(seconds: dict[str, list[float]]) -> float:
    """The median over rounds of what translating took more than importing torch."""
    pairs = zip(seconds["translate"], seconds["torch"], strict=True)
    return median(translate - torch for translate, torch in pairs)
