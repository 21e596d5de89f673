"""The benchmark of searches: one translation whichever way, and operations as torch counts them."""

import pytest
from torch.utils.flop_counter import FlopCounterMode

from benchmarks import searches
from course_lib.search import beam_search
from tests.benchmarks.conftest import Given
from tests.search.kinds import NAMES, model_of

SENTENCES = [[4, 5, 6], [7], [8, 8, 3, 4, 5], [3]]
SMOKE = {"embedding": 16, "hidden": 16, "alignment": 16, "readout": 16}


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("k", [1, 3, 6])
def test_all_searches_find_the_same(kind, k) -> None:
    model = model_of(kind, seed=1)
    expected = searches.library_search(model, SENTENCES, k)
    assert searches.loop_over_hypotheses(model, SENTENCES, k) == expected
    assert searches.search_per_sentence(model, SENTENCES, k) == expected


def test_another_translation_is_counted() -> None:
    work = searches.briefly_trained("toy", batch=8, batches=1, updates=2, **SMOKE)
    model = work.model()

    def off_by_one(model, sentences, k):
        first, *rest = searches.library_search(model, sentences, k)
        return [[*first, 5], *rest]

    assert searches.differences(model, work, searches.search_per_sentence, 2) == 0
    assert searches.differences(model, work, off_by_one, 2) == 1


@pytest.mark.slow
def test_everything_is_measured_on_a_small_model(given: Given, small_products: None) -> None:
    widths = searches.WIDTHS
    ours, alone = (
        {f"{who}, k = {k}": k * s for k in widths}
        for who, s in (("ours", 1.0), ("per sentence", 3.0))
    )
    given(searches, {**ours, **alone, f"loop, k = {widths[-1]}": 120.0, "products": 1e9})
    result = searches.measure_decode("toy", batch=4, rounds=1, batches=2, updates=3, **SMOKE)
    assert not any(result["different"].values())
    assert result["sentences"] == 8
    assert result["ours"] == 8 / (2 * widths[-1])  # two batches
    assert result["ratio"] == pytest.approx(120 / widths[-1])
    assert result["ratio_per_sentence"] == dict.fromkeys(widths, pytest.approx(3))
    limit = 1e9 / (result["mflop_a_sentence"] * 1e6)
    assert result["fraction_of_limit"] == pytest.approx(result["ours"] / limit)
    assert set(result["peak_mib"].values()) == {2048}


def test_no_search_does_with_fewer_operations_than_are_called_necessary() -> None:
    """At width one, where no row is left out, torch counts at least as many, and few more."""
    work = searches.briefly_trained("toy", batch=16, batches=1, updates=0, **SMOKE)
    model = work.model()
    (sentences,) = work.batches
    with FlopCounterMode(display=False) as counter:
        beam_search(model, *searches.make_source(sentences), k=1)
    words = sum(len(sentence) + 1 for sentence in sentences)
    encoder = 2 * words * 2 * (16 + 16) * 3 * 16  # a fused unit, which torch does not count
    counted = counter.get_total_flops()
    necessary = searches.necessary_flops(model, work, k=1)
    # Ours has padded words and makes each target word's products.
    assert necessary - encoder < counted < 1.5 * necessary
