"""The record of a search: complete, consistent, and of the search that really runs."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.corpora.batches import make_batch
from course_lib.corpora.vocabulary import EOS
from course_lib.evaluation.forced import sentence_log_probs
from course_lib.search import n_best, record_beam_search, translate
from course_lib.search.search_tree import FINISHED, KEPT, PRUNED
from tests.search.kinds import NAMES, model_of

SENTENCE = st.lists(st.integers(3, 8), max_size=5)


@pytest.mark.parametrize("kind", NAMES)
@settings(max_examples=10, deadline=None)
@given(
    sentence=SENTENCE,
    k=st.integers(1, 6),
    penalty=st.sampled_from([0.0, 1.0]),
)
def test_the_record_is_of_the_search_that_runs(kind, sentence, k, penalty) -> None:
    model = model_of(kind, seed=2)
    found, tree = record_beam_search(model, sentence, k, penalty)
    (expected,) = translate(model, [sentence], k, penalty)
    assert found.tokens == expected.tokens
    assert found.log_prob == pytest.approx(expected.log_prob, abs=1e-12)
    best = tree.nodes[tree.best]
    assert [node.word for node in tree.path(tree.best)] == [*found.tokens, EOS]
    assert best.log_prob == pytest.approx(found.log_prob, abs=1e-12)
    if k > 1:
        assert best.score == pytest.approx(found.score, abs=1e-12)

    assert [node.number for node in tree.nodes] == list(range(len(tree.nodes)))
    children: dict[int, list[int]] = {}
    for node in tree.nodes[1:]:
        parent = tree.nodes[node.parent]
        children.setdefault(parent.number, []).append(node.number)
        assert parent.number < node.number
        assert parent.fate == KEPT
        assert parent.step == node.step - 1
        assert node.log_prob <= parent.log_prob
        assert node.score == pytest.approx(node.log_prob / node.step**penalty)
        assert node.fate in (KEPT, FINISHED, PRUNED)
        assert node.fate != FINISHED or node.word == EOS
        assert node.fate != KEPT or node.word != EOS
    finished = [node for node in tree.nodes if node.fate == FINISHED]
    assert best.score == max(node.score for node in finished)

    # Step by step: the beam's places go to the best, and each one finished gives up its own.
    places = k
    for step in range(1, tree.nodes[-1].step + 1):
        level = [node for node in tree.nodes if node.step == step]
        stay = [node for node in level if node.fate != PRUNED]
        assert len(stay) == min(places, len(level))
        worst = min(node.log_prob for node in stay)
        assert all(node.log_prob <= worst for node in level if node.fate == PRUNED)
        places -= sum(node.fate == FINISHED for node in level)
    # Whatever was kept was extended.
    assert all(node.number in children for node in tree.nodes if node.fate == KEPT)
    assert all(len(numbers) <= k for numbers in children.values())


@pytest.mark.parametrize("kind", NAMES)
def test_a_nodes_probability_is_the_models(kind) -> None:
    model, sentence = model_of(kind, seed=1), [4, 5, 6]
    _, tree = record_beam_search(model, sentence, k=4)
    for node in [node for node in tree.nodes if node.word == EOS][:10]:
        words = [step.word for step in tree.path(node.number)][:-1]
        batch = make_batch([(sentence, words)], [0])
        assert node.log_prob == pytest.approx(sentence_log_probs(model, batch).item(), abs=1e-9)


@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_the_best_translations_come_best_first_with_the_models_scores(penalty: float) -> None:
    model, sentence = model_of("rnnsearch", seed=1), [4, 5, 6]
    found = n_best(model, sentence, 100, k=5, length_penalty=penalty)
    assert 1 < len(found) <= 5
    (best,) = translate(model, [sentence], 5, penalty)
    assert found[0] == (best.tokens, pytest.approx(best.score, abs=1e-12))
    scores = [score for _, score in found]
    assert scores == sorted(scores, reverse=True)
    for words, score in found:
        log_prob = sentence_log_probs(model, make_batch([(sentence, words)], [0])).item()
        assert score == pytest.approx(log_prob / (len(words) + 1) ** penalty, abs=1e-9)
    assert n_best(model, sentence, 2, k=5, length_penalty=penalty) == found[:2]


def test_a_model_in_training_is_handed_back_so() -> None:
    model = model_of("rnnsearch").train()
    record_beam_search(model, [4], k=2)
    assert model.training
    assert torch.is_grad_enabled()
