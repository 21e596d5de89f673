"""The recorded searches: of the recorded run, whole, and showing what the chapter says."""

import json
from typing import Any

import pytest

from course_lib.records import read_record

NAME = "multi30k-en-de-rnnsearch-cpu-seed0"


@pytest.fixture(scope="module")
def record() -> dict[str, Any]:
    return read_record(f"{NAME}-search")


def beams(record: dict[str, Any], penalty: float) -> list[dict[str, Any]]:
    """The rows of one way of ranking, narrowest first."""
    return [row for row in record["beam"] if row["length_penalty"] == penalty]


def test_it_belongs_to_the_recorded_run(record: dict[str, Any]) -> None:
    result = read_record(f"{NAME}")
    for name in ("model", "corpus", "pair", "preset", "seed", "git_commit", "corpus_sha256"):
        assert record[name] == result[name], name
    assert {"python", "torch", "sacrebleu"} <= record["versions"].keys()
    assert record["searched_by"]
    assert not record["searched_by"].endswith("-dirty")


def test_nothing_was_chosen_on_test_sentences(record: dict[str, Any]) -> None:
    assert record["split"] == "val"
    assert 200 <= record["sentences"] <= 1014


def test_the_sweep_is_whole_and_searches_what_it_says(record: dict[str, Any]) -> None:
    widths = record["settings"]["widths"]
    raw, ranked = beams(record, 0.0), beams(record, 1.0)
    assert {row["length_penalty"] for row in record["beam"]} == set(
        record["settings"]["length_penalties"]
    )
    assert [row["k"] for row in raw] == [row["k"] for row in ranked] == widths
    assert raw[0] == {**ranked[0], "length_penalty": 0.0}  # greedy has nothing to rank
    for one, other in zip(raw[1:], ranked[1:], strict=True):
        assert one["log_prob"] > other["log_prob"]
        assert one["score"] < other["score"]
        assert one["words"] < other["words"]
    for rows, searched in ((raw, "log_prob"), (ranked, "score")):
        values = [row[searched] for row in rows]
        assert values == sorted(values)


def test_wider_stops_helping(record: dict[str, Any]) -> None:
    raw, ranked = ([row["bleu_tok"] for row in beams(record, p)] for p in (0.0, 1.0))
    assert raw[-1] < max(raw) - 1
    assert ranked[-1] > raw[-1] + 1
    assert beams(record, 0.0)[-1]["empty"] > 0


def test_the_wide_beam_found_something_more_probable_and_worse(record: dict[str, Any]) -> None:
    example = record["worse"]
    raw = {t["k"]: t for t in example["translations"] if t["length_penalty"] == 0}
    assert raw[50]["log_prob"] > raw[5]["log_prob"]
    assert raw[50]["translation"]
    assert raw[50]["bleu"] < raw[5]["bleu"]
    for t in example["translations"]:
        assert t["mean_log_prob"] == pytest.approx(t["log_prob"] / (len(t["translation"]) + 1))


def test_the_tree_leads_to_its_translation(record: dict[str, Any]) -> None:
    real = record["tree"]
    nodes, path = real["tree"]["nodes"], real["tree"]["best"]
    assert [nodes[i]["word"] for i in path] == [*real["beam"]["translation"], "</s>"]
    assert nodes[path[-1]]["log_prob"] == pytest.approx(real["beam"]["log_prob"], abs=1e-4)
    assert real["beam"]["log_prob"] > real["greedy"]["log_prob"]
    assert real["tree"]["k"] == 2
    for node in nodes[1:]:
        assert node["log_prob"] <= nodes[node["parent"]]["log_prob"]


def test_more_variety_costs_quality(record: dict[str, Any]) -> None:
    for family in ("temperature", "top_k", "top_p"):
        rows = sorted((r for r in record["sampling"] if family in r), key=lambda r: r[family])
        assert len(rows) >= 3
        different = [row["different"] for row in rows]
        assert different == sorted(different)
        assert rows[0]["bleu_tok"] > rows[-1]["bleu_tok"]
        assert all(1 <= row["different"] <= record["settings"]["draws"] for row in rows)


def test_few_sentences_of_the_corpus_are_kept(record: dict[str, Any]) -> None:
    assert {record["worse"]["position"], record["tree"]["position"]} <= set(
        range(record["sentences"])
    )
    text = json.dumps(record)
    assert text.count('"source"') == text.count('"reference"') == 2
