"""Joint byte-pair encoding: against the algorithm by hand, and what comes back of a text."""

import json
import random
from collections import Counter
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.corpora.subwords import START, BPEDropout, Pieces
from course_lib.corpora.tokenization import UNSPACED, detokenize, tokenize
from course_lib.corpora.vocabulary import BOS, EOS, MARKS, PAD, UNK
from course_lib.errors import CourseError

TEXT = [
    "low low low low low lower lower newest newest newest newest newest newest",
    "widest widest widest the slow tower and the new widow",
]
SENTENCES = [line.split() for line in TEXT]


def merged(symbols: list[str], pair: tuple[str, str]) -> list[str]:
    """A word after one merge, left to right."""
    out: list[str] = []
    for symbol in symbols:
        if out and (out[-1], symbol) == pair:
            out[-1] += symbol
        else:
            out.append(symbol)
    return out


def by_hand(sentences: list[list[str]], size: int) -> tuple[set[str], dict[str, list[str]]]:
    """Algorithm 1 of Sennrich et al. (2016): pieces, and each word in pieces."""
    counts = Counter(word for sentence in sentences for word in sentence)
    words = {word: [START, *word] for word in counts}
    pieces = {symbol for word in words.values() for symbol in word}
    while len(pieces) + len(MARKS) < size:
        pairs: Counter[tuple[str, str]] = Counter()
        for word, symbols in words.items():
            for pair in pairwise(symbols):
                pairs[pair] += counts[word]
        (best, most), *others = pairs.most_common()
        assert not others or others[0][1] < most, "a tie: any of the pairs may be merged"
        words = {word: merged(symbols, best) for word, symbols in words.items()}
        pieces.add("".join(best))
    return pieces, words


# Up to here every merge is decided by its count alone.
@pytest.mark.parametrize("size", [13, 14, 15, 16])
def test_it_merges_what_is_most_frequent(size: int) -> None:
    counts = {"xcd": 31, "ycd": 23, "acd": 19, "ax": 17, "ay": 10, "bay": 5, "xe": 4}
    sentences = [[word for word, count in counts.items() for _ in range(count)]]
    pieces, words = by_hand(sentences, size)
    learned = Pieces.learn(sentences, size)
    assert len(learned) == size
    assert set(learned.tokens[len(MARKS) :]) == pieces
    for word, symbols in words.items():
        assert [learned.tokens[n] for n in learned.encode([word])] == symbols


def test_the_order_of_the_sentences_does_not_matter() -> None:
    words = [word for sentence in SENTENCES for word in sentence]
    learned = Pieces.learn(SENTENCES, 40)
    for seed in range(5):
        random.Random(seed).shuffle(words)
        assert Pieces.learn([[word] for word in words], 40) == learned
    assert Pieces.from_json(learned.tokenizer) == learned
    assert learned.tokens[: len(MARKS)] == MARKS


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(alphabet="lowernstidh", min_size=1), max_size=8))
def test_words_come_back_whole(words: list[str]) -> None:
    learned = Pieces.learn(SENTENCES, 40)
    numbers = learned.encode(words)
    assert learned.decode([BOS, *numbers, EOS, PAD, 7]) == words
    # Each piece knows its word: the pieces of one put together are that word.
    assert [[number] for number in learned.words_of(numbers)] == list(
        map(list, learned.covered(words))
    )
    texts = [""] * len(words)
    for number, word in zip(numbers, learned.words_of(numbers), strict=True):
        texts[word] += learned.tokens[number].removeprefix(START)
    assert texts == words


def test_what_was_never_seen_is_the_unknown_word() -> None:
    learned = Pieces.learn(SENTENCES, 40)
    assert UNK in learned.encode(["l☃w"])
    assert learned.decode(learned.encode(["low", "l☃w", "☃☃", "new"])) == [
        *("low", "<unk>", "<unk>", "new")
    ]
    # A mark in a text is text, and ends nothing.
    marked = learned.encode(["low", "<unk>", "</s>", "low"])
    assert not {PAD, BOS, EOS} & set(marked)
    assert learned.decode(marked)[::3] == ["low", "low"]
    assert learned.decode(marked)[1] == "<unk>"
    # A model may begin with the rest of a word.
    rest = next(i for i, t in enumerate(learned.tokens) if i >= 4 and not t.startswith(START))
    assert learned.decode([rest]) == [learned.tokens[rest]]
    assert learned.words_of([rest]) == [0]
    # Or begin a word and leave it at that.
    begin = learned.tokens.index(START)
    assert learned.decode([begin, begin, *learned.encode(["low"]), begin]) == ["low"]
    assert learned.decode([]) == learned.encode([]) == []


def test_characters_need_room() -> None:
    with pytest.raises(CourseError, match="--set subwords"):
        Pieces.learn(SENTENCES, 10)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.text(alphabet="lowernstidh☃", min_size=1), max_size=8),
    st.floats(0, 0.99),
    st.integers(0, 99),
)
def test_without_dropout_it_is_the_library_s_and_with_it_the_words_stay(
    words: list[str], rate: float, seed: int
) -> None:
    learned = Pieces.learn(SENTENCES, 40)
    assert BPEDropout(learned, 0.0, random.Random(seed)).encode(words) == learned.encode(words)
    cut, again = (BPEDropout(learned, rate, random.Random(seed)).encode(words) for _ in range(2))
    assert cut == again
    assert learned.decode(cut) == learned.decode(learned.encode(words))
    assert len(cut) >= len(learned.encode(words))


def test_letters_without_spaces_are_cut_as_the_library_does_where_nothing_is_left_out() -> None:
    learned = Pieces.learn([list("两个人在街上走"), list("一个人在街上跑步")], 30, unspaced=True)
    for sentence in (list("两个人跑步"), list("街上走☃☃人"), []):
        cutter = BPEDropout(learned, 0.0, random.Random(0))
        assert cutter.encode(sentence) == learned.encode(sentence)


def probabilities(parts: tuple[str, ...], merges: list[list[str]], rate: float) -> Counter[str]:
    """How likely each way to cut a word is: Algorithm 1 of Provilkov et al. (2020), over all
    subsets of merges that may be passed over."""
    places = [i for i in range(len(parts) - 1) if list(parts[i : i + 2]) in merges]
    found: Counter[str] = Counter()
    for passed in product((False, True), repeat=len(places)):
        likely = rate ** sum(passed) * (1 - rate) ** (len(passed) - sum(passed))
        left = [i for i, out in zip(places, passed, strict=True) if not out]
        if not left:
            found[" ".join(parts)] += likely
            continue
        i = min(left, key=lambda i: merges.index(list(parts[i : i + 2])))
        after = (*parts[:i], parts[i] + parts[i + 1], *parts[i + 2 :])
        for cut, p in probabilities(after, merges, rate).items():
            found[cut] += likely * p
    return found


@pytest.mark.parametrize("word", ["low", "lower", "newest", "widow"])
@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_a_word_is_cut_as_often_in_each_way_as_it_should_be(word: str, rate: float) -> None:
    learned = Pieces.learn(SENTENCES, 40)
    expected = probabilities((START, *word), json.loads(learned.tokenizer)["model"]["merges"], rate)
    assert sum(expected.values()) == pytest.approx(1)
    assert len(expected) > 2
    draws = 5_000
    draw = random.Random(0)
    drawn = Counter(
        " ".join(learned.tokens[n] for n in BPEDropout(learned, rate, draw).encode([word]))
        for _ in range(draws)
    )
    assert drawn.keys() <= expected.keys()
    for cut, p in expected.items():
        assert abs(drawn[cut] - draws * p) < 4.5 * (draws * p * (1 - p)) ** 0.5 + 1, cut


def test_a_word_that_comes_often_is_cut_in_one_of_the_ways_it_was() -> None:
    cutter = BPEDropout(Pieces.learn(SENTENCES, 40), 0.5, random.Random(0))
    cuts = [tuple(cutter.encode(["newest"])) for _ in range(10 * cutter.CUTS)]
    assert set(cuts[cutter.CUTS :]) <= set(cuts[: cutter.CUTS])
    assert len(set(cuts[cutter.CUTS :])) > 2


@pytest.mark.parametrize("text", ["{", "{}", '{"model": {"vocab": {"a": 0}}}', "[]"])
def test_no_list_of_merges(text: str) -> None:
    with pytest.raises(ValueError, match=r"merges|numbered"):
        Pieces.from_json(text)


RAW = {
    "zh": ["我是学生。", "学生看书，学生写字。", "他是老师，不是学生！", "我看书。"],
    "ja": ["私は学生です。", "コーヒーを飲みます。", "学生は「はい」と言います。"],
    "th": ["ฉันเป็นนักเรียน", "นักเรียนอ่านหนังสือที่นี่", "ที่นี่มีหนังสือ"],
    "ar": ["هذا كتاب، أليس كذلك؟", "الطالب يقرأ الكتاب."],
    "hi": ["यह एक किताब है।", "छात्र किताब पढ़ता है।"],
}


@pytest.mark.parametrize("language", RAW)
@pytest.mark.parametrize("size", [90, 400])
def test_a_text_in_any_script_comes_back_from_its_pieces(language: str, size: int) -> None:
    sentences = [tokenize(line, language) for line in RAW[language]]
    learned = Pieces.learn(sentences, size, language in UNSPACED)
    assert Pieces.from_json(learned.tokenizer) == learned
    for text, words in zip(RAW[language], sentences, strict=True):
        numbers = learned.encode(words)
        assert UNK not in numbers
        assert learned.decode(numbers) == words
        assert detokenize(learned.decode(numbers), language) == text


def test_without_spaces_pieces_are_learned_from_the_raw_text() -> None:
    sentences = [tokenize(line, "zh") for line in RAW["zh"]]
    raw, split = Pieces.learn(sentences, 60, unspaced=True), Pieces.learn(sentences, 60)
    assert "学生" in {token.removeprefix(START) for token in raw.tokens}
    assert max(len(token.removeprefix(START)) for token in split.tokens[len(MARKS) :]) == 1
    assert len(raw.encode(sentences[1])) < len(sentences[1])
    # A piece of two words is told to be of both, unknown characters and other scripts stay words.
    words = [*"学生看猫狗", "bob", *"写字", "。"]
    covered = raw.covered(words)
    assert len(covered) == len(raw.encode(words))
    assert covered[0] == range(0, 2)
    assert {place for places in covered for place in places} == set(range(len(words)))
    assert raw.decode(raw.encode(words)) == [*"学生看", *["<unk>"] * 3, *"写字", "。"]


def test_words_of_somebodys_own_are_not_put_together() -> None:
    words = ["学生", "看", "书"]
    learned = Pieces.learn([words], 40)
    assert learned.decode(learned.encode(words)) == words
