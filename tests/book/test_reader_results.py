"""The recorded readers: one corpus, one recipe, one decoder, and another encoder each."""

import json
from typing import Any

import pytest

from course_lib.records import read_record

NAMES = ("bidirectional", "self-attention", "no-positions")
SEEDS = (0, 1)


def recorded(name: str, seed: int) -> dict[str, Any]:
    return read_record(f"toy-en-de-rnnsearch-cpu-reader-{name}-seed{seed}")


@pytest.mark.parametrize("seed", SEEDS)
def test_only_encoder_and_positions_differ(seed: int) -> None:
    runs = {name: recorded(name, seed) for name in NAMES}
    for name, run in runs.items():
        assert run["seed"] == seed
        assert run["positions"] == (name != "no-positions")
        assert run["cpu_seconds"] > 0
        assert run["scores"]["test"]["beam"] == 1
    for key in ("corpus_sha256", "epochs", "git_commit"):
        assert len({json.dumps(run[key]) for run in runs.values()}) == 1, key
    settings = [
        {key: value for key, value in run["changes"].items() if key not in ("encoder", "positions")}
        for run in runs.values()
    ]
    assert settings[0] == settings[1] == settings[2]
    encoders = [run["model_config"]["encoder"] for run in runs.values()]
    assert encoders == ["bidirectional", "self-attention", "self-attention"]
    assert runs["self-attention"]["parameters"] == runs["no-positions"]["parameters"]


def test_self_attention_learns_faster_and_needs_its_positions() -> None:
    """The findings of the chapter on self-attention, whoever records them anew."""
    bleu = {
        name: [recorded(name, seed)["scores"]["test"]["bleu_tok"] for seed in SEEDS]
        for name in NAMES
    }
    assert min(bleu["self-attention"]) > max(bleu["bidirectional"])
    assert min(bleu["self-attention"]) > 1.5 * max(bleu["no-positions"])
