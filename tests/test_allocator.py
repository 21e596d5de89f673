"""Freed memory stays with a process that trains or searches."""

import platform
import subprocess
import sys

PROGRAM = """
import resource, sys, torch
from course_lib.allocator import keep_freed_memory

def faults(rounds):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for i in range(rounds):
        torch.ones(16_000_000 - 1000 * i)  # 64 MB, freed at once; each fits where the last was
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

faults(1)
given_back = faults(5)
keep_freed_memory()
faults(1)
kept = faults(5)
print(given_back, kept)
"""


def test_a_large_block_is_not_mapped_anew_each_time() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    given_back, kept = map(int, done.stdout.split())
    if platform.libc_ver()[0] == "glibc":
        assert given_back > 100
        assert kept < given_back / 2
