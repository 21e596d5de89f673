"""The models that are handed to a student's search, and what is made of its answers."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch

from course_lib.assignments import checks, steps
from course_lib.assignments.steps import END, START
from course_lib.errors import CourseError

FILE = Path(__file__).parents[2] / "solutions" / "decoding" / "translator.safetensors"
MODELS = {
    "table": lambda: steps.from_table(steps.random_table(1, sentences=3)),
    "translator": lambda: steps.load_translator(FILE),
}


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_a_step_gives_distributions_in_which_no_mark_but_the_end_is_possible(make) -> None:
    model = make()
    log_probs, state = model.step(model.state[:3], [START] * 3)
    assert state.shape == model.state[:3].shape
    assert log_probs.exp().sum(1).tolist() == pytest.approx([1.0] * 3)
    assert torch.isneginf(log_probs[:, [0, START]]).all()
    assert (log_probs[:, END] > -math.inf).all()


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_a_row_does_not_depend_on_its_company_and_the_state_matters(make) -> None:
    model = make()
    _, state = model.step(model.state[:3], [START] * 3)
    _, state = model.step(state, torch.tensor([3, 4, 5]))
    together, _ = model.step(state, np.array([4, 4, 4]))
    alone, _ = model.step(state[[2]], [4])
    assert torch.allclose(alone[0], together[2])
    fresh, _ = model.step(model.state[:3], [4, 4, 4])
    assert not torch.allclose(fresh, together, equal_nan=True)


def test_a_step_without_a_word_for_each_row_says_what_it_was_given() -> None:
    model = MODELS["table"]()
    with pytest.raises(ValueError, match=r"the shape \(2,\) and 3 rows"):
        model.step(model.state, [START] * 2)


def test_a_table_of_words_has_their_probabilities_and_ends_where_nothing_follows() -> None:
    words = ["<pad>", "<s>", "</s>", "a", "b"]
    follows = {"<s>": {"a": 0.25, "b": 0.75}, "a": {"b": 1.0}}
    model = steps.from_table(steps.bigrams(words, follows))
    assert steps.log_prob(model, 0, [3, 4]) == pytest.approx(math.log(0.25))
    assert steps.log_prob(model, 0, [4]) == pytest.approx(math.log(0.75))
    assert steps.log_prob(model, 0, [3]) == -math.inf


def test_the_translator_knows_its_words_and_prefers_its_references_to_scrambled_ones() -> None:
    translator = steps.load_translator(FILE)
    assert len(translator.state) == len(translator.sources) == len(translator.references) == 24
    better = 0
    for row, reference in enumerate(translator.references[:8]):
        numbers = [translator.words.index(word) for word in reference.split()]
        right, wrong = (steps.log_prob(translator, row, one) for one in (numbers, numbers[::-1]))
        better += right > wrong + 5
    assert better == 8


def test_a_missing_translator_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="Copy it from the folder of the assignment"):
        steps.load_translator(tmp_path / "translator.safetensors")
    (tmp_path / "translator.safetensors").write_bytes(b"no such thing")
    with pytest.raises(CourseError, match="missing or damaged"):
        steps.load_translator(tmp_path / "translator.safetensors")


def test_sentences_of_any_kind_become_lists() -> None:
    answers = ([[3, 4], []], ((3, 4), ()), [torch.tensor([3, 4]), []], [np.array([3, 4]), ()])
    for answer in answers:
        assert steps.sentences(answer, 2, "sentences") == [[3, 4], []]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (None, "is None"),
        ([3, 4], "a list with a list of word numbers"),
        ("words", "a list with a list of word numbers"),
        ([[3]], "holds 1 sentences; the batch has 2"),
        ([[3], [3.0]], "no whole number"),
        ([[3], ["it"]], "no whole number"),
        ([[3], [True]], "no whole number"),
        ([[3, END], [4]], "has the end mark in it"),
        ([[START, 3], [4]], "padding or a start mark"),
        ([[3, 0], [4]], "padding or a start mark"),
    ],
)
def test_other_answers_are_refused_with_a_reason(answer: object, says: str) -> None:
    with pytest.raises(checks.Refused, match=says):
        steps.sentences(answer, 2, "sentences")
