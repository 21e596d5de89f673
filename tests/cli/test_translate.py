"""`course translate` and its options, as typed."""

import json
import shutil
from pathlib import Path

import pytest
import torch
import yaml

from course_lib.corpora.vocabulary import EOS, UNK
from course_lib.training import load_run
from course_lib.training.checkpoint import save_weights
from tests.conftest import Course


@pytest.fixture(scope="module")
def run(copied: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that loves the unknown word and ends early, so that every option shows."""
    out = shutil.copytree(copied, tmp_path_factory.mktemp("runs") / "rnnsearch")
    loaded = load_run(out, "cpu")
    loaded.model.decoder.W_o.bias.data[[UNK, EOS]] = torch.tensor([12.0, 10.5])
    save_weights(out / "model.safetensors", loaded.model)
    return out


@pytest.fixture
def lines(run: Path) -> str:
    words = json.loads((run / "vocabulary.json").read_text())["source"][4:8]
    return "\n".join([" ".join(words), f"unseen {words[0]}", "", words[1]]) + "\n"


def answers(course: Course, run: Path, lines: str, *options: object) -> list[list[str]]:
    """The words of each line that `course translate` prints."""
    done = course("translate", run, *options, stdin=lines)
    assert done.status == 0
    return [line.split() for line in done.out.splitlines()]


def test_ranks_as_the_run_was_scored_unless_told_otherwise(run, lines, tmp_path, course) -> None:
    plain = answers(course, run, lines, "--beam", 3)
    unranked = answers(course, run, lines, "--beam", 3, "--length-penalty", 0)
    assert plain != unranked
    shutil.copytree(run, tmp_path, dirs_exist_ok=True)
    record = yaml.safe_load((tmp_path / "config.yaml").read_text())
    record["changes"]["length_penalty"] = 0.0
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(record))
    assert answers(course, tmp_path, lines, "--beam", 3) == unranked


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        (["--beam", 10**5], "1000"),
        (["--length-penalty", "nan"], "--length-penalty"),
        (["--n-best", 13], "Add --beam 13"),
        (["--n-best", 2, "--beam", 1], "Add --beam 2"),
    ],
)
def test_a_mistake_is_one_line_with_the_remedy(run, lines, options, remedy, course) -> None:
    done = course("translate", run, *options, stdin=lines)
    assert done.refused(remedy)
    assert done.out == ""


def test_the_best_come_with_their_scores_and_the_first_is_the_answer(run, lines, course) -> None:
    plain = answers(course, run, lines, "--beam", 4)
    listed = answers(course, run, lines, "--beam", 4, "--n-best", 3)
    rows = [" ".join(words).split("|||") for words in listed]
    assert [int(number) for number, _, _ in rows] == [0, 0, 0, 1, 1, 1, 3, 3, 3]  # 2 is empty
    for sentence in (0, 1, 3):
        found = [(text.split(), float(score)) for n, text, score in rows if int(n) == sentence]
        assert found[0][0] == plain[sentence]
        assert [score for _, score in found] == sorted((s for _, s in found), reverse=True)
        assert len({tuple(text) for text, _ in found}) == 3


def test_lines_that_come_little_by_little_are_numbered_on(run, lines, course, monkeypatch) -> None:
    for options in (["--beam", 1], ["--beam", 4, "--n-best", 3]):
        with monkeypatch.context() as patch:
            whole = course("translate", run, *options, stdin=lines.rstrip())
            patch.setattr("course_lib.cli.translate.CHUNK", 5)
            assert course("translate", run, *options, stdin=lines.rstrip()) == whole
