"""Minibatches from disk: every pair once, the same again, from any of them on, of their size."""

from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from course_lib.corpora import streaming, token_files
from course_lib.corpora.batches import EncodedPair
from course_lib.corpora.streaming import StreamedBatches, stream_vocabulary
from course_lib.corpora.token_files import TokenFiles, write_token_files
from course_lib.corpora.vocabulary import UNK, Vocabulary
from course_lib.corpora.wmt14 import SPLITTING

LANGUAGES = ("en", "fr")
LONGEST = 9


@pytest.fixture(scope="module")
def rows() -> list[dict[str, str]]:
    """400 pairs of 1 to 12 words."""
    return [
        {
            "en": " ".join(f"w{i * k % 37}" for k in range(1, i % 12 + 2)),
            "fr": " ".join(f"m{i * k % 41}" for k in range(1, i * 7 % 11 + 2)),
        }
        for i in range(400)
    ]


@pytest.fixture(scope="module")
def files(rows: list[dict[str, str]], tmp_path_factory: pytest.TempPathFactory) -> TokenFiles:
    folder = tmp_path_factory.mktemp("tokens")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(token_files, "FILE_ROWS", 90)
        return write_token_files(
            lambda start: rows[start:], folder, LANGUAGES, 1000, SPLITTING.lines, workers=1
        )


@pytest.fixture(scope="module")
def words(files: TokenFiles) -> tuple[Vocabulary, Vocabulary]:
    return stream_vocabulary(files, "en"), stream_vocabulary(files, "fr", max_words=20)


@pytest.fixture
def batches(
    files: TokenFiles,
    words: tuple[Vocabulary, Vocabulary],
    monkeypatch: pytest.MonkeyPatch,
) -> StreamedBatches:
    """Minibatches of seven pairs; several buffers to an epoch."""
    monkeypatch.setattr(streaming, "BUFFER_POOLS", 1)
    return StreamedBatches(files, ("en", "fr"), words, 0, LONGEST, 7)


def frozen(batch: list[EncodedPair]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    return [(tuple(source), tuple(target)) for source, target in batch]


def test_an_epoch_has_every_short_pair_once(
    batches: StreamedBatches, rows: list[dict[str, str]], words: tuple[Vocabulary, Vocabulary]
) -> None:
    texts = [(row["en"].split(), row["fr"].split()) for row in rows]
    expected = sorted(
        (tuple(words[0].encode(x)), tuple(words[1].encode(y)))
        for x, y in texts
        if max(len(x), len(y)) <= LONGEST
    )
    epoch = list(batches.epoch(0))
    assert len(epoch) == batches.per_epoch
    assert all(len(batch) <= 7 for batch in epoch)
    found = [pair for batch in epoch for pair in frozen(batch)]
    assert sorted(found) == expected
    assert any(UNK in target for _, target in found)


@pytest.mark.parametrize(
    ("max_length", "expected"), [(100, 10), (254, 10), (255, 10), (299, 10), (300, 16), (2000, 20)]
)
def test_an_epoch_is_as_long_as_it_is_said_to_be(
    max_length: int, expected: int, tmp_path: Path
) -> None:
    """100 pairs of 5 words, 60 of 300, 40 of 1,000, in minibatches of ten."""
    lengths = [5] * 100 + [300] * 60 + [1000] * 40
    rows = [{"en": "a", "fr": " ".join(["b"] * length)} for length in lengths]
    files = write_token_files(
        lambda start: rows[start:], tmp_path, ("en", "fr"), len(rows), as_they_are
    )
    words = stream_vocabulary(files, "en"), stream_vocabulary(files, "fr")
    batches = StreamedBatches(files, ("en", "fr"), words, 0, max_length, 10)
    assert batches.per_epoch == expected == sum(1 for _ in batches.epoch(0))


def as_they_are(texts: list[str], language: str) -> list[str]:
    return texts


def test_an_epoch_goes_on_from_any_minibatch(batches: StreamedBatches) -> None:
    whole = list(batches.epoch(3))
    for start in (0, 1, 17, len(whole) - 1, len(whole)):
        assert list(batches.epoch(3, start)) == whole[start:]


def test_the_order_depends_on_seed_and_epoch_alone(batches: StreamedBatches) -> None:
    assert list(batches.epoch(0)) == list(batches.epoch(0))
    assert list(batches.epoch(0)) != list(batches.epoch(1))
    other = replace(batches, seed=1)
    assert list(batches.epoch(0)) != list(other.epoch(0))


def test_pairs_of_a_minibatch_are_of_similar_length(batches: StreamedBatches) -> None:
    real = padded = 0
    for batch in batches.epoch(0):
        real += sum(len(target) for _, target in batch)
        padded += len(batch) * max(len(target) for _, target in batch)
    assert real / padded > 0.85  # batches drawn at random have 0.6


def test_the_vocabulary_is_the_one_that_is_counted_in_memory(
    files: TokenFiles, rows: list[dict[str, str]]
) -> None:
    for limits in ((1, None), (5, 12)):
        expected = Vocabulary.from_sentences([row["en"].split() for row in rows], *limits)
        for _ in range(2):  # the second time from its file
            assert stream_vocabulary(files, "en", *limits) == expected


def test_ties_and_marks_are_ordered_as_in_memory() -> None:
    counts = {"b": 2, "a": 2, "<s>": 9, "c": 3}
    assert Vocabulary.from_counts(counts).tokens[4:] == ("c", "a", "b")


def test_an_epoch_is_not_read_before_it_is_asked_for(
    batches: StreamedBatches, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = []
    cut = StreamedBatches._cut
    monkeypatch.setattr(
        StreamedBatches, "_cut", lambda self, *rest: read.append(1) or cut(self, *rest)
    )
    list(islice(batches.epoch(0), 2))
    assert len(read) == 1
    assert sum(1 for _ in batches.epoch(0)) > 20
    assert len(read) > 2
