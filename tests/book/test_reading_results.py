"""What the chapter on reading both ways has recorded: comparable runs, and what they must show."""

from typing import Any

import pytest

from course_lib.corpora import load_corpus
from course_lib.records import read_record

NAME = "toy-en-de-rnnsearch-cpu-reads"
WAYS = ("both", "forward", "backward")
SEEDS = (0, 1, 2)


def read(name: str) -> dict[str, Any]:
    result: dict[str, Any] = read_record(f"{NAME}-{name}")
    return result


@pytest.fixture(scope="module")
def probes() -> dict[str, Any]:
    return read("both-seed0-probes")


def test_the_runs_differ_in_encoder_and_seed_alone() -> None:
    runs = {(way, seed): read(f"{way}-seed{seed}") for way in WAYS for seed in SEEDS}
    first = runs["both", 0]
    options = {
        key.removeprefix("corpus."): value
        for key, value in first["changes"].items()
        if key.startswith("corpus.")
    }
    assert first["corpus_sha256"] == load_corpus("toy", "en-de", **options).sha256
    for (way, seed), run in runs.items():
        config = run["model_config"]
        assert run["seed"] == seed
        assert (config["encoder"] == "bidirectional") == (way == "both")
        assert config["reverse_source"] == (way == "backward")
        for name in ("corpus_sha256", "epochs", "git_commit", "versions"):
            assert run[name] == first[name], name
        shared = {"encoder", "reverse_source"}
        for key, value in config.items():
            assert key in shared or value == first["model_config"][key], key
        assert sum(row["sentences"] for row in run["accuracy"]) == options["test"]


def test_the_measurements_belong_to_a_recorded_run(probes: dict[str, Any]) -> None:
    run = read("both-seed0")
    for name in ("model", "corpus", "pair", "seed", "changes", "git_commit", "corpus_sha256"):
        assert probes[name] == run[name], name
    exact = sum(row["exact"] * row["sentences"] for row in run["accuracy"])
    sentences = sum(row["sentences"] for row in run["accuracy"])
    assert probes["padding"][0]["exact"] == pytest.approx(exact / sentences)


def test_each_half_answers_to_its_own_side(probes: dict[str, Any]) -> None:
    for rows in probes["influence"].values():
        for row in rows:
            assert (row["forward"] > 0) == (row["distance"] <= 0)
            assert (row["backward"] > 0) == (row["distance"] >= 0)


def test_only_training_tells_of_nouns_the_probe_has_not_met(probes: dict[str, Any]) -> None:
    gender = probes["gender"]
    assert sum(gender["genders"].values()) == pytest.approx(100)
    assert gender["examples"] > 5_000
    guess = max(gender["genders"].values())
    assert gender["trained"]["backward"]["new"] > guess + 15
    for states in (gender["fresh"]["backward"], gender["trained"]["forward"]):
        assert states["new"] < guess + 8


def test_padding_read_like_words_changes_translations(probes: dict[str, Any]) -> None:
    changed = [row["changed"] for row in probes["padding"]]
    assert changed[0] == 0
    assert changed == sorted(changed)
    assert changed[-1] > 20
