"""The recorded runs that pages read: complete, named after what they hold, and consistent."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from course_lib.models import EncoderDecoder, ModelConfig, count_parameters
from course_lib.records import read_record, record_paths
from course_lib.training import Recipe, recorded_name

RECORDED = sorted(record_paths("*seed[0-9]"))
RUNS = [path for path in RECORDED if path.name.startswith("multi30k-")]
FULL_SIZE = [p for p in RUNS if "-n128-" not in p.name and "-ablation-" not in p.name]
SMALL = [path for path in RUNS if "-n128-" in path.name]
EXAMPLES = sorted(record_paths("*-examples"))
JOINED = sorted(record_paths("*-joined"))


def test_both_models_are_recorded() -> None:
    names = {path.name for path in FULL_SIZE}
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
    if "-dirty" not in result["git_commit"]:  # two early runs, whose recipe no commit holds
        recipe = Recipe(**result["recipe"])
        assert recipe.epochs >= result["epochs"]
        assert recipe.precision in ("auto", result["precision"])
    assert [record["epoch"] for record in result["metrics"]] == list(range(1, result["epochs"] + 1))


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.stem)
def test_the_comparison_was_scored_as_published(path: Path) -> None:
    result = json.loads(path.read_text())
    assert len(result["corpus_sha256"]) == 6
    scores = result["scores"]["test_2016_flickr"]
    assert scores["beam"] == 12
    assert "tok:none" in scores["bleu_tok_signature"]
    assert "tok:13a" in scores["bleu_detok_signature"]
    assert sum(row["sentences"] for row in scores["by_length"]) == scores["sentences"] == 1000
    assert scores["by_length"][0]["bleu_tok"] == scores["short"]["bleu_tok"]
    assert scores["by_length"][-1]["bleu_tok"] == scores["long"]["bleu_tok"]


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.stem)
def test_no_compared_run_is_larger_than_ten_million_parameters(path: Path) -> None:
    assert json.loads(path.read_text())["parameters"] <= 10_000_000


@pytest.mark.parametrize(
    ("pair", "preset", "least"),
    [
        ("en-de", "quick", 36.0),
        ("en-de", "laptop", 38.0),
        ("en-de", "best", 39.0),
        ("en-fr", "best", 59.0),
    ],
)
def test_every_seed_of_a_preset_reaches_what_it_is_for(
    pair: str, preset: str, least: float
) -> None:
    paths = list(record_paths(f"multi30k-{pair}-rnnsearch-{preset}-seed[0-9]"))
    assert paths
    for path in paths:
        scores = json.loads(path.read_text())["scores"]["test_2016_flickr"]
        assert scores["bleu_tok"] >= least, path.name


@pytest.mark.parametrize(("preset", "minutes"), [("quick", 6), ("laptop", 18)])
def test_two_cores_train_in_the_minutes_that_a_preset_is_for(preset: str, minutes: int) -> None:
    runs = [
        json.loads(path.read_text())
        for path in record_paths(f"multi30k-en-de-rnnsearch-{preset}-seed[0-9]")
    ]
    two_cores = [run["train_seconds"] for run in runs if run["threads"] == 2]
    assert two_cores
    assert max(two_cores) <= minutes * 60


@pytest.mark.parametrize(("preset", "seeds"), [("laptop", 3), ("best", 1)])
def test_the_compared_models_differ_in_the_context_alone(preset: str, seeds: int) -> None:
    for seed in range(seeds):
        fixed, looking = (
            read_record(f"multi30k-en-de-{model}-{preset}-seed{seed}")
            for model in ("rnnencdec", "rnnsearch")
        )
        assert fixed["model_config"] == {**looking["model_config"], "context": "fixed"}
        same = ("recipe", "corpus_sha256", "precision")
        assert [fixed[key] for key in same] == [looking[key] for key in same]


@pytest.mark.parametrize("path", FULL_SIZE, ids=lambda path: path.stem)
def test_the_full_size_runs_reach_their_scores(path: Path) -> None:
    result = json.loads(path.read_text())
    least = {"rnnsearch": 37, "rnnencdec": 25}[result["model"]]
    if result["preset"] == "quick":
        least -= 2
    assert result["scores"]["test_2016_flickr"]["bleu_tok"] >= least


def test_the_small_runs_differ_in_model_and_seed_alone() -> None:
    results = [json.loads(path.read_text()) for path in SMALL]
    models: dict[str, list[int]] = {}
    for result in results:
        models.setdefault(result["model"], []).append(result["seed"])
        for key in ("corpus_sha256", "changes", "epochs", "precision", "versions"):
            assert result[key] == results[0][key], key
        configs = [ModelConfig(**other["model_config"]) for other in (result, results[0])]
        assert replace(configs[0], context=configs[1].context) == configs[1]
    assert sorted(models) == ["rnnencdec", "rnnsearch"]
    assert models["rnnencdec"] == models["rnnsearch"]
    assert len(models["rnnsearch"]) >= 2


def test_counts_of_sentences_add_up_to_the_recorded_scores() -> None:
    record = read_record("multi30k-en-de-cpu-seed0-counts")
    for model, kept in record["models"].items():
        result = read_record(f"multi30k-en-de-{model}-cpu-seed0")
        for key in ("corpus_sha256", "seed", "preset"):
            assert record[key] == result[key], key
        assert kept["git_commit"] == result["git_commit"]
        scores = result["scores"][record["split"]]
        assert kept["beam"] == scores["beam"]
        rows, words = np.array(kept["counts"]), np.array(record["source_words"])
        assert rows.shape == (scores["sentences"], len(record["columns"]))
        for part in scores["by_length"]:
            chosen = (words >= part["lower"]) & (words <= part["upper"])
            assert chosen.sum() == part["sentences"]
            sums = rows[chosen].sum(axis=0)
            mean = np.log(sums[:4] / sums[4:8]).mean() + min(0, 1 - sums[9] / sums[8])
            assert 100 * np.exp(mean) == pytest.approx(part["bleu_tok"])


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
    result = read_record(f"toy-en-de-rnnencdec-cpu-gates-{unit}-seed0")
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
        read_record(f"{corpus}-rnnencdec-cpu-read-{order}-seed{seed}")
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


@pytest.mark.parametrize("path", JOINED, ids=lambda path: path.stem)
def test_joined_sentences_are_scored_as_recorded(path: Path) -> None:
    record = json.loads(path.read_text())
    for model, found in record["models"].items():
        run = "{corpus}-{pair}-{model}-{preset}-seed{seed}.json".format(model=model, **record)
        alone = read_record(run.removesuffix(".json"))
        assert found["git_commit"] == alone["git_commit"]
        rows, scores = found["joined"], alone["scores"][record["split"]]
        assert [row["sentences_joined"] for row in rows] == [1, 2, 3, 4]
        assert [row["texts"] for row in rows] == [
            scores["sentences"] // row["sentences_joined"] for row in rows
        ]
        # Sentences that are not joined are those that the run was scored on.
        assert rows[0]["bleu_tok"] == pytest.approx(scores["bleu_tok"], abs=0.05)
        ranges = found["by_length"]
        assert sum(part["sentences"] for part in ranges) == sum(row["texts"] for row in rows)
        assert ranges[-1]["upper"] > record["longest_in_training"]
