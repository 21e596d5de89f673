"""What all tests of boxes have in common."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from course_lib.grading.sandbox import bubblewrap, forkserver
from tests.conftest import ROOT


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where a fork server can be asked."""
    place = tmp_path_factory.mktemp("fork") / "server"
    with forkserver.shared(bubblewrap.environment(), place):
        yield place


@pytest.fixture(params=["plain", "forked"])
def chosen(request: pytest.FixtureRequest, server: Path) -> Path | None:
    """Either way to start Python inside."""
    return server if request.param == "forked" else None


def python(code: str, told: Path, files: Mapping[str, Path] | None = None) -> list[str]:
    """A kernel's command, but for this code; it can write to a folder where a test is told."""
    command = bubblewrap.kernel_command(ROOT / "pyproject.toml", dict(files or {}))
    place, end = command.index("--chdir"), command.index(sys.executable) + 1
    bound = ["--bind", str(told), str(told)]
    return [*command[:place], *bound, *command[place:end], "-c", code]
