"""The record of bf16 against fp32: pairs of runs that differ in precision alone."""

import json

from benchmarks.record import RESULTS
from benchmarks.report import precision

RECORD = RESULTS / "precision.json"


def test_each_seed_was_trained_in_both_precisions() -> None:
    record = json.loads(RECORD.read_text())
    runs = {(run["precision"], run["seed"]): run for run in record["runs"]}
    seeds = {seed for _, seed in runs}
    assert len(seeds) >= 3
    assert set(runs) == {(name, seed) for name in ("fp32", "bf16") for seed in seeds}
    assert len({(run["epochs"], run["git_commit"]) for run in runs.values()}) == 1
    assert not record["runs"][0]["git_commit"].endswith("dirty")
    header, *rows = precision(record)
    assert [row[0] for row in rows] == ["fp32", "bf16"]
    assert all(f"seed {seed}" in header for seed in seeds)


def test_bf16_loses_no_more_than_another_seed_would() -> None:
    record = json.loads(RECORD.read_text())
    assert record["difference"] > -2 * max(record["seed_noise"].values())
