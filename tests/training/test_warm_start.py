"""A training that starts from another run: its weights, its words, and what does not fit."""

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
import torch
import yaml

from course_lib.corpora import load_corpus
from course_lib.corpora.corpus import Corpus
from course_lib.corpora.token_files import TokenFiles
from course_lib.errors import CourseError
from course_lib.files import sha256_of
from course_lib.pretrained import FOLDER
from course_lib.training import RunConfig, finish_run, initial, load_run, train, with_file
from course_lib.training.warm_start import load_initial
from tests.training.conftest import Stopped, outcome, stop


def further(config: RunConfig, run: Path, changes: Mapping[str, Any]) -> RunConfig:
    return replace(config, changes={**config.changes, **changes}, init_from=initial(run))


@pytest.fixture(scope="module")
def other_text(small: RunConfig) -> Corpus:
    options = {**small.corpus_options, "train": 40, "seed": 5}
    return load_corpus("copy", "tokens", **options)


def test_it_begins_with_the_weights_and_words_of_the_run(
    small: RunConfig, small_run: Path, other_text: Corpus, tmp_path: Path
) -> None:
    still = {"learning_rate": 1e-12, "averaging": 0.0, "epochs": 1, "dropout": 0.1}
    config = further(small, small_run, still)
    train(config, other_text, tmp_path / "run", quiet=True)
    before, after = load_run(small_run), load_run(tmp_path / "run")
    assert after.words == before.words
    for old, new in zip(before.model.parameters(), after.model.parameters(), strict=True):
        torch.testing.assert_close(new, old, atol=1e-9, rtol=0)
    provenance = {
        "run": str(small_run.resolve()),
        "sha256": sha256_of(small_run / "model.safetensors"),
    }
    assert yaml.safe_load((tmp_path / "run/config.yaml").read_text())["init_from"] == provenance
    assert finish_run(tmp_path / "run", other_text, beam=1)["init_from"] == provenance
    assert RunConfig(**with_file(tmp_path / "run/config.yaml", {})) == config


def test_stopped_it_goes_on_to_the_same_numbers(
    small: RunConfig, small_run: Path, other_text: Corpus, tmp_path: Path
) -> None:
    config = further(small, small_run, {"epochs": 2})
    train(config, other_text, tmp_path / "free", quiet=True)
    with pytest.raises(Stopped):
        train(config, other_text, tmp_path / "run", quiet=True, watch=stop)
    drawn = replace(config, init_from=None)
    with pytest.raises(CourseError, match="init_from"):
        train(drawn, other_text, tmp_path / "run", resume=True, quiet=True)
    train(config, other_text, tmp_path / "run", resume=True, quiet=True)
    assert outcome(tmp_path / "run") == outcome(tmp_path / "free")


def test_what_does_not_fit_is_one_line(
    small: RunConfig, small_run: Path, small_corpus: Corpus, tmp_path: Path
) -> None:
    shutil.copytree(small_run, tmp_path / "old")
    config = further(small, tmp_path / "old", {})
    cased = replace(small_corpus, lowercased=not small_corpus.lowercased)
    wide = replace(config, changes={**config.changes, "hidden": 24})
    for asked, corpus, told in (
        (wide, small_corpus, "its hidden is 16, and not 24"),
        (config, cased, "a run of a text that is split alike"),
    ):
        with pytest.raises(CourseError, match=told):
            load_initial(asked, corpus)
    with (tmp_path / "old/model.safetensors").open("ab") as weights:
        weights.write(b"?")
    with pytest.raises(CourseError, match="other weights"):
        load_initial(config, small_corpus)


def test_a_text_of_ones_own_is_told_how_to_be_split_as_the_run_was(tmp_path: Path) -> None:
    for pair, told in (("en-es", r"Add --set corpus\.moses=true"), ("en-nl", "split alike")):
        folder = tmp_path / pair
        folder.mkdir()
        for code in pair.split("-"):
            lines = "".join(f"word {number} .\n" for number in range(100))
            (folder / f"train.{code}").write_text(lines)
        start = "python-docs-en-es"
        given = with_file(FOLDER / start / "config.yaml", {"corpus": str(folder), "pair": pair})
        config = RunConfig(**given, init_from=initial(start))
        with pytest.raises(CourseError, match=told):
            load_initial(config, config.load_corpus())


def test_a_published_model_is_a_beginning_but_not_for_a_stream(small_corpus: Corpus) -> None:
    name = "multi30k-en-de"
    config = RunConfig(**with_file(FOLDER / name / "config.yaml", {}), init_from=initial(name))
    assert initial(name)["run"] == name
    text = replace(small_corpus, lowercased=True)
    assert load_initial(config, text).config.pair == "en-de"
    with pytest.raises(CourseError, match="Start from a run with words"):
        load_initial(config, replace(text, stream=cast(TokenFiles, object())))
