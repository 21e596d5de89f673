"""The transcribed tables of the paper: whole, consistent, and what the chapter on them prints."""

import re
from pathlib import Path
from typing import Any

import pytest
from pybtex.database import parse_file

from course_lib.corpora.batches import POOL_BATCHES
from course_lib.models import SIZES, model_config
from course_lib.records import read_record
from course_lib.training import RECIPES

BOOK = Path(__file__).parents[2] / "book"


@pytest.fixture(scope="module")
def paper() -> dict[str, Any]:
    return read_record("published-bahdanau2015")


def test_both_tables_are_whole(paper: dict[str, Any]) -> None:
    networks = {f"{model}-{n}" for model in ("RNNencdec", "RNNsearch") for n in (30, 50)}
    networks.add("RNNsearch-50*")
    assert set(paper["table_1"]["rows"]) == networks | {"Moses"}
    assert set(paper["table_2"]["rows"]) == networks
    for scores in paper["table_1"]["rows"].values():
        assert 0 < scores["All"] < scores["No UNK"] < 100


def test_every_run_of_table_2_counts_the_same_epoch(paper: dict[str, Any]) -> None:
    """A mistyped cell of updates or epochs would stand out: all runs shared one corpus."""
    minibatch = paper["setting"]["minibatch"]
    epochs = [
        row["updates"] * minibatch / row["epochs"] for row in paper["table_2"]["rows"].values()
    ]
    assert max(epochs) / min(epochs) < 1.03
    assert max(epochs) < paper["corpus_in_sentences"]["sentences"]


def test_the_setting_is_that_of_the_preset(paper: dict[str, Any]) -> None:
    setting, sizes = paper["setting"], SIZES["paper"]
    for symbol, name in (("n", "hidden"), ("m", "embedding"), ("l", "readout")):
        assert setting[symbol] == sizes[name]
    assert setting["n_align"] == sizes["alignment"]
    assert setting["minibatch"] == RECIPES["paper"].batch_size
    assert setting["vocabulary"] == RECIPES["paper"].max_words


def test_the_preset_is_the_paper_s() -> None:
    recipe = RECIPES["paper"]
    assert (recipe.optimiser, recipe.learning_rate, recipe.schedule) == ("adadelta", 1, "constant")
    assert (recipe.warmup, recipe.clip, recipe.label_smoothing) == (0, 1, 0)
    assert (recipe.batch_size, recipe.batch_size * POOL_BATCHES) == (80, 1600)
    assert (recipe.max_words, recipe.min_frequency, recipe.max_length) == (30_000, 1, 50)
    assert (recipe.epochs, recipe.precision) == (5, "fp32")
    for model, encoder in (("rnnsearch", "bidirectional"), ("rnnencdec", "forward")):
        config = model_config(model, "paper", 30_004, 30_004)
        sizes = (config.embedding, config.hidden, config.alignment, config.readout)
        assert sizes == (620, 1000, 1000, 500)
        assert (config.unit, config.initialisation, config.dropout) == ("paper", "paper", 0)
        assert (config.encoder, config.decoder, config.layers) == (encoder, "paper", 1)


def test_the_chapter_prints_the_phrases_of_the_file(paper: dict[str, Any]) -> None:
    """Between the columns' bars: the source, then each translation as French, glosses behind."""
    page = (BOOK / "07-is-it-better.md").read_text(encoding="utf-8")
    table = page.split("| Source | RNNencdec-50 | RNNsearch-50 |\n", 1)[1].split("\n\n", 1)[0]
    printed = []
    for line in table.splitlines()[1:]:
        source, *translations = (cell.strip() for cell in line.strip("|").split("|"))
        printed.append([source, *(re.findall(r"\{fr\}`(.+?)`", cell)[0] for cell in translations)])
    assert printed == paper["long_sentences"][0]["phrases"]


def test_published_scores_on_captions_name_their_sources() -> None:
    published = read_record("published-multi30k")
    bibliography = parse_file(BOOK / "references.bib").entries
    for system in published["systems"]:
        entry = bibliography[system["key"]]
        assert system["url"] == entry.fields["url"]
        assert entry.fields["title"] in system["source"]
        assert all(20 < score < 70 for one in system["scores"].values() for score in one.values())
