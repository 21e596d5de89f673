"""The recorded alignments: of the recorded runs, on the corpus's links, and adding up."""

from typing import Any

import numpy as np
import pytest

from course_lib.corpora import load_corpus
from course_lib.corpora.corpus import Corpus
from course_lib.evaluation.alignment import argmax_links
from course_lib.evaluation.diagnostics import diagnose
from course_lib.records import read_record, record_paths

NAME = "toy-en-de-rnnsearch-cpu-seed0"


@pytest.fixture(scope="module")
def record() -> dict[str, Any]:
    return read_record(f"{NAME}-alignment")


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return load_corpus("toy", "en-de")


@pytest.fixture(scope="module")
def aligners() -> dict[str, Any]:
    return read_record(f"{NAME}-aligners")


def test_it_belongs_to_the_recorded_run_and_to_the_corpus(
    record: dict[str, Any], corpus: Corpus
) -> None:
    result = read_record(f"{NAME}")
    for name in ("model", "corpus", "pair", "git_commit", "corpus_sha256"):
        assert record[name] == result[name], name
    assert record["corpus_sha256"] == corpus.sha256
    scores = result["scores"]["test"]
    for name in ("beam", "bleu_tok", "bleu_tok_signature"):
        assert record["translation"][name] == scores[name]
    assert record_paths(NAME.replace("en-de", "de-en"))


def test_every_score_follows_from_its_counts(record: dict[str, Any], corpus: Corpus) -> None:
    test = corpus.splits["test"]
    assert test.links is not None
    everything = sum(map(len, test.links))
    of_words = sum(
        test.source[k][i] not in ".," and test.target[k][j] not in ".,"
        for k, links in enumerate(test.links)
        for i, j in links
    )
    for alignments, sure in (
        (record["alignments"], everything),
        (record["without_punctuation"]["alignments"], of_words),
    ):
        for score in (score for found in alignments.values() for score in found.values()):
            assert score["sure"] == score["possible"] == sure
            right = score["precision"] * score["links"]
            assert right == pytest.approx(score["recall"] * sure)
            assert right == pytest.approx(round(right))
            assert score["aer"] == pytest.approx(1 - 2 * right / (score["links"] + sure))
    for who in ("attention", "ibm1"):
        scores = record["alignments"][who]
        fewest, grown, most = (
            scores[name]["links"] for name in ("intersection", "grow-diag", "union")
        )
        assert fewest <= grown <= most


def test_the_threshold_was_chosen_on_other_sentences(
    record: dict[str, Any], corpus: Corpus
) -> None:
    rows = record["thresholds_on_val"]
    assert record["threshold"] == min(rows, key=lambda row: row["aer"])["threshold"]
    recalls = [row["recall"] for row in rows]
    assert recalls == sorted(recalls, reverse=True)
    validation = corpus.splits["val"].links
    assert validation is not None
    assert {row["sure"] for row in rows} == {sum(map(len, validation))}


def test_accurate_is_not_aligned(record: dict[str, Any]) -> None:
    """The two sides of the finding, whoever records it anew."""
    assert record["translation"]["tokens"] > 90
    assert record["translation"]["exact"] <= record["translation"]["tokens"]
    assert 0.05 < record["aer"] < record["alignments"]["blind"]["diagonal"]["aer"]
    assert record["diagnostics"]["warnings"] == {"uniform": 0, "stuck": 0}


def test_most_words_without_a_link_are_full_stops(record: dict[str, Any]) -> None:
    """They look at the source's end mark, which stands behind the source's full stop."""
    most = record["without_punctuation"]["unaligned"][0]
    assert most["word"] == "."
    assert most["unaligned"] > 0.5 * most["occurs"]
    argmax = record["without_punctuation"]["alignments"]["attention"]["argmax"]
    assert argmax["aer"] < record["aer"]


def test_the_examples_are_those_sentences_with_their_weights(
    record: dict[str, Any], corpus: Corpus
) -> None:
    test = corpus.splits["test"]
    assert test.links is not None
    for example in record["examples"]:
        i = example["position"]
        assert example["source"] == [*test.source[i], "</s>"]
        assert example["target"] == [*test.target[i], "</s>"]
        assert {tuple(link) for link in example["gold"]} == test.links[i]
        alpha = np.array(example["alpha"])
        np.testing.assert_allclose(alpha.sum(axis=1), 1, atol=0.002)
        assert {tuple(link) for link in example["links"]} == argmax_links(alpha)
        assert diagnose(alpha).warnings == {}


def test_other_readings_are_of_the_same_weights(
    record: dict[str, Any], aligners: dict[str, Any]
) -> None:
    for name in ("model", "corpus", "pair", "split", "git_commit", "corpus_sha256"):
        assert aligners[name] == record[name], name
    assert aligners["attention"]["argmax"] == record["alignments"]["attention"]["argmax"]
    rows = aligners["both_on_val"]
    assert aligners["both"] == min(rows, key=lambda row: row["aer"])["threshold"]


def test_without_the_end_mark_attention_is_the_better_aligner(
    record: dict[str, Any], aligners: dict[str, Any]
) -> None:
    """What is wanted of translation alone: 0.15 with one model, and 0.10 with one a direction."""
    rates = {name: score["aer"] for name, score in aligners["attention"].items()}
    assert rates["words"] <= 0.15 < rates["argmax"]
    assert rates["words"] < record["ibm1_aer"]
    assert rates["agreed"] <= 0.10
    assert rates["agreed"] < record["alignments"]["ibm1"]["grow-diag"]["aer"]
    assert aligners["on_val"]["words"]["aer"] < aligners["on_val"]["argmax"]["aer"]


def test_the_output_follows_large_weights_more_than_small_ones(record: dict[str, Any]) -> None:
    asked = record["faithfulness"]
    rows = [row for row in asked["permuted"] if row["steps"] >= 30]
    assert sum(row["steps"] for row in asked["permuted"]) > 5 * asked["sentences"]
    assert rows[0]["median"] < rows[-1]["median"]
    for name in ("erased", "left_out"):
        assert 0 < asked[name] < 1
