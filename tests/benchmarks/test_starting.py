"""The first translation: measured as typed, and as quick as it is said to be."""

import json

import pytest

from benchmarks.record import RESULTS
from benchmarks.starting import measure_start
from course_lib.files import sha256_of
from course_lib.pretrained import FOLDER


@pytest.mark.slow
def test_one_round_answers_from_an_empty_folder() -> None:
    result = measure_start("multi30k-en-de-laptop-rnnencdec", rounds=1)
    card = FOLDER / "multi30k-en-de-laptop-rnnencdec" / "result.json"
    [first, *_] = json.loads(card.read_text(encoding="utf-8"))["examples"]
    assert (result["source"], result["translation"]) == (first["source"], first["translation"])
    for way in ("seconds", "processor_seconds"):
        assert all(len(result[way][name]) == 1 for name in ("torch", "translate"))
        assert min(result[way]["torch"]) > 0


def test_the_recorded_answer_came_within_two_seconds_of_importing_torch() -> None:
    result = json.loads((RESULTS / "start.json").read_text())
    assert result["beyond"] <= 2
    assert result["processor_beyond"] <= 2
    assert result["name"] == "multi30k-en-de-laptop"
    published = FOLDER / "multi30k-en-de-laptop" / "model.safetensors"
    assert result["model_sha256"] == sha256_of(published)  # measured anew after every change
    assert result["translation"].startswith("ein mann")
