"""Which commit a run names as the code that made it."""

import subprocess
from pathlib import Path

import pytest

from course_lib.training import provenance


def test_a_copy_inside_another_repository_is_of_no_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `pip install .` into a student's project makes it, whose commits are not the library's."""
    library = tmp_path / ".venv" / "course_lib"
    (library / "training").mkdir(parents=True)
    (library / "__init__.py").touch()
    monkeypatch.setattr(provenance, "__file__", str(library / "training" / "provenance.py"))

    def git(*words: str) -> str:
        names = ["-c", "user.name=A", "-c", "user.email=a@uni.example"]
        done = subprocess.run(
            ["git", *names, *words], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    git("init", "--quiet")
    git("commit", "--quiet", "--allow-empty", "--message", "a student's own")
    assert provenance.git_commit() is None
    git("add", ".")
    git("commit", "--quiet", "--message", "the library, too")
    assert provenance.git_commit() == git("rev-parse", "HEAD")
