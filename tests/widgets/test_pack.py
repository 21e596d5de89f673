"""What goes into a page, and which runs a page refuses."""

import gzip
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load

from course_lib.corpora import load_corpus
from course_lib.corpora.tokenization import tokenize
from course_lib.errors import CourseError
from course_lib.models import build_model
from course_lib.models.config import model_config
from course_lib.models.quantised import dequantised
from course_lib.widgets.live import live, packs_of, sentences_for
from course_lib.widgets.pack import pack_run
from course_lib.widgets.training_words import BYTES, is_seen, seen_words
from tests.widgets.live_models import small_run


def test_a_pack_holds_the_runs_weights() -> None:
    run = small_run()
    made = pack_run(run)
    weights = dequantised(load(gzip.decompress(made.data)))
    # They were in 8 bits before: nothing is lost a second time.
    for name, values in run.model.state_dict().items():
        assert torch.equal(weights[name], values)
    assert pack_run(run).data == made.data
    assert made.data[4:8] == bytes(4)  # gzip's date: none, or it were the same within a second only
    assert made.about["parts"] == len(made.scripts)


def test_a_language_that_a_page_does_not_split_is_refused() -> None:
    run = small_run()
    italian = replace(run, config=replace(run.config, pair="en-it"))
    with pytest.raises(CourseError, match="en-it"):
        pack_run(italian)


@pytest.mark.parametrize(
    "changes",
    [
        {"context": "general"},
        {"decoder": "luong", "context": "general"},
        {"encoder": "forward", "context": "fixed"},
        {"unit": "lstm"},
        {"layers": 2},
        {"reverse_source": True},
    ],
)
def test_a_model_that_a_page_does_not_compute_is_refused(changes: dict[str, Any]) -> None:
    """In one line, which says what it takes and what this one has."""
    with pytest.raises(CourseError, match="RNNsearch, RNNencdec and the conditional") as error:
        pack_run(small_run(**changes))
    assert any(f"{name}={value}" in str(error.value) for name, value in changes.items())


def test_runs_of_one_name_stay_apart() -> None:
    assert [one.name for one in packs_of([small_run(), small_run()])] == ["small", "small-1"]


def test_a_notebook_is_sent_the_models() -> None:
    run = small_run()
    figure = live(run, text="a dog .")
    assert figure.data == {"small": pack_run(run).data}
    assert figure.text == "a dog ."
    assert [one["model"] for one in figure.packs] == ["RNNsearch"]


def test_words_of_the_training_are_told_from_others() -> None:
    run = small_run()
    known = seen_words(run)
    words = {
        word
        for line in load_corpus("toy", train=60, val=2, test=2).splits["train"].source
        for word in line
    }
    assert len(known) == BYTES * len(words)
    assert all(is_seen(word, known) for word in words)
    assert not any(is_seen(word + "x", known) for word in words)
    assert is_seen("anything", b"")


def test_models_of_one_kind_are_told_apart() -> None:
    one, other = packs_of([small_run(Path("mine")), small_run(Path("yours"))])
    assert [one.about["model"], other.about["model"]] == ["mine", "yours"]


def test_sentences_to_begin_with_are_ones_that_the_model_knows() -> None:
    run = small_run()
    changes = {**run.config.changes, "corpus.train": 1000}
    run = replace(run, config=replace(run.config, changes=changes))
    known = seen_words(run)
    for line in sentences_for(run):
        assert all(is_seen(word, known) for word in tokenize(line, "en"))
    tokens = replace(run, config=replace(run.config, corpus="copy", pair="tokens"))
    assert tokens.config.languages == ()
    assert all(line.split() for line in sentences_for(tokens))


@pytest.mark.parametrize(
    ("preset", "words", "most"), [("laptop", 4000, 4e6), ("best", 10_000, 8e6)]
)
def test_a_preset_fits_into_a_page(preset: str, words: int, most: float) -> None:
    model = build_model(model_config("rnnsearch", preset, words, words))
    assert len(pack_run(replace(small_run(), model=model)).data) < most
