"""The recorded trainings of the chapter on teaching a decoder: complete and consistent."""

import json
import re
from typing import Any

import pytest

from course_lib.records import record_path
from course_lib.training import TEACHER_FORCING, RunConfig

RESULT = record_path("verbs-tokens-teaching")


@pytest.fixture(scope="module")
def recorded() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(RESULT.read_text())
    return content


def test_the_record_says_where_it_comes_from(recorded: dict[str, Any]) -> None:
    assert re.fullmatch("[0-9a-f]{40}(-dirty)?", recorded["git_commit"])
    assert recorded["corpus_sha256"]
    assert recorded["device"]
    assert {"python", "torch"} <= recorded["versions"].keys()
    config = RunConfig("rnnencdec", "verbs", "tokens", changes=recorded["settings"])
    assert config.recipe.teacher_forcing_end == recorded["settings"]["teacher_forcing_end"]


def test_every_schedule_has_as_many_seeds(recorded: dict[str, Any]) -> None:
    seeds: dict[tuple[str, str], list[int]] = {}
    for run in recorded["runs"]:
        seeds.setdefault((run["model"], run["schedule"]), []).append(run["seed"])
    assert {schedule for model, schedule in seeds if model == "rnnencdec"} == set(TEACHER_FORCING)
    numbers = {tuple(found) for found in seeds.values()}
    assert len(numbers) == 1
    assert len(next(iter(numbers))) >= 2


def test_every_run_was_measured_alike(recorded: dict[str, Any]) -> None:
    steps = [row["step"] for row in recorded["runs"][0]["curve"]]
    assert steps[0] == 0
    for run in recorded["runs"]:
        assert [row["step"] for row in run["curve"]] == steps
        assert steps[-1] == run["updates"]
        assert all(0 <= row["tokens"] <= 100 for row in run["curve"])
        assert 0 <= run["clipped"] <= 1
        assert run["seconds"] > 0


def test_only_what_is_read_can_change_the_errors(recorded: dict[str, Any]) -> None:
    for run in recorded["runs"]:
        errors = run["errors"]
        assert {len(row) for row in errors.values()} == {recorded["words"] + 1}
        assert errors["own"][0] == errors["true"][0]  # nothing has been read yet
        before = slice(0, recorded["slip"])
        assert errors["slip"][before] == errors["true"][before]
