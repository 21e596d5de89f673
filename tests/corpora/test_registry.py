"""One table of corpora: every name loads, every mistake is answered with the choices."""

from inspect import signature

import pytest

from course_lib.corpora.registry import CORPORA, load_corpus
from course_lib.errors import CourseError
from tests.corpora.together import assert_fits_together

SMALL = {"train": 30, "val": 5, "test": 5}
GENERATED = [name for name, description in CORPORA.items() if description.generated]
CASES = [(name, pair) for name in GENERATED for pair in CORPORA[name].pairs]


@pytest.mark.parametrize(("name", "pair"), CASES)
def test_generated_corpora_load_by_name_and_fit_together(name: str, pair: str) -> None:
    corpus = load_corpus(name, pair, **SMALL)
    assert (corpus.name, corpus.pair) == (name, pair)
    assert {part: len(split) for part, split in corpus.splits.items()} == SMALL
    assert_fits_together(corpus)
    assert all(
        corpus.detokenize(target) for split in corpus.splits.values() for target in split.target
    )


@pytest.mark.parametrize("name", GENERATED)
def test_options_reach_the_generator_and_decide_the_checksum(name: str) -> None:
    first, again = (load_corpus(name, seed=3, **SMALL) for _ in range(2))
    other = load_corpus(name, seed=4, **SMALL)
    assert first.splits == again.splits
    assert first.sha256 == again.sha256 != other.sha256
    assert first.splits != other.splits


@pytest.mark.parametrize("mistake", ["no-such-corpus", "", "Toy"])
def test_unknown_name_is_answered_with_the_names(mistake: str) -> None:
    with pytest.raises(CourseError) as caught:
        load_corpus(mistake)
    assert all(name in str(caught.value) for name in CORPORA)


@pytest.mark.parametrize("name", CORPORA)
def test_unknown_pair_is_answered_with_the_pairs(name: str) -> None:
    with pytest.raises(CourseError) as caught:
        load_corpus(name, "de-xx")
    assert all(pair in str(caught.value) for pair in CORPORA[name].pairs)


@pytest.mark.parametrize("name", CORPORA)
def test_unknown_option_is_answered_with_the_options(name: str) -> None:
    with pytest.raises(CourseError, match="'colour'") as caught:
        load_corpus(name, colour="blue")
    options = signature(CORPORA[name].load).parameters
    assert all(option in str(caught.value) for option in options if option != "pair")
