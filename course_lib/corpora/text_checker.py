"""What is wrong with a text of one's own, with line numbers, and a copy of it without that."""

import math
import os
import re
import shutil
import tempfile
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TextIO

import charset_normalizer
import numpy as np

from course_lib.corpora.copies import Hashes, copied, key
from course_lib.corpora.languages import language_of
from course_lib.corpora.own_text import (
    FAULTS,
    NOT_UTF8,
    Line,
    OwnText,
    links_beside,
    unread_files,
)
from course_lib.corpora.tokenization import PLAIN, tokenize
from course_lib.errors import CourseError

LIMIT = 100
"""Words of a side; longer pairs are left out of training by default."""
PROPORTION, LETTERS = 4, 60
"""How many times as long as usual, and by how many characters at least, a side is too long."""
COMMON = 20
"""Words that a side has most; hardly a sentence is without one of them."""
SAME = 0.8
"""Of one language's words the share that two texts have in common; Croatian and Serbian in Latin
letters have 0.6, Danish and Norwegian 0.55."""
OFTEN = 0.1
"""Of the pairs: more than so many that are the same on both sides are asked about."""
SHOWN = 8
"""Line numbers that a message names."""
LOOKED_AT = 1_000
"""Lines that are looked at for their encoding."""
LEFT_OUT = "left-out.lines"
"""The file, in a copy, of what it is without."""

MESSAGES = {
    **FAULTS,
    "shared": "the same pair is in another split too",
    "language": "a side seems to be in the other side's language",
    "proportion": f"one side is over {PROPORTION} times as long as is usual beside the other",
}
"""Kinds of fault; a line has the first that fits."""

ENCODINGS = {
    "Cyrl": ("cp1251", "koi8_r", "koi8_u", "cp866", "iso8859_5"),
    "Grek": ("cp1253", "iso8859_7"),
    "Hebr": ("cp1255",),
    "Arab": ("cp1256", "iso8859_6"),
    "Thai": ("cp874",),
    "Jpan": ("cp932", "euc_jp", "iso2022_jp"),
    "Kore": ("cp949",),
    "Hans": ("gb18030", "big5"),
    "Hant": ("gb18030", "big5"),
    "Latn": ("cp1252",),
}
"""By script: what text that is not UTF-8 is usually in."""
LATIN = {
    **dict.fromkeys(("bs", "cs", "hr", "hu", "pl", "ro", "sk", "sl"), ("cp1250", "iso8859_2")),
    **dict.fromkeys(("az", "tr"), ("cp1254",)),
    **dict.fromkeys(("et", "lt", "lv"), ("cp1257",)),
    "vi": ("cp1258",),
}
"""The same by language in Latin letters, where it is another one."""

_WORDS = re.compile(r"\w+")
_ENTITY = re.compile(r"&(?:#\d+|#x[0-9a-fA-F]+|[a-zA-Z]{2,8});")
_PIECE = re.compile(r"@@(?= |$)|(?:^| )\u2581\S")
QUESTIONS = {
    "long": f"a side has over {LIMIT} words: training leaves such pairs out, unless --set "
    "max_length says otherwise",
    "entity": "there are HTML entities, as &quot;. Are they meant? Else write the characters",
    "piece": "words seem to be in pieces, as ga@@ to. Join them first, for scores are of words",
    "quoted": "a cell is in quotation marks, as spreadsheets write them. Write it without",
    "header": "is this a heading? Then delete it, or name the languages in it, as en and es",
}
"""What is asked about: each may be right."""


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

    def share(self, word: str, without: int = 0, unseen: int = 1) -> float:
        """How frequent a word is, where it is not counted `without` times and `unseen` more."""
        return (max(0, self.words[word] - without) + unseen) / (self.total + 1)

    @cached_property
    def common(self) -> set[str]:
        """The commonest words."""
        return {word for word, _ in self.words.most_common(COMMON)}


def letters_of(line: str) -> list[str]:
    """The words of a line in any language, without numbers and punctuation."""
    return [word for word in tokenize(line, PLAIN) if word[0].isalpha()]


class TextChecker:
    """Knows what is usual in a text, and says of each line what is wrong with it.

    What `sides` have in common tells their languages. So lines that are the same on both are
    counted apart, in `same`: where they were never translated they would pass for the language.
    """

    def __init__(self, text: OwnText) -> None:
        """Read the text once. What stays are hashes of its pairs, and counts of words."""
        self.text = text
        self.sides = Side(), Side()
        self.same, self.unchanged = Side(), 0
        self.hashes: dict[str, Hashes] = {}
        for split in text.splits():
            hashes = array("Q")
            for line in text.lines(split):
                pair = text.read(line)
                if isinstance(pair, str):
                    continue
                hashes.extend(text.fingerprints(pair))
                if split == "train" and pair[0] == pair[1]:
                    self.same.add(pair[0])
                    self.unchanged += 1
                elif split == "train":
                    for side, words in zip(self.sides, pair, strict=True):
                        side.add(words)
            self.hashes[split] = np.frombuffer(hashes, dtype=np.uint64).reshape(-1, 2)

    def faults(self, split: str) -> Iterator[tuple[Line, str | None]]:
        """Every line of a split, with its fault or None."""
        # Of two splits the later one keeps the pair.
        names = [*self.hashes]
        later = {
            (source, target)
            for other in names[names.index(split) + 1 :]
            for source, target in self.hashes[other].tolist()
        }
        for line in self.text.lines(split):
            pair = self.text.read(line)
            yield line, pair if isinstance(pair, str) else self._fault(pair, later)

    def _fault(self, pair: tuple[str, str], later: set[tuple[int, int]]) -> str | None:
        if self.text.fingerprints(pair) in later:
            return "shared"
        if self._foreign(pair, *self.sides) or self._foreign(pair[::-1], *self.sides[::-1]):
            return "language"
        source, target = self.sides
        usual = (source.characters + 1) / (target.characters + 1)
        short, long = sorted((len(pair[0]), len(pair[1]) * usual))
        if long > PROPORTION * short and long - short > LETTERS:
            # A name, number or placeholder on both sides: one of them only says more.
            first, second = (set(_WORDS.findall(side.casefold())) for side in pair)
            return "proportion" if first.isdisjoint(second) else None
        return None

    @staticmethod
    def _foreign(pair: tuple[str, str], own: Side, other: Side) -> bool:
        """Whether the first line's words are e times as frequent on the other side, on average.

        One of them is among that side's commonest, as in any sentence, or two where both lines are
        the same, as a name or a command may be. The pair itself does not count, on either side; nor
        do words that it has on both, unless nothing else is there.
        """
        here, there = (Counter(letters_of(line)) for line in pair)
        new = here - there
        counted = pair[0] != pair[1]
        if here.total() < 3 or len(other.common & (new or here).keys()) < (1 if new else 2):
            return False
        here = new or here
        score = sum(
            count
            * math.log(
                other.share(word, without=counted * there[word])
                / own.share(word, without=counted * count)
            )
            for word, count in here.items()
        )
        return score > here.total()

    def same_language(self) -> bool:
        """Whether most words of one side are as frequent on the other; more than in near kin."""
        source, target = self.sides
        common = source.words.keys() & target.words.keys()
        both = sum(min(source.share(x, unseen=0), target.share(x, unseen=0)) for x in common)
        words = (source.total + target.total) / 2
        return both * words + self.same.total > SAME * (words + self.same.total + 1)

    def _question(self, line: Line, pair: tuple[str, str]) -> str | None:
        """What is to be asked about a pair that has no fault."""
        # A word has a character at least, and most lines are shorter.
        if any(len(side) > LIMIT and len(tokenize(side, PLAIN)) > LIMIT for side in pair):
            return "long"
        if any(map(_ENTITY.search, pair)):
            return "entity"
        if any(map(_PIECE.search, pair)):
            return "piece"
        if self.text.path.is_file() and any(_quoted(side) for side in pair):
            return "quoted"
        words = [letters_of(side) for side in pair]
        if line[0] == 1 and all(
            len(x) == 1 and key(x[0]) == key(side) and counts.words[x[0]] == 1
            for x, side, counts in zip(words, pair, self.sides, strict=True)
        ):
            return "header"
        return None

    def questions(self, split: str) -> Iterator[tuple[Line, str]]:
        """The lines of a split that something is to be asked about."""
        for line in self.text.lines(split):
            pair = self.text.read(line)
            if not isinstance(pair, str) and (question := self._question(line, pair)):
                yield line, question


def _quoted(cell: str) -> bool:
    """Whether a cell is written as spreadsheets do: in quotes, and those inside it doubled."""
    return len(cell) > 4 and cell[0] == cell[-1] == '"' and '""' in cell[1:-1]


def _named(
    split: str, found: Iterable[tuple[Line, str | None]], messages: Mapping[str, str]
) -> list[str]:
    """A line of text for each kind of what was found, with the lines' numbers."""
    counts: Counter[str | None] = Counter()
    shown: dict[str | None, list[str]] = {}
    for (number, *_), kind in found:
        counts[kind] += 1
        if counts[kind] <= SHOWN:
            shown.setdefault(kind, []).append(str(number))
    report = []
    for kind, message in messages.items():
        if count := counts[kind]:
            more = f" and {count - SHOWN:,} more" if count > SHOWN else ""
            where = ", ".join(shown[kind]) + more
            report.append(f"{split} line{'s' * (count > 1)} {where}: {message}")
    if messages is MESSAGES and not counts[None]:
        report.append(f"{split}: not one pair is in order; give some, or delete its files")
    return report


def check(checker: TextChecker) -> list[str]:
    """What is wrong, a line of text for each kind of fault in each split."""
    report = []
    for split in checker.text.splits():
        report += _named(split, checker.faults(split), MESSAGES)
    if checker.same_language() and not any(MESSAGES["encoding"] in line for line in report):
        report.append("train: both sides seem to be in the same language")
    return report


def ask(checker: TextChecker) -> list[str]:
    """What may be wrong and a person may know better, and what training will do; a line each."""
    text = checker.text
    report = []
    for split in text.splits():
        report += _named(split, checker.questions(split), QUESTIONS)
    pairs = len(checker.hashes["train"])
    if checker.unchanged > OFTEN * pairs:
        # Those that are called a fault are not asked about, too.
        same = sum(x == y and not fault for (_, x, y), fault in checker.faults("train"))
        if same > OFTEN * pairs:
            report.append(
                f"train: {same:,} of its {pairs:,} pairs are the same on both sides. Are they "
                "translated?"
            )
    for split, count in copied(checker.hashes).items():
        report.append(
            f"{split}: {count:,} of its {len(checker.hashes[split]):,} sources, or near copies of "
            "them, are in train too. A score on them is in part of memory"
        )
    if unread := unread_files(text.path):
        report.append(f"not read: {', '.join(unread)}. Call them train, val or dev, or test...")
    return report


def encoding_of(text: OwnText) -> tuple[int, str]:
    """How many lines are not UTF-8, and what they look like most; "" where nobody knows."""
    count = 0
    lines: list[bytes] = []
    names: dict[str, None] = {}
    for split in text.splits():
        for line in text.lines(split):
            if text.read(line) != "encoding":
                continue
            count += 1
            for side, language in zip(line[1:], text.pair, strict=True):
                if side and NOT_UTF8.search(side) and len(lines) < LOOKED_AT:
                    lines.append(side.encode("utf-8", "surrogateescape"))
                    names |= dict.fromkeys(_encodings(language))
    if not lines:
        return count, ""
    sample = b"\n".join(lines)
    fitting = [name for name in names if _is_in(sample, name)]
    if len(fitting) == 1:
        return count, fitting[0]
    best = charset_normalizer.from_bytes(sample, cp_isolation=fitting).best() if fitting else None
    return count, best.encoding if best else ""


def _is_in(text: bytes, encoding: str) -> bool:
    try:
        text.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _encodings(code: str) -> tuple[str, ...]:
    """What text in a language is usually in, if not in UTF-8; every one, where it has no name."""
    language = language_of(code).maximize()
    usual = ENCODINGS.get(language.script or "", ()) if code != PLAIN else ()
    if language.language in LATIN and language.script == "Latn":
        usual = LATIN[language.language]
    return usual or tuple(dict.fromkeys(chain(*ENCODINGS.values(), *LATIN.values())))


def write_cleaned(checker: TextChecker) -> tuple[Path, int]:
    """A copy of the text in UTF-8 without the lines that have a fault and without their gold links;
    and how many lines it is without.

    It lies beside the text, `NAME-clean`, and appears at once or not at all. What it is without is
    in `LEFT_OUT`, in its folder or beside its table.

    Raises:
        CourseError: there is one already; nothing would be left of a split; lines are not UTF-8; or
            a line is missing somewhere: then the lines after it belong to others than those beside
            them.
    """
    text = checker.text
    count, looks_like = encoding_of(text)
    if count:
        raise CourseError(
            f"Nothing is written: {count:,} lines are not UTF-8. Add --encoding and what they are "
            f"in{f', perhaps {looks_like}' * bool(looks_like)}, and they are converted."
        )
    name, dot, end = text.path.resolve().name.partition("." if text.path.is_file() else "/")
    goal = text.path.resolve().with_name(f"{name}-clean{dot}{end.removesuffix('.gz')}")
    apart = goal / LEFT_OUT if text.path.is_dir() else goal.with_name(f"{goal.name}.{LEFT_OUT}")
    if goal.exists() or apart.exists():
        raise CourseError(f"{goal} is there already. Delete or rename it first.")
    half = Path(tempfile.mkdtemp(dir=goal.parent, prefix=f".{goal.name}."))
    try:
        with (half / LEFT_OUT).open("w", encoding="utf-8") as left_out:
            without = sum(_write_split(checker, split, half, left_out) for split in text.splits())
        half.chmod(0o755)
        if text.path.is_file():
            os.replace(half / LEFT_OUT, apart)
        os.replace(half if text.path.is_dir() else half / "train", goal)
    finally:
        shutil.rmtree(half, ignore_errors=True)
    return goal, without


def _write_split(checker: TextChecker, split: str, folder: Path, left_out: TextIO) -> int:
    text = checker.text
    names = [f"{split}.{language}" for language in text.pair] if text.path.is_dir() else [split]
    gold = links_beside(str(text.path), split)
    with ExitStack() as stack:
        sides = [stack.enter_context((folder / name).open("w", encoding="utf-8")) for name in names]
        if len(sides) == 1 and PLAIN not in text.pair:
            print(*text.pair, sep="\t", file=sides[0])
        links = gold and stack.enter_context(gold.open("rb"))
        kept = gold and stack.enter_context((folder / gold.name).open("wb"))
        left = without = 0
        for (number, *pair), fault in checker.faults(split):
            link = links.readline() if links else b""
            lines = ["" if side is None else side.strip("\ufeff \t\r") for side in pair]
            if fault == "unequal":
                raise CourseError(
                    f"Nothing is written: {split} has a line too few on one side, before line "
                    f"{number} or anywhere above, and only a person can tell where."
                )
            if fault is not None:
                without += 1
                print(split, number, MESSAGES[fault], *lines, sep="\t", file=left_out)
                continue
            left += 1
            for side, line in zip(
                sides, lines if len(sides) == 2 else ["\t".join(lines)], strict=True
            ):
                print(line, file=side)
            if kept:
                kept.write(link)
        if not left:
            raise CourseError(f"Nothing is written: no pair of {split} would be left. Look at it.")
    return without
