"""The unknown word replaced by the source word that the weights point to."""

import pytest
import torch

from course_lib.corpora.vocabulary import EOS, MARKS, UNK, Vocabulary
from course_lib.errors import CourseError
from course_lib.search import Hypothesis, replace_unknown, translate
from tests.search.kinds import model_of

VOCABULARY = Vocabulary((*MARKS, "der", "Hund", "bellt"))
SOURCE = ["Rex", "the", "dog"]


def found(tokens: list[int], alpha: list[list[float]] | None) -> Hypothesis:
    return Hypothesis(tokens, 0.0, 0.0, None if alpha is None else torch.tensor(alpha))


def test_each_unknown_word_takes_the_source_word_with_most_weight() -> None:
    alpha = [[0.1, 0.2, 0.7, 0.0], [0.6, 0.3, 0.1, 0.0], [0.2, 0.3, 0.5, 0.0], [0.0] * 4]
    hypothesis = found([UNK, 5, UNK], alpha)
    assert replace_unknown(hypothesis, VOCABULARY, SOURCE) == ["dog", "Hund", "dog"]


def test_the_end_mark_is_never_copied() -> None:
    hypothesis = found([UNK], [[0.3, 0.1, 0.0, 0.6], [0.25] * 4])
    assert replace_unknown(hypothesis, VOCABULARY, SOURCE) == ["Rex"]


def test_marks_are_left_out_as_in_every_translation() -> None:
    weights = [[0.0, 0.0, 1.0, 0.0]] * 4
    hypothesis = found([0, UNK, 4], weights)
    assert replace_unknown(hypothesis, VOCABULARY, SOURCE) == ["dog", "der"]
    assert VOCABULARY.decode(hypothesis.tokens) == ["<unk>", "der"]


def test_nothing_to_copy_from_leaves_the_unknown_word() -> None:
    assert replace_unknown(found([UNK], [[1.0], [1.0]]), VOCABULARY, []) == ["<unk>"]


def test_it_fits_what_a_search_returns() -> None:
    model = model_of("rnnsearch", 3)
    with torch.no_grad():
        model.decoder.W_o.bias[UNK] += 5
        model.decoder.W_o.bias[EOS] -= 1
    (hypothesis,) = translate(model, [[4, 3, 5]], k=2)
    assert UNK in hypothesis.tokens
    words = replace_unknown(hypothesis, VOCABULARY, SOURCE)
    at = hypothesis.tokens.index(UNK)
    assert words[at] == SOURCE[int(hypothesis.alpha[at, :3].argmax())]
    assert "<unk>" not in words


def test_without_attention_there_is_nowhere_to_look() -> None:
    with pytest.raises(CourseError, match="--replace-unk"):
        replace_unknown(found([UNK], None), VOCABULARY, SOURCE)


def test_another_sentences_words_are_refused() -> None:
    with pytest.raises(CourseError, match="without the end mark"):
        replace_unknown(found([UNK], [[0.5, 0.5], [0.5, 0.5]]), VOCABULARY, SOURCE)
