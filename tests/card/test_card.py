"""The library on a graphics card that is not there, in a process of its own."""

import os
import subprocess
import sys

from tests.conftest import ROOT


def test_what_runs_on_the_cpu_runs_on_a_card_with_the_same_numbers() -> None:
    command = "-m pytest -q -n 0 -p tests.card.card -p no:cacheprovider tests/card/on_card.py"
    done = subprocess.run(
        [sys.executable, *command.split()],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
