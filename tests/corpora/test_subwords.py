"""Joint byte-pair encoding: against the algorithm by hand, and what comes back of a text."""

import random
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.corpora.languages import unspaced
from course_lib.corpora.subwords import WORD_START, Pieces
from course_lib.corpora.tokenization import PLAIN, detokenize, tokenize
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
    words = {word: [WORD_START, *word] for word in counts}
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
        texts[word] += learned.tokens[number].removeprefix(WORD_START)
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
    rest = next(i for i, t in enumerate(learned.tokens) if i >= 4 and not t.startswith(WORD_START))
    assert learned.decode([rest]) == [learned.tokens[rest]]
    assert learned.words_of([rest]) == [0]
    # Or begin a word and leave it at that.
    begin = learned.tokens.index(WORD_START)
    assert learned.decode([begin, begin, *learned.encode(["low"]), begin]) == ["low"]
    assert learned.decode([]) == learned.encode([]) == []


def test_characters_need_room() -> None:
    with pytest.raises(CourseError, match="--set subwords"):
        Pieces.learn(SENTENCES, 10)


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
    sentences = [tokenize(line, PLAIN) for line in RAW[language]]
    learned = Pieces.learn(sentences, size, unspaced(language))
    assert Pieces.from_json(learned.tokenizer) == learned
    for text, words in zip(RAW[language], sentences, strict=True):
        numbers = learned.encode(words)
        assert UNK not in numbers
        assert learned.decode(numbers) == words
        assert detokenize(learned.decode(numbers), PLAIN) == text


def test_without_spaces_pieces_are_learned_from_the_raw_text() -> None:
    sentences = [tokenize(line, PLAIN) for line in RAW["zh"]]
    raw, split = Pieces.learn(sentences, 60, unspaced=True), Pieces.learn(sentences, 60)
    assert "学生" in {token.removeprefix(WORD_START) for token in raw.tokens}
    assert max(len(token.removeprefix(WORD_START)) for token in split.tokens[len(MARKS) :]) == 1
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
