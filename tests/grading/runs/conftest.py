"""What all tests of handed-in runs have in common."""

import shutil
from pathlib import Path

import pytest

from tests.grading.runs.handed_in import DATA


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A submission's folder with the honest pair in it; `comparison` is the student's to change."""
    shutil.copytree(DATA / "comparison", tmp_path / "comparison")
    return tmp_path
