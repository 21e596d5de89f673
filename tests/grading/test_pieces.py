"""Submitted runs that read and write pieces of words are examined as those of whole words are."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from course_lib.corpora.subwords import START, Pieces
from course_lib.corpora.toy import toy_corpus
from course_lib.grading.run_translations import check_translations
from course_lib.grading.submitted_run import Fault, Record, Submitted, read_words
from course_lib.models import ModelConfig, build_model
from course_lib.search import translate
from course_lib.training import RunConfig
from course_lib.training.run_directory import start_run

CONFIG = RunConfig("rnnsearch", "toy", preset="smoke", changes={"subwords": 90})


@pytest.fixture(scope="module")
def made() -> tuple:
    """A corpus and its pieces."""
    corpus = toy_corpus(clauses=(1, 1), max_words=6, train=60, val=0, test=24)
    train = corpus.splits["train"]
    return corpus, Pieces.learn([*train.source, *train.target], 90)


def submitted(folder: Path) -> Submitted:
    record = Record("comparison/rnnsearch", folder, {}, CONFIG)
    return Submitted(record, result={"scores": {"test": {"beam": 2}}})


def test_a_model_is_believed_its_own_translations_and_no_others(made, tmp_path: Path) -> None:
    corpus, pieces = made
    test, size = corpus.splits["test"], len(pieces)
    # An untrained model puts words together from any pieces, not from those they are cut into.
    model = build_model(ModelConfig(size, size, embedding=8, hidden=8, alignment=8, readout=8))
    found = translate(model.eval(), [pieces.encode(x) for x in test.source], k=2)
    own = [pieces.decode(one.tokens) for one in found]
    assert any(pieces.encode(line) != one.tokens for line, one in zip(own, found, strict=True))
    run, words = submitted(tmp_path), (pieces, pieces)
    check_translations(run, model, words, own, None, test, "test", 0)
    with pytest.raises(Fault, match="references themselves"):
        check_translations(run, model, words, test.target, None, test, "test", 0)
    with pytest.raises(Fault, match="cannot have written"):
        check_translations(run, model, words, [["\u2603"], *own[1:]], None, test, "test", 0)


def test_the_pieces_of_a_run_are_read_back_and_checked(made, tmp_path: Path) -> None:
    corpus, pieces = made
    model = CONFIG.model_config(len(pieces), len(pieces))
    start_run(tmp_path, CONFIG, model, corpus, [pieces, pieces])
    record = submitted(tmp_path).record
    assert read_words(record) == (pieces, pieces)
    path = tmp_path / "vocabulary.json"
    sides = json.loads(path.read_text())
    for changed in (
        {"target": sides["target"][:-1]},
        {"subwords": {}},
        {"subwords": replace(pieces).tokenizer},
        {"source": [*sides["source"][:-1], f"{START}foreign"]},
    ):
        path.write_text(json.dumps({**sides, **changed}))
        with pytest.raises(Fault, match="as training wrote"):
            read_words(record)
