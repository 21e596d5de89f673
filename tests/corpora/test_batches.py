"""Batches: every pair once an epoch, alike in length, masked truthfully."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from course_lib.corpora.batches import (
    batches_in_order,
    bucketed_batches,
    make_batch,
)
from course_lib.corpora.vocabulary import BOS, EOS, MARKS, PAD, UNK, Vocabulary

pairs = st.lists(
    st.tuples(st.lists(st.integers(4, 9), max_size=30), st.lists(st.integers(4, 9), max_size=30)),
    min_size=1,
    max_size=60,
)


@given(pairs=pairs, size=st.integers(1, 8), seed=st.integers(0, 3), epoch=st.integers(0, 3))
def test_an_epoch_has_every_pair_exactly_once(pairs, size, seed, epoch) -> None:
    batches = bucketed_batches(pairs, size, seed, epoch)
    assert sorted(i for batch in batches for i in batch) == list(range(len(pairs)))
    assert all(1 <= len(batch) <= size for batch in batches)
    assert batches == bucketed_batches(pairs, size, seed, epoch)


def test_epochs_differ_and_buckets_waste_less_than_chance() -> None:
    pairs = [([4] * (i % 37), [4] * (i % 37)) for i in range(2000)]
    # No seed has another one's epoch: runs of three seeds would else share most of what they read.
    epochs = [bucketed_batches(pairs, 16, seed, epoch) for seed in range(3) for epoch in range(3)]
    assert not any(one == other for one, other in combinations(epochs, 2))

    def padding(batches: list[list[int]]) -> int:
        return sum(
            max(i % 37 for i in batch) * len(batch) - sum(i % 37 for i in batch)
            for batch in batches
        )

    in_order = [list(range(i, i + 16)) for i in range(0, 2000, 16)]
    assert padding(bucketed_batches(pairs, 16, 0, 0)) < 0.2 * padding(in_order)


@given(pairs=pairs)
def test_a_batch_holds_its_pairs_between_their_marks(pairs) -> None:
    batch = make_batch(pairs, range(len(pairs)))
    for row, (source, target) in enumerate(pairs):
        length = int(batch.source_lengths[row])
        assert batch.source[row][batch.source_mask[row]].tolist() == [*source, EOS]
        assert length == len(source) + 1 == int(batch.source_mask[row].sum())
        assert batch.target_in[row][batch.target_mask[row]].tolist() == [BOS, *target]
        assert batch.target_out[row][batch.target_mask[row]].tolist() == [*target, EOS]
        assert batch.source[row, length:].tolist() == [PAD] * (batch.source.shape[1] - length)


@given(lengths=st.lists(st.integers(0, 50), max_size=40), size=st.integers(1, 9))
def test_evaluation_batches_go_from_long_to_short(lengths, size) -> None:
    flat = [i for batch in batches_in_order(lengths, size) for i in batch]
    assert sorted(flat) == list(range(len(lengths)))
    assert [lengths[i] for i in flat] == sorted(lengths, reverse=True)


def test_a_vocabulary_counts_cuts_and_returns() -> None:
    sentences = [["b", "a", "a"], ["c", "b", "a"], ["<unk>"]]
    words = Vocabulary.from_sentences(sentences, min_frequency=2)
    assert words.tokens == (*MARKS, "a", "b")
    assert words == Vocabulary.from_sentences(sentences[::-1], min_frequency=2)
    assert words.encode(["a", "c", "b"]) == [4, UNK, 5]
    assert words.decode([BOS, 4, 5, PAD, EOS, 4]) == ["a", "b"]
    assert Vocabulary.from_sentences(sentences, max_words=1).tokens == (*MARKS, "a")
    assert len(words) == 6
