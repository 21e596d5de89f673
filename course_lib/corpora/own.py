"""A text of one's own as a corpus: a folder with a file for each side, or one table.

A folder has `train.en` and `train.es`, a sentence a line, and where they exist `val.*` and
`test*.*`. A table (TSV) has the source in its first column and the target in its second, unless its
first line names the two languages in another order; further columns are not read. Every file may be
packed by gzip (`.gz`). Text is UTF-8.

Without files for val or test, pairs are split off by a hash of the pair: the same pairs in both
directions of translation and in whatever order they come, and none in two splits. A text of more
than `IN_MEMORY` pairs is tokenised into files once, and read from there.
"""

import gzip
import hashlib
import os
import re
import zlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice, permutations, zip_longest
from pathlib import Path

import numpy as np
import platformdirs
import regex
from numpy.typing import NDArray

from course_lib.corpora.corpus import Corpus
from course_lib.corpora.splitting import Splitting
from course_lib.corpora.token_files import Row, TokenFiles, prepare
from course_lib.corpora.tokenization import detokenize
from course_lib.errors import CourseError

IN_MEMORY = 250_000
"""Training pairs; a text with more is streamed from disk."""
HELD_OUT = 1_000
"""Pairs that are split off for val, and as many for test; of a small text a tenth of it each."""
LANGUAGE = re.compile(r"[A-Za-z]{2,3}([_@][A-Za-z]+)*")
_SEEN = regex.compile(r"[^\p{Cc}\p{Cf}\p{Z}]")

FAULTS = {
    "unequal": "one side has lines that the other has not: one is lost there or above",
    "no tab": "no tab, so no second column",
    "encoding": "not UTF-8",
    "empty": "a side is empty",
}
"""Why a line is no pair of sentences."""

Line = tuple[int, bytes | None, bytes | None]
"""A line's number, from 1, and its source and target; None for a side that has no such line."""
Hashes = NDArray[np.uint64]


@dataclass(frozen=True)
class OwnText:
    """Where a text lies, and which of its languages are source and target."""

    path: Path
    pair: tuple[str, str]

    @classmethod
    def find(cls, path: str | Path, pair: str) -> "OwnText":
        """The text at `path`; raises CourseError where there is none, or not in these languages."""
        path = Path(path)
        if not path.exists():
            raise CourseError(f"There is no folder or file {path}. Check the path.")
        source, _, target = pair.partition("-")
        if not (LANGUAGE.fullmatch(source) and LANGUAGE.fullmatch(target) and source != target):
            raise CourseError(f"{pair!r} is no pair of languages. Give one as in --pair en-es.")
        known = pairs_of(path)
        if known and pair not in known:
            raise CourseError(f"{path} has no pair {pair!r}. Choose one of {', '.join(known)}.")
        if path.is_dir() and not known:
            raise CourseError(
                f"{path} has no parallel text to train on. Put train.{source} and train.{target} "
                "there, a sentence a line, as UTF-8."
            )
        return cls(path, (source, target))

    def splits(self) -> list[str]:
        """The splits that have files of their own, train first."""
        if not self.path.is_dir():
            return ["train"]
        # A side alone counts: that the other is missing is said when the split is read.
        sides = "|".join(map(re.escape, self.pair))
        name = re.compile(rf"(val|test.*)\.({sides})(\.gz)?")
        others = {match[1] for file in self.path.iterdir() if (match := name.fullmatch(file.name))}
        return ["train", *sorted(others, key=lambda split: (split != "val", split))]

    def files(self, split: str) -> list[Path]:
        """The files of a split: one a side, or the one table."""
        if not self.path.is_dir():
            return [self.path]
        files = []
        for language in self.pair:
            plain = self.path / f"{split}.{language}"
            packed = plain.with_name(plain.name + ".gz")
            if not plain.is_file() and not packed.is_file():
                raise CourseError(f"{self.path} has no {plain.name}, nor {packed.name}. Add one.")
            files.append(plain if plain.is_file() else packed)
        return files

    def lines(self, split: str) -> Iterator[Line]:
        """A split as it lies in its files, whatever is wrong with it."""
        sides = [lines_of(file) for file in self.files(split)]
        if len(sides) == 2:
            for number, (source, target) in enumerate(zip_longest(*sides), 1):
                yield number, source, target
            return
        turned = False
        for number, line in enumerate(sides[0], 1):
            cells = [*line.split(b"\t"), None][:2]
            if number == 1 and set(cells) == {language.encode() for language in self.pair}:
                turned = cells[0] != self.pair[0].encode()
                continue
            yield number, cells[turned], cells[not turned]

    def fingerprint(self, pair: tuple[str, str]) -> int:
        """A hash of a sentence pair, 8 bytes, the same in both directions of translation."""
        both = "\t".join(reversed(pair) if self.pair[0] > self.pair[1] else pair).encode()
        return int.from_bytes(hashlib.blake2b(both, digest_size=8).digest(), "big")

    def read(self, line: Line) -> tuple[str, str] | str:
        """The pair on a line, as text without space around it, or which of `FAULTS` it has."""
        _, source, target = line
        if source is None or target is None:
            return "unequal" if self.path.is_dir() else "no tab"
        try:
            pair = seen(source), seen(target)
        except UnicodeDecodeError:
            return "encoding"
        return pair if all(pair) else "empty"

    def pairs(self, split: str) -> Iterator[tuple[str, str]]:
        """The sentence pairs of a split, as `read` has them.

        Raises:
            CourseError: at the first line that is not a pair of sentences in UTF-8.
        """
        for line in self.lines(split):
            pair = self.read(line)
            if not isinstance(pair, str):
                yield pair
                continue
            remedy = (
                "Look there and above for the line that is lost, and put it back."
                if pair == "unequal"
                else f"`course corpus check {self.path}` lists all such lines, and with --fix "
                "writes a cleaned copy."
            )
            raise CourseError(f"{self.path}: {split}, line {line[0]}: {FAULTS[pair]}. {remedy}")


def seen(line: bytes) -> str:
    """A line as text, without space around it; empty where it has nothing that can be seen."""
    text = line.decode("utf-8").strip()
    return text if _SEEN.search(text) else ""


def lines_of(file: Path) -> Iterator[bytes]:
    """The lines of a file, unpacked, without their ends and without a byte-order mark."""
    try:
        with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as stream:
            for number, line in enumerate(stream):
                yield line.rstrip(b"\r\n").removeprefix(b"" if number else b"\xef\xbb\xbf")
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise CourseError(f"{file} is no whole gzip file ({error}). Pack it again.") from error


def pairs_of(path: Path) -> list[str]:
    """The pairs that a folder's `train.*` make, in both directions; none are known of a table."""
    names = [file.name.removesuffix(".gz") for file in path.iterdir()] if path.is_dir() else []
    stems = [name.partition(".") for name in names]
    languages = {end for stem, _, end in stems if stem == "train" and LANGUAGE.fullmatch(end)}
    return ["-".join(pair) for pair in permutations(sorted(languages), 2)]


def links_beside(path: str, split: str) -> Path | None:
    """The file of gold links, `test.links`, in a text's folder; None where there is none."""
    links = Path(path) / f"{split}.links"
    return links if links.is_file() else None


def is_own(name: str) -> bool:
    """Whether a corpus's name is meant as a path."""
    return bool(name) and (Path(name).exists() or len({"/", os.sep} & set(name)) > 0)


def _stream(
    text: OwnText, how: Splitting, kept: NDArray[np.bool_], sha256: dict[str, str]
) -> TokenFiles:
    """The kept training pairs, tokenised into the cache; made where they are not yet."""
    languages = sorted(text.pair)
    known = [f"{name} {checksum}" for name, checksum in sorted(sha256.items())]
    folder = cache_folder() / how.key(str(np.count_nonzero(kept)), *languages, *known)

    def rows(start: int) -> Iterator[Row]:
        pairs = (pair for pair, keep in zip(text.pairs("train"), kept, strict=True) if keep)
        for pair in islice(pairs, start, None):
            yield dict(zip(text.pair, pair, strict=True))

    return prepare(rows, folder, languages, int(np.count_nonzero(kept)), how.lines)


def own_corpus(path: str, pair: str, *, lowercase: bool = True, tokenized: bool = False) -> Corpus:
    """The text at `path` as a corpus with train, val and one or more splits test.

    Args:
        path: the folder, or the table.
        pair: source and target language, as en-es.
        lowercase: whether tokens are lower-cased; references never are.
        tokenized: whether the text has its tokens between spaces already.

    Raises:
        CourseError: the text is not there, a line is not a pair of sentences, or there are too few
            pairs to split some off.
    """
    text = OwnText.find(path, pair)
    hashes: dict[str, Hashes] = {}
    sha256: dict[str, str] = {}
    for split in text.splits():
        hashes[split], sums = _survey(text, split)
        sha256 |= sums
    missing = [split for split in ("val", "test") if not any(x.startswith(split) for x in hashes)]
    place = _places(hashes["train"], missing)
    streamed = np.count_nonzero(place == 0) > IN_MEMORY

    wanted = ["train", *missing]
    parts: dict[str, list[tuple[str, str]]] = {
        split: [] if split in wanted else list(text.pairs(split))
        for split in dict.fromkeys(("train", "val", *hashes, *missing))
    }
    for both, at in zip(text.pairs("train"), place, strict=True):
        if at or not streamed:
            parts[wanted[at]].append(both)
    if streamed:
        del parts["train"]
    if empty := [split for split, pairs in parts.items() if not pairs]:
        raise CourseError(
            f"{path} has {len(place):,} pairs, of which none is left for {empty[0]}. Give more, or "
            f"files of their own for {empty[0]}."
        )
    how = Splitting(lowercase, tokenized)
    return Corpus(
        name=text.path.resolve().name,
        pair=pair,
        splits={
            split: how.split(cache_folder(), pairs, text.pair) for split, pairs in parts.items()
        },
        sha256=sha256,
        lowercased=lowercase,
        detokenize=" ".join if tokenized else partial(detokenize, language=text.pair[1]),
        stream=_stream(text, how, place == 0, sha256) if streamed else None,
        notes=_notes(hashes, place, missing),
    )


def cache_folder() -> Path:
    """Where tokens are kept: the user's cache directory."""
    return Path(platformdirs.user_cache_dir("looking-back")) / "own"


def _survey(text: OwnText, split: str) -> tuple[Hashes, dict[str, str]]:
    """A hash of every pair of a split, 8 bytes each, and the checksums of its two sides."""
    sides = [hashlib.sha256(), hashlib.sha256()]
    hashes = array("Q")
    for pair in text.pairs(split):
        for side, line in zip(sides, pair, strict=True):
            side.update(line.encode() + b"\n")
        hashes.append(text.fingerprint(pair))
    names = [f"{split}.{language}" for language in text.pair]
    checksums = [side.hexdigest() for side in sides]
    return np.frombuffer(hashes, dtype=np.uint64), dict(zip(names, checksums, strict=True))


def _places(hashes: Hashes, missing: list[str]) -> NDArray[np.int8]:
    """Where each pair of the training text belongs: 0 to train, k to the k-th missing split."""
    share = min(0.1, HELD_OUT / max(1, len(hashes)))
    place = np.zeros(len(hashes), dtype=np.int8)
    for number in range(len(missing), 0, -1):
        place[hashes < np.uint64(number * share * 2**64)] = number
    return place


def _notes(hashes: dict[str, Hashes], place: NDArray[np.int8], missing: list[str]) -> list[str]:
    """What a person should know of the text before training on it."""
    train = hashes["train"]
    notes = []
    if missing:
        sizes = [f"{np.count_nonzero(place == k):,} for {x}" for k, x in enumerate(missing, 1)]
        notes.append(f"split off by hash: {' and '.join(sizes)}")
    ordered = np.sort(train)
    if twice := np.count_nonzero(ordered[1:] == ordered[:-1]):
        notes.append(f"{twice:,} of {len(train):,} pairs repeat an earlier one")
    for split in [*hashes][1:]:
        if shared := np.count_nonzero(np.isin(hashes[split], train[place == 0])):
            notes.append(
                f"{shared:,} of the {len(hashes[split]):,} pairs of {split} are in train too"
            )
    return notes
