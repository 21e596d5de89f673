"""Every record is what its recorder would write, and says where it comes from."""

import re
from pathlib import Path
from typing import Any

import pytest

from course_lib.models import ModelConfig, assemble, count_parameters
from course_lib.records import read_record, record_paths
from course_lib.training import Recipe
from experiments.__main__ import HERE, load, recorders
from experiments.decoders import register
from experiments.recording import name_of


@pytest.mark.parametrize("folder", recorders().values(), ids=lambda folder: folder.name)
def test_the_records_are_whole_and_of_todays_settings(folder: Path) -> None:
    """And there is no record of which nothing is said: an older recorder's is none of its own."""
    seen = set()

    def read(name: str) -> Any:
        seen.add(name)
        return read_record(name)

    recorder = load(folder)
    if hasattr(recorder, "check"):
        recorder.check(read)
    assert {path.stem for path in folder.glob("*.json")} <= seen
    assert recorder.__doc__
    assert all(part.takes for part in recorder.PARTS.values())


def test_a_recorded_run_is_complete_and_bears_its_name() -> None:
    register()
    paths = record_paths("*-seed[0-9]")
    assert paths
    for path in paths:
        result = read_record(path.stem)
        made = Path(result["corpus"]).name == "text"  # from Multi30k's own pairs, for one run
        known = {**result, "corpus": "multi30k"} if made else result
        start, end = name_of(known).split("-seed")
        assert path.stem.startswith(start)  # a tag may stand between
        assert path.stem.endswith(f"-seed{end}")
        assert result["train_seconds"] > 0
        assert result["corpus_sha256"]
        model = assemble(ModelConfig(**result["model_config"]))
        assert count_parameters(model) == result["parameters"], path.stem
        if "-dirty" not in result["git_commit"]:  # two early runs, whose recipe no commit holds
            recipe = Recipe(**result["recipe"])
            assert recipe.epochs >= result["epochs"]
            assert recipe.precision in ("auto", result["precision"])
        assert [row["epoch"] for row in result["metrics"]] == list(range(1, result["epochs"] + 1))


def test_a_record_says_which_code_made_it_on_which_sentences() -> None:
    """But what others published, and what is tried or proved of the code as it is now."""
    for path in record_paths("*"):
        if path.parent.name in ("published", "jupyterhub", "grader-proof", "translator"):
            continue
        if path.stem.endswith("-examples"):  # they stand beside their run's result
            assert record_paths(path.stem.removesuffix("-examples"))
            continue
        text = path.read_text(encoding="utf-8")
        commits = re.findall(r'"git_commit": "([^"]*)"', text)
        assert commits, path.name
        assert all(re.fullmatch("[0-9a-f]{40}(-dirty)?", commit) for commit in commits), path.name
        whole = path.stem.endswith(("-tried", "-length-penalty"))  # of runs that are gone
        assert whole or re.search(r'"[^"]*sha256": ', text), path.name


def test_a_folder_of_records_is_named_after_a_page() -> None:
    others = ("published", "pretrained", "translator", "paper-figure")  # no one page reads them
    pages = {path.stem for path in (HERE.parent / "book").rglob("*.md")}
    for folder in (path for path in HERE.iterdir() if path.is_dir() and path.name[0] != "_"):
        assert folder.name in others or folder.name in pages, folder.name
        assert len(list(folder.glob("*.py"))) <= 1, "one recorder a chapter"
