"""Words to numbers and back."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

PAD, BOS, EOS, UNK = 0, 1, 2, 3
MARKS = ("<pad>", "<s>", "</s>", "<unk>")


@dataclass(frozen=True)
class Vocabulary:
    """The words a model knows, most frequent first, behind the four marks.

    `tokens[i]` is the word with number i; numbers 0 to 3 are padding, begin, end and unknown.
    """

    tokens: tuple[str, ...]

    @classmethod
    def from_sentences(
        cls,
        sentences: Iterable[Sequence[str]],
        min_frequency: int = 1,
        max_words: int | None = None,
    ) -> "Vocabulary":
        """Collect the words of sentences; see `from_counts`."""
        counts = Counter(token for sentence in sentences for token in sentence)
        return cls.from_counts(counts, min_frequency, max_words)

    @classmethod
    def from_counts(
        cls, counts: Mapping[str, int], min_frequency: int = 1, max_words: int | None = None
    ) -> "Vocabulary":
        """Collect every word seen at least `min_frequency` times, at most `max_words` of them.

        Words of equal frequency stand in alphabetical order, so the numbering depends on the corpus
        alone and not on the order of its sentences.
        """
        frequent = [token for token, count in counts.items() if count >= min_frequency]
        frequent.sort(key=lambda token: (-counts[token], token))
        words = [token for token in frequent if token not in MARKS][:max_words]
        return cls((*MARKS, *words))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        # A mark in a text is text, and a word that no vocabulary has.
        return {word: len(MARKS) + k for k, word in enumerate(self.tokens[len(MARKS) :])}

    def __len__(self) -> int:
        return len(self.tokens)

    def encode(self, tokens: Iterable[str]) -> list[int]:
        """Numbers of the words, unknown ones as UNK; neither begin nor end mark is added."""
        numbers = self._numbers
        return [numbers.get(token, UNK) for token in tokens]

    def decode(self, numbers: Iterable[int]) -> list[str]:
        """Words up to the end mark, without padding or begin marks."""
        words = []
        for number in numbers:
            if number == EOS:
                break
            if number not in (PAD, BOS):
                words.append(self.tokens[number])
        return words

    # Pieces of words (subwords.py) answer the next two otherwise.

    def words_of(self, numbers: Sequence[int]) -> list[int]:
        """For each number the place of its word in the sentence: here every one is a word."""
        return list(range(len(numbers)))

    def covered(self, tokens: Sequence[str]) -> list[range]:
        """For each number of `encode(tokens)` the places of the words that it is of: its own."""
        return [range(place, place + 1) for place in range(len(tokens))]
