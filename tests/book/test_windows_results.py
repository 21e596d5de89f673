"""The recorded windows and decoders: every planned run, on the corpus it names."""

import json
import re
from typing import Any

import pytest

from course_lib.corpora import load_corpus
from course_lib.models import model_config
from course_lib.records import record_path

RESULT = record_path("verbs-tokens-windows")


@pytest.fixture(scope="module")
def record() -> dict[str, Any]:
    return json.loads(RESULT.read_text())


def test_it_names_its_code_its_corpus_and_its_versions(record: dict[str, Any]) -> None:
    assert re.fullmatch("[0-9a-f]{40}", record["git_commit"])
    assert {"python", "torch"} <= record["versions"].keys()
    options = {
        name.removeprefix("corpus."): value
        for name, value in record["settings"].items()
        if name.startswith("corpus.")
    }
    corpus = load_corpus(record["corpus"], record["pair"], **options)
    assert record["corpus_sha256"] == corpus.sha256


def test_each_run_is_what_its_changes_say(record: dict[str, Any]) -> None:
    """Under the settings that all share, every change makes a model that can be built."""
    names = [run["name"] for run in record["runs"]]
    assert names == ["global", "local-m", "local-p", "after", "after, fed"]
    shared = ("context", "encoder", "embedding", "hidden", "alignment", "readout", "dropout")
    settings = {name: record["settings"][name] for name in shared}
    for run in record["runs"]:
        model_config("rnnsearch", "cpu", 64, 64, **settings, **run["changes"])
        assert 0 <= run["exact"] <= 1
        losses = [epoch["val_loss"] for epoch in run["metrics"]]
        assert len(losses) == record["settings"]["epochs"]
        assert run["best_val_loss"] == min(losses)


def test_only_local_p_has_weights_of_its_own_for_the_window(record: dict[str, Any]) -> None:
    count = {run["name"]: run["parameters"] for run in record["runs"]}
    n = record["settings"]["hidden"]
    assert count["local-m"] == count["global"]
    assert count["local-p"] == count["global"] + n * n + n
    assert count["after, fed"] > count["after"]
