"""The toy corpus as a stream: seeded, disjoint, linked, any length, one translation only."""

from itertools import chain, islice, pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.corpora import load_corpus
from course_lib.corpora.generated import SentencePair, split_of
from course_lib.corpora.toy import detokenize, lexicon, sentence_pairs, toy_corpus
from course_lib.errors import CourseError

FINITE = {
    *(verb.german_prefix + form for verb in lexicon.VERBS for form in verb.german_present),
    *(
        form
        for verb in (lexicon.BE, lexicon.HAVE, *lexicon.VERBS)
        for form in verb.german_past or ()
    ),
    *(form for forms in lexicon.AUXILIARIES.values() for form in forms),
    *(form for modal in chain([lexicon.FUTURE], *lexicon.MODALS.values()) for form in modal.german),
}


def some(stream_seed: int, count: int, clauses: tuple[int, int]) -> list[SentencePair]:
    return list(islice(sentence_pairs(stream_seed, clauses=clauses), count))


@given(seed=st.integers(), clauses=st.integers(1, 8))
@settings(max_examples=30, deadline=None)
def test_links_are_inside_and_leave_out_nothing_but_commas(seed: int, clauses: int) -> None:
    for source, target, links in some(seed, 4, (clauses, clauses)):
        assert all(0 <= i < len(source) and 0 <= j < len(target) for i, j in links)
        linked_source, linked_target = {i for i, _ in links}, {j for _, j in links}
        assert {source[i] for i in set(range(len(source))) - linked_source} <= {","}
        assert {target[j] for j in set(range(len(target))) - linked_target} <= {","}


@given(seed=st.integers(), clauses=st.integers(1, 8))
@settings(max_examples=30, deadline=None)
def test_punctuation_stands_where_it_may(seed: int, clauses: int) -> None:
    for source, target, links in some(seed, 4, (clauses, clauses)):
        for side in (source, target):
            assert side.count(".") == 1
            assert side[-1] == "."
            assert not {(",", ","), (",", ".")} & set(pairwise(side))
            assert side[0] != ","
            assert side == [token.lower() for token in side]
        assert (len(source) - 1, len(target) - 1) in links


def test_translation_is_a_function_in_both_directions() -> None:
    german: dict[str, str] = {}
    english: dict[str, str] = {}
    repeated = 0
    short = sentence_pairs(7, clauses=(1, 1), max_words=6)
    joined = sentence_pairs(7, clauses=(2, 2), max_words=9)
    for source, target, _ in chain(islice(short, 10_000), islice(joined, 2_000)):
        one, other = " ".join(source), " ".join(target)
        repeated += one in german
        assert german.setdefault(one, other) == other
        assert english.setdefault(other, one) == one
    assert repeated > 400


@pytest.mark.parametrize("words", [(4, 4), (5, 12), (30, 34), (76, 80)])
def test_lengths_stay_in_the_range_asked_for(words: tuple[int, int]) -> None:
    fewest, most = words
    stream = sentence_pairs(2, clauses=None, min_words=fewest, max_words=most)
    assert all(fewest <= len(pair.source) <= most for pair in islice(stream, 20))


def test_german_english_is_english_german_swapped() -> None:
    sizes = {"train": 60, "val": 8, "test": 8}
    there, back = toy_corpus("en-de", **sizes), toy_corpus("de-en", **sizes)
    for name in sizes:
        assert there.splits[name].source == back.splits[name].target
        assert there.splits[name].target == back.splits[name].source
        there_links, back_links = there.splits[name].links, back.splits[name].links
        assert there_links is not None
        assert back_links == [frozenset((j, i) for i, j in links) for links in there_links]
    assert there.sha256 != back.sha256


def test_splits_share_no_source_whatever_the_seeds() -> None:
    corpora = [toy_corpus(seed=seed, train=600, val=60, test=60) for seed in (0, 1)]
    for pair_of in ("source", "target"):
        by_split: dict[str, set[str]] = {"train": set(), "val": set(), "test": set()}
        for corpus in corpora:
            for name, split in corpus.splits.items():
                by_split[name] |= {" ".join(tokens) for tokens in getattr(split, pair_of)}
        assert not by_split["train"] & by_split["val"]
        assert not by_split["train"] & by_split["test"]
        assert not by_split["val"] & by_split["test"]
    split = corpora[0].splits["test"]
    assert {split_of(" ".join(tokens)) for tokens in split.source} == {"test"}
    assert len({" ".join(tokens) for tokens in split.source}) == len(split)


def test_asking_for_more_keeps_the_first_ones() -> None:
    small = toy_corpus(train=50, val=5, test=5)
    large = toy_corpus(train=90, val=5, test=9)
    assert large.splits["train"].source[:50] == small.splits["train"].source
    assert large.splits["val"].source == small.splits["val"].source
    assert large.splits["test"].source[:5] == small.splits["test"].source


def test_text_for_people_has_capitals_and_no_space_before_punctuation() -> None:
    german = "gestern , am montag , hat annas onkel das buch gelesen ."
    english = "on monday i met anna 's uncle ."
    assert detokenize(german.split(" ")) == "Gestern, am Montag, hat Annas Onkel das Buch gelesen."
    assert detokenize(english.split(" "), "en") == "On Monday I met Anna's uncle."
    split = toy_corpus(train=5, val=1, test=1).splits["train"]
    assert split.reference == [detokenize(tokens) for tokens in split.target]


def test_no_german_word_is_a_noun_in_one_place_and_something_else_in_another() -> None:
    # Otherwise the text for people would capitalise it in both.
    others = {
        *FINITE,
        *(verb.german_prefix + verb.german for verb in lexicon.VERBS),
        *(verb.german_participle for verb in lexicon.VERBS),
    }
    assert not set(lexicon.CASED["de"]) & others


@pytest.mark.parametrize(
    "options",
    [
        {"pair": "en-fr"},
        {"clauses": (0, 2)},
        {"clauses": (3, 2)},
        {"clauses": (1, 9)},
        {"min_words": 3},
        {"max_words": 81},
        {"min_words": 20, "max_words": 10},
        {"train": -1},
        {"clauses": (1, 1), "min_words": 70},
    ],
)
def test_mistakes_are_one_line_with_a_remedy(options: dict[str, Any]) -> None:
    arguments: dict[str, Any] = {"train": 1, "val": 1, "test": 1, **options}
    with pytest.raises(CourseError) as error:
        load_corpus("toy", **arguments)
    assert "\n" not in str(error.value)
