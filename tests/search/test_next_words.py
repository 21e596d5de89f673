"""A search's step is the decoder's step, for every kind of model and however rows lie."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.corpora.batches import make_source
from course_lib.corpora.vocabulary import EOS, UNK
from course_lib.models.contexts import AttentionContext
from course_lib.models.scores import AdditiveScore
from course_lib.search.next_words import BLOCK, NextWords, shared, top_words
from tests.models.tiny import every_cell, every_context, every_readout, label, tiny_model

EVERY = list(
    {
        label(choices): choices for choices in [*every_context(), *every_cell(), *every_readout()]
    }.values()
)
SENTENCES = [[4, 5, 6], [7, 3], [8], [5, 5, 5, 4, 3]]


@pytest.mark.parametrize("choices", EVERY, ids=label)
@pytest.mark.parametrize("few", [1, 16], ids=["uncopied", "copied"])
@torch.no_grad()
def test_the_step_is_the_decoders(monkeypatch, choices, few) -> None:
    monkeypatch.setattr("course_lib.search.next_words.FEW", few)
    model = tiny_model(choices)
    batch = make_source(SENTENCES)
    next_words = NextWords(model, *batch)
    slots = [4, 3, 1]
    sentence = torch.cat([torch.arange(n) for n in slots])
    expected = model.start(*batch).select(sentence)
    state = next_words.start
    state = state.select(sentence, state.memory)
    draw = torch.Generator().manual_seed(1)
    for number in range(1, 5):
        y = torch.randint(3, 7, (len(sentence),), generator=draw)
        log_probs, alpha, expected = model.step(y, expected)
        t, weights, state = next_words.advance(y, state, slots)
        found = torch.cat(
            [values.clone() for _, values in next_words.log_probs(t, number, sentence)]
        )
        torch.testing.assert_close(found[:, :7], log_probs)
        assert (found[:, 7:] == -torch.inf).all()
        assert (weights is None) == (alpha is None)
        if alpha is not None:
            torch.testing.assert_close(weights, alpha)
        torch.testing.assert_close(state.s, expected.s)


class Squashed(AttentionContext):
    """A reader's own context, which is no weighted sum of what lies in the memory."""

    def forward(self, query, memory, step=0):
        c, alpha = super().forward(query, memory, step)
        return torch.tanh(c), alpha


class Halved(AdditiveScore):
    def forward(self, query, keys):
        return super().forward(query, keys) / 2


@torch.no_grad()
def test_a_context_of_ones_own_is_searched_with_as_well() -> None:
    model = tiny_model(EVERY[0])
    plain = model.decoder.context
    score = Halved(4, 8, 5).double()
    score.load_state_dict(plain.score.state_dict())
    for context in (Squashed(plain.score, plain.size), AttentionContext(score, plain.size)):
        model.decoder.context = context
        batch, y = make_source(SENTENCES), torch.ones(4, dtype=torch.long)
        log_probs, alpha, _ = model.step(y, model.start(*batch))
        next_words = NextWords(model, *batch)
        t, weights, _ = next_words.advance(y, next_words.start, [4])
        ((_, found),) = next_words.log_probs(t, 1, torch.arange(4))
        torch.testing.assert_close(found[:, :7], log_probs)
        torch.testing.assert_close(weights, alpha)


@torch.no_grad()
def test_the_model_is_left_as_it_was() -> None:
    model = tiny_model(EVERY[0])
    before = {name: id(module) for name, module in model.named_modules()}
    NextWords(model, *make_source(SENTENCES))
    assert {name: id(module) for name, module in model.named_modules()} == before


@torch.no_grad()
def test_rules_forbid_and_leave_the_rest_alone() -> None:
    model = tiny_model(EVERY[0])
    batch = make_source(SENTENCES)
    sentence = torch.arange(4)
    free, bound = NextWords(model, *batch), NextWords(model, *batch, min_length=2, forbid_unk=True)
    t, _, _ = free.advance(torch.ones(4, dtype=torch.long), free.start, [4])
    for number, forbidden in ((1, [EOS, UNK]), (2, [EOS, UNK]), (3, [UNK])):
        ((_, expected),) = free.log_probs(t, number, sentence)
        ((_, found),) = bound.log_probs(t, number, sentence)
        allowed = [word for word in range(7) if word not in forbidden]
        assert (found[:, forbidden] == -torch.inf).all()
        assert torch.equal(found[:, allowed], expected[:, allowed])


@torch.no_grad()
def test_at_its_limit_a_sentence_can_only_end() -> None:
    model = tiny_model(EVERY[0])
    next_words = NextWords(model, *make_source(SENTENCES))
    limit = int(next_words.limits[2])
    t, _, _ = next_words.advance(torch.ones(4, dtype=torch.long), next_words.start, [4])
    ((_, found),) = next_words.log_probs(t, limit, torch.arange(4))
    others = [word for word in range(7) if word != EOS]
    assert (found[2, others] == -torch.inf).all()
    assert found[2, EOS] > -torch.inf
    assert (found[[0, 1, 3], :7] > -torch.inf).all()


def test_a_minimum_beyond_the_limit_moves_the_limit() -> None:
    next_words = NextWords(tiny_model(EVERY[0]), *make_source(SENTENCES), min_length=50)
    assert (next_words.limits == 51).all()


@settings(max_examples=100, deadline=None)
@given(data=st.data(), blocks=st.integers(1, 5), rows=st.integers(1, 4))
def test_the_top_words_are_the_top_words(data, blocks, rows) -> None:
    count = data.draw(st.integers(1, 40))
    generator = torch.Generator().manual_seed(data.draw(st.integers(0, 99)))
    # Few different values, so that ties are common.
    values = torch.randint(0, 30, (rows, blocks * BLOCK), generator=generator).double()
    values[torch.rand(values.shape, generator=generator) < 0.3] = -torch.inf
    found, places = top_words(values, count)
    assert torch.equal(found, values.topk(count, dim=1).values)
    assert torch.equal(values.gather(1, places), found)
    assert all(len(set(row)) == count for row in places.tolist())


@given(slots=st.lists(st.integers(1, 40), min_size=1, max_size=8))
@settings(max_examples=50, deadline=None)
def test_every_row_reads_its_own_sentence(slots) -> None:
    slots = sorted(slots, reverse=True)
    model = tiny_model(EVERY[0])
    memory = model.start(*make_source([[4]] * slots[0])).memory
    memory = memory._replace(values=torch.arange(slots[0])[:, None])
    rows = [(range(r.stop)[r], m.values[:, 0].tolist()) for r, m in shared(memory, slots)]
    read = [line for _, lines in rows for line in lines]
    assert [row for numbers, _ in rows for row in numbers] == list(range(sum(slots)))
    assert read == [line for n in slots for line in range(n)]
