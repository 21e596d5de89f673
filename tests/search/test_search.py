"""Search: exhaustive once wide enough, greedy at width one, the same in any company."""

import itertools
import random
from functools import cache

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.corpora.batches import make_batch, make_source
from course_lib.corpora.vocabulary import EOS, PAD
from course_lib.errors import CourseError
from course_lib.evaluation.forced import forced_alpha, sentence_log_probs
from course_lib.models import RNNsearch
from course_lib.search import (
    beam,
    beam_search,
    greedy,
    greedy_search,
    hypothesis,
    record_beam_search,
    sample,
    sampling,
    translate,
)
from tests.models.paper_names import paper_parameters
from tests.reference.enumeration import Candidate, best, enumerate_targets
from tests.reference.translator import decode
from tests.search.kinds import KINDS, NAMES, model_of

WORDS = range(2, 7)  # neither padding nor the begin mark is written
SENTENCES = st.lists(st.lists(st.integers(3, 8), max_size=6), min_size=1, max_size=6)


def limit_length(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    """Translations of at most `limit` words, end mark included, so that all can be listed."""

    def length_limit(lengths: torch.Tensor) -> torch.Tensor:
        return torch.full_like(lengths, limit)

    for search in (beam, greedy, sampling):
        monkeypatch.setattr(search, "length_limit", length_limit)


@cache
def parameters(kind: str, seed: int):
    return paper_parameters(model_of(kind, seed))


@cache
def step_log_probs(kind: str, seed: int, sentence: tuple[int, ...], prefix: tuple[int, ...]):
    """log p(y | prefix, sentence) for every word y, by the equations in NumPy."""
    p = parameters(kind, seed)
    return decode(p, [*sentence, EOS], [*prefix, PAD], KINDS[kind])[-1].log_probs


def listed(kind: str, seed: int, sentence: tuple[int, ...], limit: int) -> list[Candidate]:
    """Every translation of a sentence, by the equations."""
    candidates = enumerate_targets(
        lambda prefix: step_log_probs(kind, seed, sentence, prefix),
        eos=EOS,
        max_length=limit,
        words=WORDS,
    )
    return [c for c in candidates if c.finished]


@pytest.mark.parametrize("kind", ["rnnsearch", "layers"])
def test_a_beam_as_wide_as_the_possibilities_is_exhaustive(monkeypatch, kind) -> None:
    limit_length(monkeypatch, 4)  # 1 + 4 + 16 + 64 = 85 translations
    sentence, seed = (4, 5, 6), 0
    model, source = model_of(kind, seed), make_source([sentence])
    candidates = listed(kind, seed, sentence, 4)
    assert len(candidates) == 85
    for penalty in (0.0, 0.6, 1.0):

        def score(candidate: Candidate, penalty: float = penalty) -> float:
            return candidate.log_prob / (len(candidate.tokens) + 1) ** penalty

        expected = best(candidates, score)
        (found,) = beam_search(model, *source, 85, penalty)
        assert found.tokens == list(expected.tokens)
        assert found.log_prob == pytest.approx(expected.log_prob, abs=1e-9)
        assert found.score == pytest.approx(score(expected), abs=1e-9)


@pytest.mark.parametrize("kind", NAMES)
@settings(max_examples=6, deadline=None)
@given(sentences=SENTENCES, k=st.integers(1, 6), data=st.data())
def test_company_and_order_never_change_a_translation(kind, sentences, k, data) -> None:
    model = model_of(kind, seed=3)
    alone = [translate(model, [sentence], k=k)[0] for sentence in sentences]
    order = data.draw(st.permutations(range(len(sentences))))
    size = data.draw(st.integers(1, len(sentences)))
    found = translate(model, [sentences[i] for i in order], k=k, batch_size=size)
    for one, i in zip(found, order, strict=True):
        assert one.tokens == alone[i].tokens
        assert one.log_prob == pytest.approx(alone[i].log_prob, abs=1e-9)
        assert (one.alpha is None) == (kind in ("rnnencdec", "sutskever"))
        if one.alpha is not None:
            torch.testing.assert_close(one.alpha, alone[i].alpha)


@pytest.mark.parametrize("kind", NAMES)
@settings(max_examples=6, deadline=None)
@given(sentences=SENTENCES, seed=st.integers(0, 5))
def test_width_one_is_greedy(kind, sentences, seed) -> None:
    model = model_of(kind, seed)
    source = make_source(sentences)
    greedy = greedy_search(model, *source)
    one = beam_search(model, *source, k=1)
    for found, expected in zip(one, greedy, strict=True):
        assert found.tokens == expected.tokens
        assert found.log_prob == pytest.approx(expected.log_prob, abs=1e-12)


def test_greedy_takes_the_most_probable_word_at_every_step(monkeypatch) -> None:
    limit_length(monkeypatch, 6)
    sentence = (4, 5, 6)
    expected: list[int] = []
    while len(expected) < 5 and EOS not in expected:
        log_probs = step_log_probs("rnnsearch", 1, sentence, tuple(expected))
        expected.append(int(log_probs.argmax()))
    (found,) = greedy_search(model_of("rnnsearch", 1), *make_source([sentence]))
    assert found.tokens == [word for word in expected if word != EOS]


@pytest.mark.parametrize("kind", NAMES)
@settings(max_examples=6, deadline=None)
@given(sentences=SENTENCES, k=st.integers(1, 5))
def test_a_hypothesis_knows_its_probability_and_its_weights(kind, sentences, k) -> None:
    model = model_of(kind, seed=4)
    for sentence, found in zip(sentences, translate(model, sentences, k=k), strict=True):
        batch = make_batch([(sentence, found.tokens)], [0])
        assert found.log_prob == pytest.approx(sentence_log_probs(model, batch).item(), abs=1e-9)
        length = len(found.tokens) + 1
        assert found.score == pytest.approx(found.log_prob / length)
        limit = int(hypothesis.length_limit(torch.tensor(len(sentence) + 1)))
        assert length <= limit
        expected = forced_alpha(model, batch)
        assert (expected is None) == (found.alpha is None)
        if found.alpha is not None:
            assert found.alpha.shape == (length, len(sentence) + 1)
            torch.testing.assert_close(found.alpha, expected[0])


def test_finished_sentences_cost_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sentences that are done leave the batch, and a step has no more ranks than are needed."""
    model = model_of("rnnsearch", seed=5)
    with torch.no_grad():
        model.decoder.W_o.bias[EOS] += 2.0  # so that hypotheses end at different steps
    shapes, live = [], []
    step = RNNsearch.step

    def counting(self, y_prev, state):
        shapes.append(y_prev.shape)
        assert state.s.shape[:2] == y_prev.shape
        assert len(state.mask) == y_prev.shape[1]
        return step(self, y_prev, state)

    monkeypatch.setattr(RNNsearch, "step", counting)
    beam_search(
        model,
        *make_source([[4, 5], [6], [7, 8, 3, 4]]),
        k=4,
        watch=lambda step: live.append(step.sentence.bincount(minlength=3)),
    )
    assert shapes[0] == (1, 3)
    for (ranks, sentences), count in zip(shapes, live, strict=True):
        assert sentences == (count > 0).sum()
        assert ranks == count.max()
    assert shapes[-1][0] * shapes[-1][1] < max(a * b for a, b in shapes)


@pytest.mark.parametrize("kind", NAMES)
def test_sentences_may_make_their_steps_apart(monkeypatch, kind) -> None:
    """However few hypotheses step together, the search finds the same."""
    model = model_of(kind, seed=2)
    draw = random.Random(0)
    sentences = [draw.choices(range(3, 9), k=4) for _ in range(8)]
    together = translate(model, sentences, k=6)
    for cells in (1, 13):
        monkeypatch.setattr(beam, "CELLS_AT_ONCE", cells)
        for one, other in zip(translate(model, sentences, k=6), together, strict=True):
            assert one.tokens == other.tokens
            assert one.log_prob == pytest.approx(other.log_prob, abs=1e-12)
            if other.alpha is not None:
                torch.testing.assert_close(one.alpha, other.alpha)


def test_a_model_in_training_is_searched_without_dropout_and_handed_back() -> None:
    model = model_of("rnnsearch")
    expected = translate(model, [[4, 5, 6]], k=3)[0].tokens
    model.decoder.dropout.p = model.encoder.dropout.p = 0.9
    model.train()
    assert translate(model, [[4, 5, 6]], k=3)[0].tokens == expected
    assert model.training


def test_a_search_for_nothing_is_refused() -> None:
    with pytest.raises(CourseError, match="--beam 1"):
        beam_search(model_of("rnnsearch"), *make_source([[4]]), k=0)


def test_a_model_whose_numbers_are_nan_is_refused_by_every_search() -> None:
    """Whether all of it is NaN, or it becomes so at a word that only some hypotheses have."""
    spoilt, in_part = model_of("rnnsearch"), model_of("rnnsearch")
    with torch.no_grad():
        spoilt.decoder.W_o.weight[5] = torch.nan
        in_part.decoder.W_o.bias[4] += 5
        in_part.decoder.E.weight[4] = torch.nan
    searches = [
        lambda model: beam_search(model, *make_source([[4, 5], [6]]), k=3),
        lambda model: record_beam_search(model, [4, 5], k=3),
        lambda model: greedy_search(model, *make_source([[4, 5], [6]])),
        lambda model: sample(model, [[4, 5], [6]], seed=0),
    ]
    for model, search in itertools.product((spoilt, in_part), searches):
        with pytest.raises(CourseError, match=r"not numbers \(NaN\)") as caught:
            search(model)
        assert "\n" not in str(caught.value)


def test_a_model_that_never_ends_writes_as_many_words_as_it_may() -> None:
    """Twice the source and ten more, the end marks counted on both sides."""
    model, sentences = model_of("rnnsearch"), [[4, 5], [6]]
    with torch.no_grad():
        model.decoder.W_o.bias[EOS] -= 100
    for found in (
        greedy_search(model, *make_source(sentences)),
        beam_search(model, *make_source(sentences), k=2),
        sample(model, sentences, seed=0),
    ):
        assert [len(one.tokens) + 1 for one in found] == [16, 14]


def test_no_sentences_make_no_translations() -> None:
    assert translate(model_of("rnnsearch"), []) == []


@pytest.mark.parametrize("kind", ["rnnsearch", "rnnencdec"])
def test_a_search_works_in_half_precision(kind: str) -> None:
    model, sentences = model_of(kind).float(), [[4, 5], [6]]
    for k in (1, 5):
        with torch.autocast("cpu", torch.bfloat16):
            halved = translate(model, sentences, k)
        for one, other in zip(halved, translate(model, sentences, k), strict=True):
            assert one.score == pytest.approx(other.score, abs=0.1)
