"""The recorded maps of single words: counts that add up, and the findings the chapter states."""

from typing import Any

import numpy as np
import pytest

from course_lib.corpora import load_corpus
from course_lib.evaluation.alignment import alignment_error_rate, argmax_links
from course_lib.evaluation.diagnostics import diagnose
from course_lib.evaluation.links import parse_links
from course_lib.records import read_record

TOY = "toy-en-de-rnnsearch-cpu-maps-seed0"
CAPTIONS = "multi30k-en-de-rnnsearch-cpu-seed0"


@pytest.fixture(scope="module")
def toy() -> dict[str, Any]:
    return read_record(f"{TOY}")


@pytest.fixture(scope="module")
def captions() -> dict[str, Any]:
    return read_record(f"{CAPTIONS}-alignment")


def test_both_belong_to_their_corpora_and_runs(
    toy: dict[str, Any], captions: dict[str, Any]
) -> None:
    options = {
        key.removeprefix("corpus."): value
        for key, value in toy["changes"].items()
        if key.startswith("corpus.")
    }
    assert toy["corpus_sha256"] == load_corpus("toy", "en-de", **options).sha256
    run = read_record(f"{CAPTIONS}")
    for name in ("model", "corpus", "pair", "git_commit", "corpus_sha256", "versions"):
        assert captions[name] == run[name], name


def test_bands_of_entropy_hold_every_word_once(toy: dict[str, Any]) -> None:
    words = toy["maps"]["words"]
    for kind, bands in words["bands"].items():
        assert [band["below"] for band in bands[:-1]] == [band["from"] for band in bands[1:]]
        assert sum(band["wrong"] for band in bands) == words["wrong"][kind]["words"]
        assert all(0 <= band["wrong"] <= band["words"] for band in bands)
    assert sum(band["words"] for band in words["bands"]["all"]) == words["words"]
    for wrong in words["wrong"].values():
        assert 0 <= wrong["written"] <= wrong["words"]


def test_wrong_words_are_flatter_more_often_than_not(toy: dict[str, Any]) -> None:
    chances = toy["maps"]["words"]["wrong_is_flatter"]
    assert all(0.5 < chance < 1 for chance in chances.values())


def test_training_leaves_the_uniform_weights_behind(toy: dict[str, Any]) -> None:
    stages = toy["maps"]["stages"]
    assert stages[0]["epochs"] == 0
    assert stages[-1]["epochs"] == toy["epochs"]
    entropies = [stage["normalised_entropy"] for stage in stages]
    assert entropies == sorted(entropies, reverse=True)
    assert stages[0]["warnings"]["uniform"] == stages[0]["sentences"]
    assert stages[-1]["warnings"] == {"uniform": 0, "stuck": 0}
    assert stages[-1]["aer"] < stages[0]["aer"]
    for stage in stages:
        for kind, example in stage["warned"].items():
            assert kind in diagnose(np.array(example["alpha"])).warnings


def test_offsets_add_up(toy: dict[str, Any], captions: dict[str, Any]) -> None:
    for counts in (toy["maps"]["offsets"], captions["against_model1"]):
        assert sum(counts["offsets"].values()) + counts["on_end_mark"] == counts["words"]
        assert max(counts["offsets"].values()) == counts["offsets"]["0"]


def test_the_crossed_caption_has_its_weights_and_links(captions: dict[str, Any]) -> None:
    crossed = captions["crossed"]
    alpha = np.array(crossed["alpha"])
    assert alpha.shape == (len(crossed["target"]), len(crossed["source"]))
    np.testing.assert_allclose(alpha.sum(axis=1), 1, atol=0.002)
    assert {tuple(link) for link in crossed["links"]} == argmax_links(alpha)


def test_left_out_words_agree_less_than_erased_ones(captions: dict[str, Any]) -> None:
    asked = captions["faithfulness"]
    assert 0 < asked["left_out"] < asked["erased"] <= 1
    assert 0 < asked["permuted"] <= 1


def test_the_error_rate_by_hand_of_chapter_9() -> None:
    """she went home / sie ging nach hause; of the possible links 2p2 may be there or not."""
    gold = [parse_links("0-0 1-1 2-3 2p2")]
    rates = [
        alignment_error_rate([parse_links(answer).sure], gold).aer
        for answer in ("0-0 1-1 1-2 2-3", "0-0 1-1 2-2 2-3", "0-0 1-1 2-3")
    ]
    assert rates == pytest.approx([1 / 7, 0, 0])
