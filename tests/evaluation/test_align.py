"""A split aligned: weights are the model's, scores are those of the links they stand for."""

import json
from dataclasses import replace
from typing import cast

import numpy as np
import pytest

from course_lib.corpora import load_corpus
from course_lib.corpora.batches import make_batch
from course_lib.corpora.corpus import Corpus
from course_lib.corpora.subwords import Pieces
from course_lib.corpora.token_files import TokenFiles
from course_lib.corpora.toy import toy_corpus
from course_lib.corpora.vocabulary import Vocabulary
from course_lib.errors import CourseError
from course_lib.evaluation.align import align_split, saved_weights
from course_lib.evaluation.alignment import alignment_error_rate, argmax_links
from course_lib.evaluation.forced import forced_alpha, forced_weights
from course_lib.evaluation.links import GoldLinks
from course_lib.models import ModelConfig, RNNsearch, build_model, model_config
from tests.evaluation.gold_weights import weights_on_links


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return load_corpus("verbs", min_length=3, max_length=12, train=400, val=5, test=40)


@pytest.fixture(scope="module")
def words(corpus: Corpus) -> Vocabulary:
    return Vocabulary.from_sentences(corpus.splits["train"].source)


def model_of(name: str, words: Vocabulary) -> RNNsearch:
    return build_model(model_config(name, "smoke", len(words), len(words))).eval()


def test_weights_come_in_the_order_of_the_split_without_padding(
    corpus: Corpus, words: Vocabulary
) -> None:
    model, part = model_of("rnnsearch", words), corpus.splits["test"]
    together = forced_weights(model, words, words, part, batch_size=16)
    alone = forced_weights(model, words, words, part, batch_size=1)
    for source, target, one, other in zip(part.source, part.target, together, alone, strict=True):
        assert one.shape == (len(target) + 1, len(source) + 1)
        np.testing.assert_allclose(one.sum(axis=1), 1, atol=1e-6)
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_a_model_that_is_refused_stays_in_its_mode(corpus: Corpus, words: Vocabulary) -> None:
    model = model_of("rnnencdec", words).train()
    with pytest.raises(CourseError, match="without attention"):
        forced_weights(model, words, words, corpus.splits["val"])
    assert model.training


def test_the_model_stays_in_its_mode_and_dropout_out_of_the_weights(
    corpus: Corpus, words: Vocabulary
) -> None:
    model = model_of("rnnsearch", words)
    model.encoder.dropout.p = 0.9
    model.train()
    first = forced_weights(model, words, words, corpus.splits["val"])
    assert model.training
    second = forced_weights(model, words, words, corpus.splits["val"])
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", ["rnnencdec", "sutskever"])
def test_a_model_without_attention_aligns_nothing(
    name: str, corpus: Corpus, words: Vocabulary
) -> None:
    with pytest.raises(CourseError, match="nothing to align with"):
        forced_weights(model_of(name, words), words, words, corpus.splits["val"])


def test_weights_on_the_gold_links_are_without_error(corpus: Corpus) -> None:
    record = align_split(weights_on_links(corpus), corpus, "test")
    assert record["aer"] == 0
    assert set(record["alignments"]["attention"]) == {"argmax", "threshold", "words"}
    assert {score["aer"] for score in record["alignments"]["attention"].values()} == {0}
    assert record["diagnostics"]["entropy"] == 0
    assert record["diagnostics"]["warnings"] == {"uniform": 0, "stuck": 0}


def test_the_two_methods_are_scored_on_the_same_links(corpus: Corpus, words: Vocabulary) -> None:
    weights = forced_weights(model_of("rnnsearch", words), words, words, corpus.splits["test"])
    record = align_split(weights, corpus, "test")
    links = corpus.splits["test"].links
    assert links is not None
    wanted = alignment_error_rate([argmax_links(alpha) for alpha in weights], links)
    assert record["aer"] == wanted.aer
    assert record["alignments"]["attention"]["argmax"] == wanted._asdict()
    # An untrained model is no better than a guess; counting co-occurrences is.
    assert record["ibm1_aer"] == record["alignments"]["ibm1"]["forward"]["aer"]
    assert record["ibm1_aer"] < record["alignments"]["blind"]["diagonal"]["aer"] < record["aer"]
    assert set(record["alignments"]["ibm1"]) == {"forward"}
    assert record["diagnostics"]["warnings"]["uniform"] == 40
    json.dumps(record, allow_nan=False)


def test_words_that_look_at_the_end_mark_can_still_be_linked(corpus: Corpus) -> None:
    """Half of every row moves to the end mark: what is left still points at the gold link."""
    looking = [alpha / 2 for alpha in weights_on_links(corpus)]
    for alpha in looking:
        alpha[:, -1] += 0.5 + 1e-9
    record = align_split(looking, corpus, "test")
    assert record["aer"] == 1
    assert record["words_aer"] == 0


def test_gold_links_from_elsewhere_are_the_ones_that_count(corpus: Corpus) -> None:
    own = corpus.splits["test"].links
    assert own is not None
    nothing_sure = [GoldLinks(frozenset(), links) for links in own]
    record = align_split(weights_on_links(corpus), corpus, "test", gold=nothing_sure)
    assert record["aer"] == 0
    assert record["alignments"]["attention"]["argmax"]["recall"] is None
    assert record["gold"].startswith("0 sure links")


def test_without_gold_links_there_are_diagnostics_and_no_error_rate(corpus: Corpus) -> None:
    part = replace(corpus.splits["test"], links=None)
    plain = replace(corpus, splits={**corpus.splits, "test": part})
    record = align_split(weights_on_links(corpus), plain, "test")
    assert record["aer"] is record["ibm1_aer"] is None
    assert record["alignments"] == {}
    assert record["gold"] == "verbs has no gold alignment, so there is no error rate"
    assert record["diagnostics"]["sentences"] == 40
    assert saved_weights(weights_on_links(corpus), plain, "test")["sentences"][0]["gold"] is None


def test_a_streamed_text_is_aligned_without_model_1(corpus: Corpus) -> None:
    splits = {name: part for name, part in corpus.splits.items() if name != "train"}
    streamed = replace(corpus, splits=splits, stream=cast(TokenFiles, object()))
    record = align_split(weights_on_links(corpus), streamed, "test")
    assert record["aer"] == 0
    assert record["ibm1_aer"] is None
    assert set(record["alignments"]) == {"attention", "blind"}


def test_saved_weights_can_be_read_again_with_their_words(
    corpus: Corpus, words: Vocabulary
) -> None:
    part = corpus.splits["test"]
    weights = forced_weights(model_of("rnnsearch", words), words, words, part)
    saved = json.loads(json.dumps(saved_weights(weights, corpus, "test")))
    assert (saved["corpus"], saved["pair"], saved["split"]) == ("verbs", "tokens", "test")
    assert len(saved["sentences"]) == 40
    for one, alpha, source, target in zip(
        saved["sentences"], weights, part.source, part.target, strict=True
    ):
        assert one["source"] == [*source, "</s>"]
        assert one["target"] == [*target, "</s>"]
        np.testing.assert_allclose(one["alpha"], alpha, atol=5.1e-5)
        assert {tuple(link) for link in one["links"]} == argmax_links(alpha)


def test_a_model_of_pieces_is_aligned_by_words() -> None:
    part = toy_corpus(clauses=(1, 1), max_words=6, train=20, val=0, test=0).splits["train"]
    pieces = Pieces.learn([*part.source, *part.target], 80)
    sizes = dict.fromkeys(("embedding", "hidden", "alignment", "readout"), 8)
    model = build_model(ModelConfig(len(pieces), len(pieces), **sizes)).eval()
    found = forced_weights(model, pieces, pieces, part)
    for weights, x, y in zip(found, part.source, part.target, strict=True):
        assert weights.shape == (len(y) + 1, len(x) + 1)
        assert np.allclose(weights.sum(axis=1), 1, atol=1e-5)
    # A first word in pieces: its rows averaged, and a source word's columns added up.
    several = [len(pieces.encode(y[:1])) > 1 for y in part.target]
    n = several.index(True)
    numbers, target = pieces.encode(part.source[n]), pieces.encode(part.target[n])
    alpha = forced_alpha(model, make_batch([(numbers, target)], [0])).numpy()[0]
    rows = pieces.words_of(target).count(0)
    columns = [j for j, word in enumerate(pieces.words_of(numbers)) if word == 1]
    assert found[n][0, 1] == pytest.approx(alpha[:rows, columns].sum() / rows, rel=1e-5)
