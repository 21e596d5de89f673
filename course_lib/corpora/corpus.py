"""What every corpus looks like to the rest of the course."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from course_lib.corpora.token_files import TokenFiles
from course_lib.errors import CourseError

Link = tuple[int, int]
"""A gold link (source position, target position), counted from 0, as in the `i-j` text format."""
Rules = Literal["plain", "moses", "tokens"]
"""How a text is split; see `Splitting`."""


@dataclass(frozen=True)
class Split:
    """One part of a corpus: lists of equal length, one entry a sentence pair.

    `links` is None where the corpus has no gold alignment. `reference` is the target side as text
    for people, which detokenised BLEU is computed against.
    """

    source: list[list[str]]
    target: list[list[str]]
    links: list[frozenset[Link]] | None
    reference: list[str]

    def __len__(self) -> int:
        return len(self.source)

    def taken(self, places: Sequence[int]) -> "Split":
        """The pairs at these places, in this order."""
        links = self.links
        return Split(
            [self.source[place] for place in places],
            [self.target[place] for place in places],
            None if links is None else [links[place] for place in places],
            [self.reference[place] for place in places],
        )


@dataclass(frozen=True)
class Corpus:
    """A named corpus with its splits and the checksums that say exactly which text it is.

    `sha256` maps each file to its checksum; a generated corpus has the one entry `generator`, the
    hash of everything that decides its sentences. A corpus too large for memory has its training
    pairs in `stream` and no split `train`. `rules` name how its text was split, as `Splitting` has
    them. `copies` are the sources of a split, by its name, that are in training, where reading the
    text has counted them. `notes` say what else a person should know of it.
    """

    name: str
    pair: str
    splits: dict[str, Split]
    sha256: dict[str, str]
    lowercased: bool
    detokenize: Callable[[list[str]], str]
    rules: Rules = "plain"
    stream: TokenFiles | None = None
    notes: Sequence[str] = ()
    copies: Mapping[str, int] = field(default_factory=dict)

    def split(self, name: str) -> Split:
        """The split of this name; raises CourseError that lists those there are."""
        if name not in self.splits:
            raise CourseError(
                f"{self.name} has no split {name!r}. Choose one of {', '.join(self.splits)}."
            )
        return self.splits[name]


def first_pairs(files: TokenFiles, pair: str, count: int) -> Split:
    """The first sentence pairs of a corpus on disk, at most `count`, with tokens as reference."""
    block = next(files.blocks(pair.split("-"), rows=count))
    source, target = ([text.split() for text in column.to_pylist()] for column in block.columns)
    return Split(source, target, None, [" ".join(words) for words in target])
