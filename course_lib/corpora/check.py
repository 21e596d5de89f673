"""What is wrong with a text of one's own, with line numbers, and a copy of it without that."""

import math
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from course_lib.corpora.own import FAULTS, Line, OwnText, links_beside
from course_lib.corpora.tokenization import tokenize
from course_lib.errors import CourseError

LIMIT = 100
"""Words of a side; longer pairs are left out of training by default."""
PROPORTION, LETTERS = 4, 20
"""How many times as long as usual, and by how many characters at least, a side is too long."""
SHOWN = 8
"""Line numbers that a message names."""

MESSAGES = {
    **FAULTS,
    "shared": "the same pair is in another split too",
    "language": "a side seems to be in the other side's language",
    "proportion": f"one side is over {PROPORTION} times as long as is usual beside the other",
    "long": f"a side has over {LIMIT} words, which training leaves out",
}
"""Kinds of fault; a line has the first that fits."""


@dataclass
class Side:
    """What one side of the training text is like: how often each word is there, its characters."""

    words: Counter[str] = field(default_factory=Counter)
    total: int = 0
    characters: int = 0

    def add(self, line: str) -> None:
        """Count a line."""
        words = letters_of(line)
        self.words.update(words)
        self.total += len(words)
        self.characters += len(line)

    def share(self, word: str, without: int = 0) -> float:
        """How frequent a word is, where it is not counted `without` times; never quite 0."""
        return (max(0, self.words[word] - without) + 0.1) / (self.total + 1)


def letters_of(line: str) -> list[str]:
    """The words of a line in any language, without numbers and punctuation."""
    return [word for word in tokenize(line, "und") if word[0].isalpha()]


class Judge:
    """Knows what is usual in a text, and says of each line what is wrong with it."""

    def __init__(self, text: OwnText) -> None:
        """Read the text once. What stays are hashes of held-out pairs, and counts of words."""
        self.text = text
        self.sides = Side(), Side()
        self.held_out: dict[str, set[int]] = {}
        for split in text.splits():
            seen = self.held_out[split] = set[int]()
            for line in text.lines(split):
                pair = text.read(line)
                if isinstance(pair, str):
                    continue
                if split == "train":
                    for side, words in zip(self.sides, pair, strict=True):
                        side.add(words)
                else:
                    seen.add(text.fingerprint(pair))

    def faults(self, split: str) -> Iterator[tuple[Line, str | None]]:
        """Every line of a split, with its fault or None."""
        for line in self.text.lines(split):
            pair = self.text.read(line)
            yield line, pair if isinstance(pair, str) else self._fault(split, pair)

    def _fault(self, split: str, pair: tuple[str, str]) -> str | None:
        mark = self.text.fingerprint(pair)
        # Of two splits the later one keeps the pair.
        later = [*self.held_out][[*self.held_out].index(split) + 1 :]
        if any(mark in self.held_out[other] for other in later):
            return "shared"
        source, target = self.sides
        if self._foreign(pair[0], source, target) or self._foreign(pair[1], target, source):
            return "language"
        usual = (source.characters + 1) / (target.characters + 1)
        lengths = len(pair[0]), len(pair[1]) * usual
        if max(lengths) > PROPORTION * min(lengths) and max(lengths) - min(lengths) > LETTERS:
            return "proportion"
        # A word has a character at least, and most lines are shorter.
        if any(len(words) > LIMIT and len(tokenize(words, "und")) > LIMIT for words in pair):
            return "long"
        return None

    @staticmethod
    def _foreign(line: str, own: Side, other: Side) -> bool:
        """Whether the words of a line are e times as frequent on the other side, on average.

        The line itself does not count: a line of words seen nowhere else says nothing.
        """
        words = Counter(letters_of(line))
        if words.total() < 3:
            return False
        score = sum(
            count * math.log(other.share(word) / own.share(word, without=count))
            for word, count in words.items()
        )
        return score > words.total()

    def same_language(self) -> bool:
        """Whether over half of the words of one side are as frequent on the other."""
        source, target = self.sides
        common = source.words.keys() & target.words.keys()
        return sum(min(source.share(word), target.share(word)) for word in common) > 0.5


def check(judge: Judge) -> list[str]:
    """What is wrong, a line of text for each kind of fault in each split."""
    report = []
    for split in judge.text.splits():
        counts: Counter[str | None] = Counter()
        shown: dict[str | None, list[str]] = {}
        for (number, *_), fault in judge.faults(split):
            counts[fault] += 1
            if counts[fault] <= SHOWN:
                shown.setdefault(fault, []).append(str(number))
        for fault, message in MESSAGES.items():
            if count := counts[fault]:
                more = f" and {count - SHOWN:,} more" if count > SHOWN else ""
                where = ", ".join(shown[fault]) + more
                report.append(f"{split} line{'s' * (count > 1)} {where}: {message}")
        if not counts[None]:
            report.append(f"{split}: not one pair is in order; give some, or delete its files")
    if judge.same_language():
        report.append("train: both sides seem to be in the same language")
    return report


def write_cleaned(judge: Judge) -> Path:
    """A copy of the text without the lines that have a fault, and without their gold links.

    It lies beside the text, `NAME-clean`, and appears at once or not at all.

    Raises:
        CourseError: there is one already, nothing would be left of a split, or a line is missing
            somewhere: then the lines after it belong to others than those beside them.
    """
    text = judge.text
    name, dot, end = text.path.resolve().name.partition("." if text.path.is_file() else "/")
    goal = text.path.resolve().with_name(f"{name}-clean{dot}{end.removesuffix('.gz')}")
    if goal.exists():
        raise CourseError(f"{goal} is there already. Delete or rename it first.")
    half = Path(tempfile.mkdtemp(dir=goal.parent, prefix=f".{goal.name}."))
    try:
        for split in text.splits():
            _write_split(judge, split, half)
        half.chmod(0o755)
        os.replace(half if text.path.is_dir() else half / "train", goal)
    finally:
        shutil.rmtree(half, ignore_errors=True)
    return goal


def _write_split(judge: Judge, split: str, folder: Path) -> None:
    text = judge.text
    names = [f"{split}.{language}" for language in text.pair] if text.path.is_dir() else [split]
    gold = links_beside(str(text.path), split)
    with ExitStack() as stack:
        sides = [stack.enter_context((folder / name).open("wb")) for name in names]
        links = gold and stack.enter_context(gold.open("rb"))
        kept = gold and stack.enter_context((folder / gold.name).open("wb"))
        left = 0
        for (number, *pair), fault in judge.faults(split):
            link = links.readline() if links else b""
            if fault == "unequal":
                raise CourseError(
                    f"Nothing is written: {split} has a line too few on one side, before line "
                    f"{number} or anywhere above, and only a person can tell where."
                )
            if fault is None:
                left += 1
                lines = [side.strip() for side in pair if side is not None]
                if len(sides) == 1:
                    lines = [b"\t".join(lines)]
                for side, line in zip(sides, lines, strict=True):
                    side.write(line + b"\n")
                if kept:
                    kept.write(link)
        if not left:
            raise CourseError(f"Nothing is written: no pair of {split} would be left. Look at it.")
