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


def test_the_unknown_word_can_be_forbidden(run, lines, course) -> None:
    plain = answers(course, run, lines, "--beam", 2)
    assert any("<unk>" in words for words in plain)
    without = answers(course, run, lines, "--beam", 2, "--no-unk")
    assert not any("<unk>" in words for words in without)


def test_the_unknown_word_can_be_replaced_by_a_source_word(run, lines, course) -> None:
    plain = answers(course, run, lines, "--beam", 1)
    replaced = answers(course, run, lines, "--beam", 1, "--replace-unk")
    for source, before, after in zip(lines.splitlines(), plain, replaced, strict=True):
        assert len(before) == len(after)
        for word, now in zip(before, after, strict=True):
            assert now == word if word != "<unk>" else now in source.split()


def test_a_minimum_length_is_kept(run, lines, course) -> None:
    found = answers(course, run, lines, "--beam", 2, "--min-length", 40)
    assert found[2] == []  # nothing in, nothing out
    assert all(len(words) >= 40 for i, words in enumerate(found) if i != 2)
    plain = answers(course, run, lines, "--beam", 2)
    assert min(len(words) for i, words in enumerate(plain) if i != 2) < 40


def test_samples_follow_the_seed(run, lines, course) -> None:
    many = lines * 5
    first = answers(course, run, many, "--sample", "--temperature", 2)
    again = answers(course, run, many, "--sample", "--temperature", 2, "--seed", 0)
    other = answers(course, run, many, "--sample", "--temperature", 2, "--seed", 1)
    assert first == again != other
    one = answers(course, run, many, "--sample", "--top-k", 1)
    assert one == answers(course, run, many, "--beam", 1)
    some = answers(course, run, many, "--sample", "--top-p", 0.5, "--no-unk")
    assert not any("<unk>" in words for words in some)


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        (["--temperature", 2], "Add --sample"),
        (["--top-k", 3], "Add --sample"),
        (["--seed", 3], "Add --sample"),
        (["--sample", "--beam", 3], "Leave one"),
        (["--sample", "--temperature", 0], "--beam 1"),
        (["--sample", "--top-k", 0], "--top-k 1"),
        (["--sample", "--top-p", 7], "--top-p"),
        (["--beam", 0], "--beam 1"),
        (["--min-length", -1], "--min-length 0"),
        (["--min-length", 10**8], "1000"),
        (["--beam", 10**5], "1000"),
        (["--sample", "--length-penalty", 1], "Leave one"),
        (["--length-penalty", "nan"], "--length-penalty"),
        (["--no-unk", "--replace-unk"], "Leave one"),
        (["--n-best", 3, "--sample"], "goes with --beam"),
        (["--n-best", 13], "Add --beam 13"),
        (["--n-best", 2, "--beam", 1], "Add --beam 2"),
    ],
)
def test_a_mistake_is_one_line_with_the_remedy(run, lines, options, remedy, course) -> None:
    done = course("translate", run, *options, stdin=lines)
    assert done.status == 2
    assert done.err.count("\n") == 1
    assert remedy in done.err
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
