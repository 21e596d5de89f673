"""Search: exhaustive once wide enough, greedy at width one, the same in any company."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.corpora.batches import make_batch, make_source
from course_lib.corpora.vocabulary import BOS, EOS
from course_lib.errors import CourseError
from course_lib.models import EncoderDecoder
from course_lib.search import beam_search, greedy_search, hypothesis, next_words, translate
from tests.models.paper_names import paper_parameters
from tests.models.test_against_reference import tiny_model
from tests.reference.enumeration import best, enumerate_targets
from tests.reference.rnnsearch import Setting, next_log_probs

SEARCH, ENCDEC = Setting(), Setting(context="fixed", unit="torch")
MAX_LENGTH = 4
SENTENCES = st.lists(st.lists(st.integers(3, 8), max_size=6), min_size=1, max_size=6)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Translations of at most MAX_LENGTH words, end mark included, so that all can be listed."""

    def limit(lengths: torch.Tensor) -> torch.Tensor:
        return torch.full_like(lengths, MAX_LENGTH)

    monkeypatch.setattr(next_words, "length_limit", limit)


def small_vocabulary(model: EncoderDecoder, words: int) -> EncoderDecoder:
    """The same model, with all but the first `words` words made impossible."""
    with torch.no_grad():
        model.decoder.W_o.bias[words:] = -torch.inf
    return model


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("setting", [SEARCH, ENCDEC], ids=str)
@pytest.mark.parametrize("length_penalty", [0.0, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_a_beam_as_wide_as_the_possibilities_is_exhaustive(setting, length_penalty, seed) -> None:
    words = 4  # of them three are not the end mark: 1 + 3 + 9 + 27 = 40 translations
    model = tiny_model(setting, seed)
    sentence = [4, 5, 6]
    parameters = paper_parameters(model)
    small_vocabulary(model, words)

    def next_words(prefix: tuple[int, ...]):
        # At the last position the end mark is the only choice left, as in the library.
        log_probs = next_log_probs(parameters, [*sentence, EOS], prefix, setting)
        return log_probs - math.log(sum(math.exp(value) for value in log_probs[:words]))

    candidates = enumerate_targets(next_words, eos=EOS, max_length=MAX_LENGTH, words=[0, BOS, 3])
    expected = best(
        candidates,
        lambda candidate: candidate.log_prob / (len(candidate.tokens) + 1) ** length_penalty,
    )
    source, lengths, mask = make_source([sentence])
    (found,) = beam_search(model, source, lengths, mask, k=40, length_penalty=length_penalty)
    assert found.tokens == list(expected.tokens)
    assert found.log_prob == pytest.approx(expected.log_prob, abs=1e-9)
    narrow = beam_search(model, source, lengths, mask, k=2, length_penalty=length_penalty)[0]
    assert narrow.score <= found.score + 1e-12


@pytest.mark.parametrize("setting", [SEARCH, ENCDEC], ids=str)
@settings(max_examples=20, deadline=None)
@given(sentences=SENTENCES, k=st.integers(1, 6), data=st.data())
def test_company_and_order_never_change_a_translation(setting, sentences, k, data) -> None:
    model = tiny_model(setting, seed=3)
    alone = [translate(model, [sentence], k=k)[0] for sentence in sentences]
    order = data.draw(st.permutations(range(len(sentences))))
    size = data.draw(st.integers(1, len(sentences)))
    found = translate(model, [sentences[i] for i in order], k=k, batch_size=size)
    for hypothesis_, i in zip(found, order, strict=True):
        assert hypothesis_.tokens == alone[i].tokens
        assert hypothesis_.log_prob == pytest.approx(alone[i].log_prob, abs=1e-9)
        assert (hypothesis_.alpha is None) == (setting is ENCDEC)
        if hypothesis_.alpha is not None:
            torch.testing.assert_close(hypothesis_.alpha, alone[i].alpha)


@pytest.mark.parametrize("setting", [SEARCH, ENCDEC], ids=str)
@settings(max_examples=20, deadline=None)
@given(sentences=SENTENCES, seed=st.integers(0, 5))
def test_width_one_is_greedy(setting, sentences, seed) -> None:
    model = tiny_model(setting, seed)
    source, lengths, mask = make_source(sentences)
    greedy = greedy_search(model, source, lengths, mask)
    one = beam_search(model, source, lengths, mask, k=1)
    assert [h.tokens for h in one] == [h.tokens for h in greedy]
    for found, expected in zip(one, greedy, strict=True):
        assert found.log_prob == pytest.approx(expected.log_prob, abs=1e-9)


@settings(max_examples=20, deadline=None)
@given(sentences=SENTENCES, k=st.integers(1, 5))
def test_a_hypothesis_knows_its_probability_and_its_weights(sentences, k) -> None:
    model = tiny_model(SEARCH, seed=4)
    for sentence, found in zip(sentences, translate(model, sentences, k=k), strict=True):
        expected = model.sentence_log_probs(make_batch([(sentence, found.tokens)], [0]))
        assert found.log_prob == pytest.approx(expected.item(), abs=1e-9)
        length = len(found.tokens) + 1
        assert found.score == pytest.approx(found.log_prob / length)
        assert found.alpha.shape == (length, len(sentence) + 1)
        torch.testing.assert_close(found.alpha.sum(dim=1), torch.ones(length).double())
        assert length <= hypothesis.length_limit(torch.tensor(len(sentence) + 1))


def test_finished_sentences_cost_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """No row of a step belongs to a hypothesis that has ended or to a sentence that is done."""
    model = tiny_model(SEARCH, seed=5)
    with torch.no_grad():
        model.decoder.W_o.bias[EOS] += 2.0  # so that hypotheses end at different steps
    rows = []
    advance = next_words.NextWords.advance

    def counting(self, y, state, slots):
        rows.append(len(y))
        assert len(y) == len(state.s) == sum(slots)
        assert len(state.memory.mask) == slots[0]  # no sentence without a live hypothesis
        assert not (y == EOS).any()
        return advance(self, y, state, slots)

    monkeypatch.setattr(next_words.NextWords, "advance", counting)
    translate(model, [[4, 5], [6], [7, 8, 3, 4]], k=4)
    assert rows[0] == 3
    assert max(rows) <= 12
    assert rows[-1] < max(rows)


def test_a_beam_of_nothing_is_refused() -> None:
    model = tiny_model(SEARCH)
    with pytest.raises(CourseError, match="--beam 1"):
        beam_search(model, *make_source([[4]]), k=0)
