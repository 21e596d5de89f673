"""Words cut into pieces that source and target share: joint byte-pair encoding."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from tokenizers import Encoding, Regex, Tokenizer
from tokenizers.models import BPE
from tokenizers.normalizers import Replace
from tokenizers.pre_tokenizers import Metaspace
from tokenizers.trainers import BpeTrainer

from course_lib.corpora.tokenization import characters_of
from course_lib.corpora.vocabulary import BOS, EOS, MARKS, PAD, UNK, Vocabulary
from course_lib.errors import CourseError

WORD_START = "▁"
"""Stands at the front of the piece that begins a word (U+2581, as in SentencePiece)."""

_LETTER = r"[\p{Han}\p{Hiragana}\p{Katakana}ー\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]"
_RAW = Replace(Regex(f"(?<={_LETTER}) (?={_LETTER})"), "")
"""Takes away the spaces between letters of scripts that are written without."""


@dataclass(frozen=True)
class Pieces(Vocabulary):
    """A vocabulary of pieces of words, to be used as one of words is.

    `encode` cuts whole words into the numbers of their pieces and `decode` puts whole words
    together again. Byte-pair encoding (Sennrich et al., 2016, Section 3.2): a word begins as its
    characters, and the merges that were most frequent in training are done one after another. Both
    sides share one list of merges ("joint", Section 3.2 there), so one object serves both.

    Scripts without spaces between words come split into characters, each a word; there pieces are
    learned from the raw text, in which the characters stand together, so a piece may be several.

    `tokenizer` is that list as the `tokenizers` library writes it, JSON. A word that itself holds
    U+2581 comes back as two.
    """

    tokenizer: str = ""

    @classmethod
    def learn(
        cls, sentences: Iterable[Sequence[str]], size: int, unspaced: bool = False
    ) -> "Pieces":
        """Learn at most `size` pieces, the four marks included, from the sentences of both sides.

        Fewer come out where nothing is left to merge. The order of the sentences does not matter.
        `unspaced` says that a side is in a script without spaces, split into its characters.

        Raises:
            CourseError: there are more different characters than pieces.
        """
        learner = Tokenizer(BPE(unk_token=MARKS[UNK], fuse_unk=not unspaced))
        if unspaced:
            learner.normalizer = _RAW
        learner.pre_tokenizer = Metaspace(
            replacement=WORD_START, prepend_scheme="always", split=True
        )
        trainer = BpeTrainer(vocab_size=size, special_tokens=list(MARKS), show_progress=False)
        learner.train_from_iterator((" ".join(words) for words in sentences), trainer)
        if learner.get_vocab_size() > size:
            raise CourseError(
                f"{size} pieces cannot hold the {learner.get_vocab_size() - len(MARKS)} characters "
                f"of the text and {len(MARKS)} marks. Ask for more with --set subwords=..."
            )
        return cls.from_json(learner.to_str())

    @classmethod
    def from_json(cls, text: str) -> "Pieces":
        """What `tokenizer` of another object held.

        Raises:
            ValueError: the text is no such list of merges.
        """
        try:
            parsed = json.loads(text)
            numbers = parsed["model"]["vocab"]
            Tokenizer.from_str(text)
        except Exception as error:  # the library raises nothing more precise
            raise ValueError("no list of merges of byte-pair encoding") from error
        tokens = tuple(sorted(numbers, key=numbers.__getitem__))
        if tokens[: len(MARKS)] != MARKS or [numbers[t] for t in tokens] != list(
            range(len(tokens))
        ):
            raise ValueError("the pieces are not numbered as they should be")
        return cls(tokens, json.dumps(parsed, sort_keys=True, ensure_ascii=False))

    @cached_property
    def _cutter(self) -> Tokenizer:
        cutter = Tokenizer.from_str(self.tokenizer)
        cutter.encode_special_tokens = True  # a mark in a text is text
        return cutter

    def _cut(self, tokens: Iterable[str]) -> Encoding:
        if self._cutter.normalizer is None:
            return self._cutter.encode(list(tokens), is_pretokenized=True)
        return self._cutter.encode(" ".join(tokens))

    def encode(self, tokens: Iterable[str]) -> list[int]:
        """Numbers of the words' pieces; characters never seen in training are UNK."""
        numbers: list[int] = self._cut(tokens).ids
        return numbers

    def covered(self, tokens: Sequence[str]) -> list[range]:
        """For each piece of `encode(tokens)` the places of the words that it is of."""
        cut = self._cut(tokens)
        if self._cutter.normalizer is None:
            return [range(word, word + 1) for word in cut.word_ids if word is not None]
        # The space before a word is of its first piece.
        place = [place for place, token in enumerate(tokens) for _ in f" {token}"][1:]
        return [range(place[start], place[end - 1] + 1) for start, end in cut.offsets]

    def decode(self, numbers: Iterable[int]) -> list[str]:
        """Whole words up to the end mark; a word with an unknown piece is the unknown word."""
        pieces: list[int] = []
        for number in numbers:
            if number == EOS:
                break
            if number not in (PAD, BOS):
                pieces.append(number)
        words: list[str] = []
        for number, word in zip(pieces, self.words_of(pieces), strict=True):
            if word == len(words):
                words.append("")
            words[word] += self.tokens[number].removeprefix(WORD_START)
        if self._cutter.normalizer is not None:
            words = [part for word in words for part in characters_of(word, MARKS[UNK])]
        # A model may begin a word and leave it at that.
        return [MARKS[UNK] if MARKS[UNK] in word else word for word in words if word]

    def words_of(self, numbers: Sequence[int]) -> list[int]:
        """For each piece the number, from 0, of the word that it is in: letters without a space."""
        begins = (i > 0 and self.tokens[n].startswith(WORD_START) for i, n in enumerate(numbers))
        return list(accumulate(begins))
