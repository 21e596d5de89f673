"""What all tests of boxes have in common."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from course_lib.grading.sandbox import forkserver, walls


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where a fork server can be asked."""
    place = tmp_path_factory.mktemp("fork") / "server"
    with forkserver.shared(walls.environment(), place):
        yield place
