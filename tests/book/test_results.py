"""The recorded runs that pages read: complete, named after what they hold, and consistent."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from course_lib.models import EncoderDecoder, ModelConfig, count_parameters
from course_lib.training import recorded_name

RESULTS = Path(__file__).parents[2] / "book" / "results"
RECORDED = sorted(RESULTS.glob("*seed[0-9].json"))
RUNS = [path for path in RECORDED if path.name.startswith("multi30k-")]
EXAMPLES = sorted(RESULTS.glob("*-examples.json"))


def test_both_models_are_recorded() -> None:
    names = {path.name for path in RUNS}
    for model in ("rnnencdec", "rnnsearch"):
        assert f"multi30k-en-de-{model}-cpu-seed0.json" in names
    assert EXAMPLES


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_a_recorded_run_is_complete_and_bears_its_name(path: Path) -> None:
    result = json.loads(path.read_text())
    start, end = recorded_name(result).split("-seed")
    assert path.name.startswith(start)  # a tag may stand between
    assert path.name.endswith(f"-seed{end}")
    assert result["train_seconds"] > 0
    assert re.fullmatch("[0-9a-f]{40}(-dirty)?", result["git_commit"])
    assert result["corpus_sha256"]
    assert {"python", "torch", "sacrebleu"} <= result["versions"].keys()
    model = EncoderDecoder(ModelConfig(**result["model_config"]))
    assert count_parameters(model) == result["parameters"]
    assert [record["epoch"] for record in result["metrics"]] == list(range(1, result["epochs"] + 1))


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.stem)
def test_the_comparison_was_scored_as_published(path: Path) -> None:
    result = json.loads(path.read_text())
    assert len(result["corpus_sha256"]) == 6
    scores = result["scores"]["test_2016_flickr"]
    assert scores["bleu_tok"] >= {"rnnsearch": 37, "rnnencdec": 25}[result["model"]]
    assert scores["beam"] == 12
    assert "tok:none" in scores["bleu_tok_signature"]
    assert "tok:13a" in scores["bleu_detok_signature"]
    assert sum(row["sentences"] for row in scores["by_length"]) == scores["sentences"] == 1000
    assert scores["by_length"][0]["bleu_tok"] == scores["short"]["bleu_tok"]
    assert scores["by_length"][-1]["bleu_tok"] == scores["long"]["bleu_tok"]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_recorded_weights_belong_to_their_words(path: Path) -> None:
    examples = json.loads(path.read_text())
    assert 1 <= len(examples) <= 20
    for example in examples:
        alpha = np.array(example["alpha"])
        assert alpha.shape == (len(example["translation"]), len(example["source"]))
        np.testing.assert_allclose(alpha.sum(axis=1), 1, atol=0.002)


@pytest.mark.parametrize("unit", ["tanh", "lstm", "torch", "paper"])
def test_gradients_through_time_are_recorded_for_every_unit(unit: str) -> None:
    result = json.loads((RESULTS / f"toy-en-de-rnnencdec-cpu-gates-{unit}-seed0.json").read_text())
    assert result["model_config"]["unit"] == unit
    assert result["sentences"] >= 50
    for rows in result["gradients"].values():
        assert [row["distance"] for row in rows] == list(range(len(rows)))
        assert rows[0]["median"] == pytest.approx(1)
        assert all(0 < row["low"] <= row["median"] <= row["high"] for row in rows)
    assert bool(result["gates"]) == (unit != "tanh")


@pytest.mark.parametrize("corpus", ["copy-tokens", "verbs-tokens", "toy-en-de"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_two_reading_orders_differ_in_nothing_else(corpus: str, seed: int) -> None:
    forwards, backwards = (
        json.loads((RESULTS / f"{corpus}-rnnencdec-cpu-read-{order}-seed{seed}.json").read_text())
        for order in ("forwards", "backwards")
    )
    for key in ("corpus_sha256", "parameters", "epochs", "git_commit", "versions"):
        assert forwards[key] == backwards[key], key
    assert forwards["model_config"]["encoder"] == "forward"
    assert not forwards["model_config"]["reverse_source"]
    assert backwards["model_config"] == {**forwards["model_config"], "reverse_source": True}
    for result in (forwards, backwards):
        assert len(result["nats_by_position"]) >= 12
        assert all(nats > 0 for nats in result["nats_by_position"])
