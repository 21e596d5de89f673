"""What a training does not read of its text is said before it begins."""

from dataclasses import replace

from course_lib.corpora.corpus import Corpus, Split
from course_lib.corpora.vocabulary import Vocabulary
from course_lib.training import RunConfig
from course_lib.training.minibatches import left_out

CONFIG = RunConfig("rnnsearch", "copy", "tokens", "smoke", changes={"max_length": 3})
KNOWN = Vocabulary.from_sentences([["a", "b"]], 1)


def split(*pairs: tuple[str, str]) -> Split:
    source, target = ([line.split() for line in side] for side in zip(*pairs, strict=True))
    return Split(source, target, None, [" ".join(line) for line in target])


def said(train: Split, val: Split, config: RunConfig = CONFIG) -> list[str]:
    corpus = Corpus("mine", "tokens", {"train": train, "val": val}, {}, False, " ".join)
    return left_out(config, corpus, (KNOWN, KNOWN))


def test_a_pair_is_left_out_for_its_longer_side() -> None:
    train = split(("a a a", "b b b"), ("a a a a", "b"), ("a", "b b b b"))
    assert said(train, split(("a", "b"))) == [
        "2 of 3 pairs have over 3 words on a side and are left out (max_length)"
    ]
    assert said(split(("a a a", "b b b")), split(("a", "b"))) == []


def test_from_a_tenth_on_unknown_words_are_said_with_their_side() -> None:
    train, few, tenth = split(("a", "b")), "a b a b a b a b a c a", "a b a b a b a b a c"
    assert said(train, split((few, few), ("a", "b"))) == []
    assert said(train, split((few, tenth))) == [
        "10% of the target words of val are unknown (min_frequency, max_words)"
    ]
    begun = replace(CONFIG, init_from={"run": "another"})
    assert said(train, split((few, tenth)), begun) == [
        "10% of the target words of val are unknown (they are not among those of the run it starts "
        "from)"
    ]
