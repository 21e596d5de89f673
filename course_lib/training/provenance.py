"""Which code and which machine a run's numbers come from."""

import platform
import subprocess
from pathlib import Path

import torch

from course_lib.training.device import best_device

CODE = ("corpora", "models", "search", "evaluation", "training")
"""The folders of course_lib whose code decides a run's numbers."""


def device_name() -> str:
    """The processor or graphics card that torch computes on."""
    device = best_device()
    if device.type == "cuda":
        return torch.cuda.get_device_name()
    return f"{processor()} ({device.type.upper()})"


def processor() -> str:
    """The processor's name as its maker writes it, or the kind of machine where no one says."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def git_commit() -> str | None:
    """The commit of the library that ran; `-dirty` if what decides numbers was changed.

    None where no repository holds it, as an installed copy in a folder of one that is another's.
    """
    folder = Path(__file__).parent.parent
    try:
        answers = [
            subprocess.run(
                ["git", *words], cwd=folder, capture_output=True, text=True, check=True
            ).stdout.strip()
            for words in (
                ["ls-files", "--error-unmatch", "__init__.py"],
                ["rev-parse", "HEAD"],
                ["status", "--porcelain", "--untracked-files=no", "--", *CODE],
            )
        ]
    except (OSError, subprocess.CalledProcessError):
        return None
    _, commit, changed = answers
    return commit + ("-dirty" if changed else "")
