"""The first cell of generated notebooks installs what is missing, and nothing else."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from course_lib.first_cell import first_cell, repository_url

URL = "https://github.com/somebody/looking-back"


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What the cell runs and where it goes, without either being done."""
    made: list[object] = []
    monkeypatch.setattr(subprocess, "run", lambda command, check: made.append(command))
    monkeypatch.setattr(os, "chdir", made.append)
    return made


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without the course."""
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "course_lib" else found(name)
    )


def test_nothing_is_done_where_nothing_is_missing(calls: list[object]) -> None:
    exec(first_cell(URL, "book"), {})
    exec(first_cell("", "book"), {})
    assert calls == []


def test_what_is_missing_is_fetched_and_installed(
    calls: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    forget(monkeypatch)
    exec(first_cell(URL, "exercises/one"), {})
    clone, install = calls
    assert clone == ["git", "clone", "--quiet", "--depth", "1", URL, "looking-back"]
    assert install[:3] == [sys.executable, "-m", "pip"]
    assert install[-1] == "./looking-back"


def test_a_clone_is_made_once_and_worked_in_after_a_restart(
    calls: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    there = {"looking-back", "looking-back/book"}
    monkeypatch.setattr(os.path, "isdir", lambda path: path in there)
    exec(first_cell(URL, "book"), {})
    assert calls == ["looking-back/book"]
    forget(monkeypatch)
    exec(first_cell(URL, "book"), {})
    assert [call[1] for call in calls if isinstance(call, list)] == ["-m"]  # pip, and no git


def test_without_a_repository_it_says_what_to_do(
    calls: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    forget(monkeypatch)
    with pytest.raises(SystemExit, match="pip install -e"):
        exec(first_cell("", "book"), {})
    assert calls == []


def test_the_repository_is_the_one_that_the_book_names(tmp_path: Path) -> None:
    assert repository_url(tmp_path) == ""
    config = tmp_path / "_config.yml"
    config.write_text("repository:\n  url: ''\n")
    assert repository_url(tmp_path) == ""
    config.write_text(f"repository:\n  url: {URL}\n")
    assert repository_url(tmp_path) == URL
