"""The recorders: what lies in experiments/ is what each script would train and write today."""

import importlib
import json
import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from course_lib.corpora import load_corpus
from course_lib.evaluation.score import score_split
from course_lib.records import read_record, record_paths
from course_lib.training import RunConfig, load_run, recorded_name, train

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
SINGLE = ("bottleneck", "gradients", "reading", "reversal", "self_attention", "stepper")
"""Those that write a file a run."""

Recorder = Callable[[str], ModuleType]


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    """A script by its name, imported as if Python had been started on it."""
    monkeypatch.syspath_prepend(EXPERIMENTS)
    return lambda name: importlib.import_module(f"record_{name}")


def recorded(name: str) -> Any:
    return read_record(name.removesuffix(".json"))


def settings_of(result: dict[str, Any]) -> dict[str, Any]:
    """What a run was trained with; `positions` stood beside the settings before it was one."""
    settings = dict(result["changes"])
    if not result.get("positions", True):
        settings["positions"] = False
    return settings


def test_every_script_can_be_imported(recorder: Recorder) -> None:
    for path in EXPERIMENTS.glob("record_*.py"):
        assert recorder(path.stem.removeprefix("record_")).__doc__


@pytest.mark.parametrize("name", SINGLE)
def test_each_file_of_a_run_has_the_scripts_settings(recorder: Recorder, name: str) -> None:
    names = []
    for tag, config in recorder(name).runs():
        result = recorded(recorded_name(vars(config), tag))
        assert settings_of(result) == config.changes
        assert result["seed"] == config.seed
        assert result["threads"] == 1
        assert result["scores"]["test"]["beam"] == 1
        names.append(recorded_name(vars(config), tag))
    assert len(set(names)) == len(names) > 0


def test_what_moves_the_error_rate_is_recorded_as_the_script_would(recorder: Recorder) -> None:
    script = recorder("alignment_variants")
    record = recorded(script.NAME)
    assert record["settings"] == script.SETTINGS
    assert {name: one["changes"] for name, one in record["variants"].items()} == script.VARIANTS
    for name, one in record["variants"].items():
        rows = one["epochs"]
        assert [row["epoch"] for row in rows] == list(range(1, len(rows) + 1))
        assert len(rows) <= script.config_of(name).recipe.epochs
        assert one["seed"] == script.config_of(name).seed
        assert all(row["words_aer"] > 0 and row["aer"] > 0 for row in rows)


def test_no_run_of_theirs_is_left_from_an_older_script(recorder: Recorder) -> None:
    """Every recorded small run is one that a script still names."""
    expected = {
        recorded_name(vars(config), tag) for name in SINGLE for tag, config in recorder(name).runs()
    }
    for stem in ("gates", "reads", "read", "reader", "longer", "both-ways", "stepper"):
        found = {path.name for path in EXPERIMENTS.glob(f"*/*-cpu-{stem}-*seed?.json")}
        assert found
        assert found <= expected


def test_files_of_many_runs_have_the_scripts_settings(recorder: Recorder) -> None:
    details, script = recorded("toy-en-de-rnnsearch-cpu-details.json"), recorder("details")
    assert details["settings"] == script.SETTINGS
    assert details["seeds"] == list(script.SEEDS)
    assert {k: v["changes"] for k, v in details["variants"].items()} == script.VARIANTS
    windows, script = recorded("verbs-tokens-windows.json"), recorder("windows")
    assert windows["settings"] == script.SETTINGS
    assert {run["name"]: run["changes"] for run in windows["runs"]} == script.RUNS
    teaching, script = recorded("verbs-tokens-teaching.json"), recorder("teaching")
    assert teaching["settings"] == script.SETTINGS
    trained = [(run["model"], run["schedule"], run["seed"]) for run in teaching["runs"]]
    assert trained == [
        (model, schedule, seed)
        for model, schedules in script.RUNS.items()
        for schedule in schedules
        for seed in script.SEEDS
    ]


def test_measurements_of_trained_models_have_the_scripts_settings(recorder: Recorder) -> None:
    maps, script = recorded("toy-en-de-rnnsearch-cpu-maps-seed0.json"), recorder("maps")
    assert maps["changes"] == script.small(script.EPOCHS[-1]).changes
    assert [stage["epochs"] for stage in maps["maps"]["stages"]] == [0, *script.EPOCHS]
    search, script = recorded("multi30k-en-de-rnnsearch-cpu-seed0-search.json"), recorder("search")
    assert search["settings"]["widths"] == list(script.WIDTHS)
    assert search["settings"]["length_penalties"] == list(script.PENALTIES)
    assert search["settings"]["draws"] == script.DRAWS
    counts, script = recorded("multi30k-en-de-cpu-seed0-counts.json"), recorder("counts")
    assert counts["columns"] == list(script.COLUMNS)
    alignment = recorded("toy-en-de-rnnsearch-cpu-seed0-alignment.json")
    script = recorder("alignment")
    curve = alignment["thresholds_on_val"]
    assert [row["threshold"] for row in curve] == list(script.THRESHOLDS)
    assert [kept["position"] for kept in alignment["examples"]] == list(script.EXAMPLES)
    for pair in script.PAIRS:
        config = RunConfig("rnnsearch", "toy", pair)
        assert recorded(recorded_name(vars(config)))["changes"] == config.changes


def test_a_small_run_is_scored_and_its_record_is_readable(
    recorder: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder("self_attention")
    recording = importlib.import_module("recording")
    monkeypatch.setattr(recording, "EXPERIMENTS", tmp_path)
    sizes = {key: 4 for key in ("embedding", "hidden", "alignment", "readout")}
    parts = {"corpus.train": 8, "corpus.val": 4, "corpus.test": 4, "epochs": 1}
    changes = {**recording.SMALL, **sizes, **parts}
    run, corpus, result, hypotheses, seconds = recording.trained(
        RunConfig("rnnsearch", "toy", changes=changes)
    )
    assert run.model.config.hidden == 4
    assert len(hypotheses) == len(corpus.splits["test"]) == 4
    assert seconds > 0
    recording.write("record.json", {**result, "word": "für"})
    written = json.loads((tmp_path / "record.json").read_text(encoding="utf-8"))
    assert written["changes"] == changes
    assert written["word"] == "für"


def test_the_runs_with_uniform_weights_have_the_scripts_settings(recorder: Recorder) -> None:
    seeds, script = recorded("toy-en-de-rnnsearch-cpu-seeds.json"), recorder("seeds")
    assert seeds["changes"] == script.small(script.EPOCHS[-1]).changes
    assert [(run["seed"], run["weights"]) for run in seeds["runs"]] == [
        (seed, weights) for seed in script.SEEDS for weights in ("learned", "uniform")
    ]
    assert [set(pair["seeds"]) for pair in seeds["agreement"]] == [{0, 1}, {0, 2}, {1, 2}]


def test_each_row_of_the_ablation_changes_one_thing(recorder: Recorder) -> None:
    rows = recorder("ablation")
    assert len(rows.ROWS) == 8
    whole = RunConfig("rnnsearch", "multi30k", "en-de", rows.PRESET)
    for row, changes in rows.ROWS.items():
        config = rows.config_of(row, 0)
        sizes = (5, 4) if config.recipe.subwords is None else (5, 5)
        before = {**asdict(whole.recipe), **whole.model_config(5, 5).to_dict()}
        after = {**asdict(config.recipe), **config.model_config(*sizes).to_dict()}
        different = {name for name in before if before[name] != after[name]}
        assert different - {"target_vocabulary"} == set(changes)
        for seed in range(3):
            name = f"multi30k-en-de-rnnsearch-{rows.PRESET}-ablation-{row}-seed{seed}.json"
            if record_paths(name.removesuffix(".json")):
                result = recorded(name)
                assert settings_of(result) == changes
                assert (result["seed"], result["preset"]) == (seed, rows.PRESET)


def test_what_was_tried_is_written_beside_what_was_tried_before(
    recorder: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = recorder("tried")
    monkeypatch.setattr(importlib.import_module("recording"), "EXPERIMENTS", tmp_path)
    head = {"corpus": "multi30k", "pair": "en-de", "model": "rnnsearch", "git_commit": "0" * 40}
    for seed, dropout in enumerate((0.2, 0.3)):
        run = tmp_path / "runs" / f"run-{seed}"
        run.mkdir(parents=True)
        settings = {"model_config": {"hidden": 4, "dropout": dropout}, "recipe": {"epochs": 2}}
        if seed:  # the older run's recipe does not know it
            settings["recipe"]["bpe_dropout"] = 0.1
        (run / "config.yaml").write_text(json.dumps({**head, "seed": seed, **settings}))
        (run / "metrics.jsonl").write_text(json.dumps({"epoch": 1, "val_bleu": 9.5}) + "\n")
        tried.record(tmp_path / "runs")
        shutil.rmtree(run)
    written = json.loads((tmp_path / "multi30k-en-de-tried.json").read_text())
    found = [
        (run["settings"]["dropout"], run["settings"]["bpe_dropout"]) for run in written["runs"]
    ]
    assert found == [(0.2, 0.0), (0.3, 0.1)]
    assert all(run["settings"]["unit"] == "torch" for run in written["runs"])
    assert [run["run"] for run in written["runs"]] == ["run-0", "run-1"]
    assert all(run["metrics"] == [{"epoch": 1, "val_bleu": 9.5}] for run in written["runs"])


def test_length_penalties_are_compared_by_the_search_that_scores(
    recorder: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = dict.fromkeys(("embedding", "hidden", "alignment", "readout"), 8)
    changes = {**sizes, "corpus.train": 40, "corpus.val": 8, "corpus.test": 8, "precision": "fp32"}
    config = RunConfig(
        "rnnsearch", "toy", preset="smoke", changes={**changes, "epochs": 3, "learning_rate": 0.02}
    )
    corpus = load_corpus("toy", "en-de", **config.corpus_options)
    train(config, corpus, tmp_path / "run", quiet=True)
    monkeypatch.setattr(importlib.import_module("recording"), "EXPERIMENTS", tmp_path)
    recorder("length_penalty").record([tmp_path / "run"])
    written = json.loads((tmp_path / "toy-en-de-length-penalty.json").read_text())
    run, part = load_run(tmp_path / "run"), corpus.splits["val"]
    [rows] = [run["rows"] for run in written["runs"]]
    for row in rows:
        scores, found = score_split(
            run.model,
            run.source_vocabulary,
            run.target_vocabulary,
            corpus,
            "val",
            written["beam"],
            row["length_penalty"],
        )
        assert row["bleu_tok"] == scores["bleu_tok"]
        assert row["length_ratio"] == sum(map(len, found)) / sum(map(len, part.target))
    assert 1.0 in [row["length_penalty"] for row in rows]
    assert len({row["length_ratio"] for row in rows}) > 1  # they are told apart
