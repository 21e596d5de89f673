"""A configuration from a file: all of it counts, options go before it, contradictions are said."""

from pathlib import Path

import pytest
import yaml

from course_lib.errors import CourseError
from course_lib.training import RunConfig, compared_configs, with_file


def written(folder: Path, **record: object) -> Path:
    path = folder / "run.yaml"
    path.write_text(yaml.safe_dump(record))
    return path


def test_what_a_run_writes_is_its_configuration(small_run: Path, small: RunConfig) -> None:
    assert RunConfig(**with_file(small_run / "config.yaml", {})) == small


def test_an_edited_value_counts_wherever_it_stands(small_run: Path, tmp_path: Path) -> None:
    record = yaml.safe_load((small_run / "config.yaml").read_text())
    record["recipe"]["warmup"] = 7  # of the preset
    record["model_config"]["unit"] = "lstm"
    config = RunConfig(**with_file(written(tmp_path, **record), {}))
    assert config.changes == {**record["changes"], "warmup": 7, "unit": "lstm"}
    for table in ("changes", "recipe"):
        contradicting = {**record, table: {**record[table], "epochs": 9}}
        with pytest.raises(CourseError, match="under changes"):
            with_file(written(tmp_path, **contradicting), {})


def test_options_go_before_the_file(small_run: Path, small: RunConfig) -> None:
    given = {"model": "rnnencdec", "preset": "cpu", "seed": 3}
    config = RunConfig(**with_file(small_run / "config.yaml", given))
    assert config == RunConfig("rnnencdec", "copy", "tokens", "cpu", 3, small.changes)


def test_a_short_file_is_enough(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_text("corpus: copy\nchanges:\n  learning_rate: 1e-3\n")
    config = RunConfig(**with_file(path, {"model": "luong"}))
    assert config == RunConfig("luong", "copy", changes={"learning_rate": 0.001})


def test_a_context_is_of_the_model_that_rnnencdec_is_compared_with() -> None:
    configs = compared_configs({"context": "general", "hidden": 8}, corpus="copy").values()
    models = [config.model_config(9, 9) for config in configs]
    assert [(model.context, model.hidden) for model in models] == [("fixed", 8), ("general", 8)]


def test_pieces_of_words_can_be_asked_of_a_preset_with_words() -> None:
    config = RunConfig("rnnsearch", "copy", preset="paper", changes={"subwords": 100})
    assert config.recipe.subwords == 100


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[1, 2]", "no YAML file"),
        ("a: [", "no YAML file"),
        ("pair: tokens", "names no model"),
        ("model: rnnsearch\nepochs: 3", "'epochs', which no run writes"),
        ("model: rnnsearch\nseed: first", "does not fit"),
        ("model: rnnsearch\nchanges: {width: 3}", "nothing called 'width'"),
        ("model: rnnsearch\nrecipe: {1: 3}", "nothing called 1"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_line(text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_text(text)
    with pytest.raises(CourseError, match=told) as raised:
        RunConfig(**with_file(path, {"corpus": "copy"}))
    assert "\n" not in str(raised.value)
