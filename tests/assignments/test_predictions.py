"""A prediction is committed once, and shown from then on."""

import json
from pathlib import Path

import pytest

from course_lib.assignments import predictions


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    return tmp_path


def said(text: str, capsys: pytest.CaptureFixture[str]) -> str:
    predictions.commit(text)
    return capsys.readouterr().out


def test_the_first_one_stands(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "Write your prediction" in said(" \n ", capsys)
    assert not (folder / predictions.FILE).exists()
    assert said("The third\nwins.", capsys).startswith("Committed on")
    first = (folder / predictions.FILE).read_bytes()
    again = said("The third wins.", capsys)
    assert ": The third wins." in again
    assert "it stands" not in again
    assert "it stands" in said("I always thought the first.", capsys)
    assert (folder / predictions.FILE).read_bytes() == first


def test_the_grader_shows_it_and_commits_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert said("The third wins.", capsys) == "No prediction was handed in.\n"
    assert not (folder / predictions.FILE).exists()
    monkeypatch.delenv("NBGRADER_EXECUTION")
    predictions.commit("The third wins.")
    entry = json.loads((folder / predictions.FILE).read_text())
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert "do not belong" not in said("", capsys)
    (folder / predictions.FILE).write_text(json.dumps(entry | {"text": "The first wins."}))
    assert "do not belong together" in said("", capsys)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"text": 1}', "\x00"])
def test_a_damaged_file_is_none(
    folder: Path, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / predictions.FILE).write_text(content)
    assert said("The third wins.", capsys).startswith("Committed on")
