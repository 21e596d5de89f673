"""Sampling: the distribution that was asked for, exactly, and for each sentence its own."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from course_lib.corpora.batches import make_batch, make_source
from course_lib.corpora.vocabulary import BOS, EOS, PAD
from course_lib.errors import CourseError
from course_lib.evaluation.forced import sentence_log_probs
from course_lib.search import generators, greedy_search, narrowed, sample, sample_search
from course_lib.search.sampling import draw_words
from tests.search.kinds import NAMES, model_of
from tests.search.test_search import SENTENCES, WORDS, limit_length, step_log_probs

LIMIT = 3
SAMPLES = 5_000


def by_hand(log_probs, temperature=1.0, top_k=None, top_p=None) -> np.ndarray:
    """The narrowed distribution of one row, a word at a time."""
    weights = [math.exp(value / temperature) if value > -math.inf else 0.0 for value in log_probs]
    p = [weight / sum(weights) for weight in weights]
    ranked = sorted(range(len(p)), key=lambda word: -p[word])
    kept = ranked[: len(p) if top_k is None else top_k]
    if top_p is not None:
        inside = sum(p[word] for word in kept)
        nucleus, so_far = [], 0.0
        for word in kept:
            if so_far >= top_p:
                break
            nucleus.append(word)
            so_far += p[word] / inside
        kept = nucleus
    total = sum(p[word] for word in kept)
    return np.array([p[word] / total if word in kept else 0.0 for word in range(len(p))])


NARROWINGS = [
    {},
    {"temperature": 0.5},
    {"temperature": 2.0},
    {"top_k": 1},
    {"top_k": 3},
    {"top_p": 0.7},
    {"temperature": 1.5, "top_k": 4, "top_p": 0.8},
]


def exact(seed: int, sentence: tuple[int, ...], rules: dict) -> dict[tuple[int, ...], float]:
    """The probability of every translation of at most LIMIT words, by the equations."""
    found: dict[tuple[int, ...], float] = {}

    def extend(prefix: tuple[int, ...], p: float) -> None:
        if len(prefix) == LIMIT - 1:  # the end mark is all that is left
            found[prefix] = p
            return
        log_probs = step_log_probs("rnnsearch", seed, sentence, prefix).copy()
        log_probs[[PAD, BOS]] = -np.inf  # which nobody would see
        next_p = by_hand(log_probs, **rules)
        for word in WORDS:
            if word == EOS:
                found[prefix] = p * next_p[word]
            elif next_p[word]:
                extend((*prefix, word), p * next_p[word])

    extend((), 1.0)
    return {tokens: p for tokens, p in found.items() if p > 0}


@pytest.mark.parametrize("rules", NARROWINGS, ids=str)
def test_samples_have_the_exact_distribution(monkeypatch, rules) -> None:
    limit_length(monkeypatch, LIMIT)
    sentence, seed = (4, 5, 6), 0
    expected = exact(seed, sentence, rules)
    assert sum(expected.values()) == pytest.approx(1)
    found = sample(model_of("rnnsearch", seed), [sentence] * SAMPLES, 1, 5000, **rules)
    counts = dict.fromkeys(expected, 0)
    for one in found:
        counts[tuple(one.tokens)] += 1  # nothing else is ever drawn
    # Pearson's chi-square over the translations expected five times or more, the rest together.
    cells = [(SAMPLES * p, counts[tokens]) for tokens, p in expected.items()]
    often = [cell for cell in cells if cell[0] >= 5]
    rare = [cell for cell in cells if cell[0] < 5]
    if rare:
        often.append((sum(e for e, _ in rare), sum(n for _, n in rare)))
    chi_square = sum((n - e) ** 2 / e for e, n in often)
    freedom = len(often) - 1
    # Its mean is `freedom` and its variance twice that; five deviations are never chance.
    assert chi_square <= freedom + 5 * math.sqrt(2 * freedom) + 1e-9


@settings(max_examples=100, deadline=None)
@given(
    log_probs=st.lists(st.floats(-8, 0), min_size=1, max_size=9),
    temperature=st.floats(0.2, 5),
    top_k=st.none() | st.integers(1, 12),
    top_p=st.none() | st.floats(0.01, 1),
)
def test_what_is_kept_is_what_the_definitions_say(log_probs, temperature, top_k, top_p) -> None:
    settings_ = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
    if top_p is not None:
        # A sum that equals top_p but for rounding may be taken for less or for enough.
        ranked = np.sort(by_hand(log_probs, temperature, top_k))[::-1]
        assume((abs(ranked.cumsum() - top_p) > 1e-9).all() or top_p == 1)
    found = narrowed(torch.tensor([log_probs], dtype=torch.float64), **settings_)[0].numpy()
    expected = by_hand(log_probs, **settings_)
    # Equally probable words may change places, so compare what was kept by its probabilities.
    np.testing.assert_allclose(np.sort(found), np.sort(expected), atol=1e-9)
    if len({round(value, 6) for value in log_probs}) == len(log_probs):
        np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize(("top_p", "words"), [(0.25, 1), (0.5, 2), (0.75, 3), (1.0, 4)])
def test_a_nucleus_that_has_exactly_enough_is_complete(top_p: float, words: int) -> None:
    p = narrowed(torch.zeros(4), top_p=top_p)  # four words of exactly a quarter
    assert int((p > 0).sum()) == words


@settings(max_examples=100, deadline=None)
@given(
    weights=st.lists(st.integers(0, 5), min_size=1, max_size=8).filter(any),
    uniform=st.floats(0, 1, exclude_max=True),
)
def test_a_number_falls_into_the_piece_of_its_word(weights, uniform) -> None:
    p = torch.tensor([weights]).double()
    word = int(draw_words(p / p.sum(), torch.tensor([uniform], dtype=torch.float64)))
    assert weights[word] > 0
    ends = list(itertools.accumulate(weights))
    at = uniform * ends[-1]
    assert ends[word] - weights[word] <= at + 1e-9
    assert at <= ends[word] + 1e-9


@pytest.mark.parametrize("kind", NAMES)
@settings(max_examples=10, deadline=None)
@given(sentences=SENTENCES, seed=st.integers(0, 9), data=st.data())
def test_a_sample_depends_on_seed_and_position_alone(kind, sentences, seed, data) -> None:
    model = model_of(kind, seed=3)
    rules = data.draw(st.sampled_from(NARROWINGS))
    expected = sample(model, sentences, seed, len(sentences), **rules)
    size = data.draw(st.integers(1, len(sentences)))
    assert tokens(sample(model, sentences, seed, size, **rules)) == tokens(expected)
    order = data.draw(st.permutations(range(len(sentences))))
    source = make_source([sentences[i] for i in order])
    found = sample_search(model, *source, generators(seed, order), **rules)
    assert tokens(found) == [expected[i].tokens for i in order]
    for i, one in zip(order, found, strict=True):
        batch = make_batch([(sentences[i], one.tokens)], [0])
        assert one.log_prob == pytest.approx(sentence_log_probs(model, batch).item(), abs=1e-9)


def tokens(found) -> list[list[int]]:
    return [one.tokens for one in found]


def test_seeds_and_positions_make_different_samples() -> None:
    model = model_of("rnnsearch")
    first, other = (tokens(sample(model, [[4, 5, 6]] * 20, seed)) for seed in (0, 1))
    assert len({tuple(one) for one in first}) > 5
    assert first != other


def test_global_randomness_is_neither_used_nor_moved() -> None:
    model = model_of("rnnsearch")
    torch.manual_seed(0)
    before = torch.get_rng_state()
    first = tokens(sample(model, [[4, 5]] * 5, 0))
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(1)
    assert tokens(sample(model, [[4, 5]] * 5, 0)) == first


def test_the_one_most_probable_word_is_greedy_search() -> None:
    model, sentences = model_of("rnnsearch", 1), [[4, 5, 6], [7], [8, 8]]
    greedy = greedy_search(model, *make_source(sentences))
    assert tokens(sample(model, sentences, 0, top_k=1)) == tokens(greedy)
    assert tokens(sample(model, sentences, 0, temperature=1e-4)) == tokens(greedy)


@pytest.mark.parametrize(
    ("wrong", "remedy"),
    [
        ({"temperature": 0.0}, "greedy"),
        ({"temperature": math.inf}, "greedy"),
        ({"temperature": math.nan}, "greedy"),
        ({"top_k": 0}, "top_k=1"),
        ({"top_p": 0.0}, "top_p"),
        ({"top_p": 1.5}, "top_p"),
    ],
)
def test_settings_that_say_nothing_are_refused(wrong, remedy) -> None:
    with pytest.raises(CourseError, match=remedy):
        sample(model_of("rnnsearch"), [[4]], 0, **wrong)
