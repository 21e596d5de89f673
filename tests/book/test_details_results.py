"""The details that re-implementations change: one difference a variant, counted as recorded."""

import json
from typing import Any

import pytest

from course_lib.corpora import load_corpus
from course_lib.corpora.vocabulary import Vocabulary
from course_lib.models import EncoderDecoder, count_parameters
from course_lib.records import record_path
from course_lib.training import RunConfig

PATH = record_path("toy-en-de-rnnsearch-cpu-details")


@pytest.fixture(scope="module")
def record() -> dict[str, Any]:
    result: dict[str, Any] = json.loads(PATH.read_text())
    return result


def test_every_variant_has_every_seed(record: dict[str, Any]) -> None:
    for kept in record["variants"].values():
        assert len(kept["bleu_tok"]) == len(kept["val_loss"]) == len(record["seeds"]) >= 3
        assert all(0 < score < 100 for score in kept["bleu_tok"])
        assert all(loss > 0 for loss in kept["val_loss"])


def test_parameters_are_those_of_the_settings_with_the_change(record: dict[str, Any]) -> None:
    plain = RunConfig("rnnsearch", "toy", changes=record["settings"])
    corpus = load_corpus("toy", "en-de", **plain.corpus_options)
    assert record["corpus_sha256"] == corpus.sha256
    train = corpus.splits["train"]
    source, target = (
        len(Vocabulary.from_sentences(side, min_frequency=1))
        for side in (train.source, train.target)
    )
    for kept in record["variants"].values():
        changes = {**record["settings"], **kept["changes"]}
        config = RunConfig("rnnsearch", "toy", changes=changes).model_config(source, target)
        assert count_parameters(EncoderDecoder(config)) == kept["parameters"]
