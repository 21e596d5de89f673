"""A text of one's own as a corpus: a folder with a file for each side, or one table.

A folder has `train.en` and `train.es`, a sentence a line, and where they exist `val.*` (or `dev.*`,
`valid.*`) and `test*.*`. A table (TSV) has the source in its first column and the target in its
second, unless its first line names the two languages in another order; further columns are not
read. Every file may end in `.txt` and be packed by gzip (`.gz`). Text is UTF-8.

Without files for val or test, pairs are split off by a hash: the same pairs in both directions of
translation and in whatever order they come. Pairs that share a side, or nearly, are in one split. A
text of more than `IN_MEMORY` pairs is tokenised into files once, and read from there.
"""

import gzip
import hashlib
import io
import os
import re
import zlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice, permutations, zip_longest
from pathlib import Path

import numpy as np
import platformdirs
import regex
from numpy.typing import NDArray

from course_lib.corpora.copies import Hashes, copied, fingerprint, groups
from course_lib.corpora.corpus import Corpus
from course_lib.corpora.languages import is_language, language_of
from course_lib.corpora.splitting import Splitting
from course_lib.corpora.token_files import Row, TokenFiles, write_token_files
from course_lib.corpora.tokenization import MOSES, clean
from course_lib.errors import CourseError

IN_MEMORY = 250_000
"""Training pairs; a text with more is streamed from disk."""
HELD_OUT = 1_000
"""Pairs that are split off for val, and as many for test; of a small text a tenth of it each."""
TOGETHER = 0.1
"""Of a held-out split: pairs that belong together, and are more than this share of it, stay in
train."""
_VAL = ("val", "valid", "validation", "dev", "devel")
_KINDS = ("bin", "csv", "doc", "log", "pdf", "sh", "tsv", "zip")  # of file, before a language
_SEEN = regex.compile(r"[^\p{Cc}\p{Cf}\p{Z}]")
NOT_UTF8 = re.compile(r"[\ud800-\udfff]|\x1b[$(]")
"""Bytes that are no UTF-8, or what begins Japanese in 7 bits (ISO-2022-JP)."""
_WIDE = (b"\xff\xfe", b"\xfe\xff")

FAULTS = {
    "unequal": "one side has lines that the other has not: one is lost there or above",
    "no tab": "no tab, so no second column",
    "encoding": "not UTF-8",
    "empty": "a side is empty",
}
"""Why a line is no pair of sentences."""

Line = tuple[int, str | None, str | None]
"""A line's number, from 1, and its source and target; None for a side that has no such line. Bytes
that are not UTF-8 are single surrogates in it."""


@dataclass(frozen=True)
class OwnText:
    """Where a text lies, which of its languages are source and target.

    `encoding` is what lines that are not UTF-8 are read as; None: they are a fault.
    """

    path: Path
    pair: tuple[str, str]
    encoding: str | None = None

    @classmethod
    def find(cls, path: str | Path, pair: str, encoding: str | None = None) -> "OwnText":
        """The text at `path`; raises CourseError where there is none, or not in these languages."""
        path = Path(path)
        if not path.exists():
            raise CourseError(f"There is no folder or file {path}. Check the path.")
        asked = _languages(pair)
        if not path.is_dir():
            return cls(path, (_plain(asked[0]), _plain(asked[1])), encoding)
        codes = languages_in(path)
        if len(codes) < 2:
            raise CourseError(
                f"{path} has no parallel text to train on. Put train.{asked[0]} and "
                f"train.{asked[1]} there, a sentence a line, as UTF-8."
            )
        found = [_the_one(code, codes) for code in asked]
        if None in found:
            known = ", ".join(pairs_of(path))
            raise CourseError(f"{path} has no pair {pair!r}. Choose one of {known}.")
        source, target = map(str, found)
        return cls(path, (source, target), encoding)

    @cached_property
    def _sides(self) -> dict[str, dict[str, Path]]:
        return parallel_files(self.path)

    def splits(self) -> list[str]:
        """The splits that have files of their own, train first."""
        if not self.path.is_dir():
            return ["train"]
        # A side alone counts: that the other is missing is said when the split is read.
        others = {x for x, files in self._sides.items() if files.keys() & set(self.pair)}
        return ["train", *sorted(others - {"train"}, key=lambda split: (split != "val", split))]

    def files(self, split: str) -> list[Path]:
        """The files of a split: one a side, or the one table."""
        if not self.path.is_dir():
            return [self.path]
        there = self._sides[split]
        for language in self.pair:
            if language not in there:
                raise CourseError(f"{self.path} has no {split}.{language}. Add it.")
        return [there[language] for language in self.pair]

    def lines(self, split: str) -> Iterator[Line]:
        """A split as it lies in its files, whatever is wrong with it; no empty lines at its end."""
        waiting: list[Line] = []
        for line in self._rows(split):
            waiting.append(line)
            if any(side and side.strip("\ufeff \t\r") for side in line[1:]):
                yield from waiting
                waiting.clear()

    def _rows(self, split: str) -> Iterator[Line]:
        sides = [lines_of(file, self.encoding) for file in self.files(split)]
        if len(sides) == 2:
            for number, (source, target) in enumerate(zip_longest(*sides), 1):
                yield number, source, target
            return
        turned = False
        for number, line in enumerate(sides[0], 1):
            if number == 1 and (order := self._header(line)):
                turned = order == 2
                continue
            cells = [*line.split("\t"), None][:2]
            yield number, cells[turned], cells[not turned]

    def _header(self, line: str) -> int:
        """Whether a table's first line names its languages: 1 in their order, 2 turned, 0 not.

        Raises:
            CourseError: it names one of the pair's languages beside another.
        """
        named = _named_by(line)
        for order, pair in enumerate((self.pair, self.pair[::-1]), 1):
            if named and [_the_one(code, pair) for code in named] == list(pair):
                return order
        if any(_the_one(code, self.pair) for code in named):
            known = " or --pair ".join(map("-".join, permutations(named)))
            raise CourseError(
                f"The first line of {self.path} names {' and '.join(named)}: --pair {known}. "
                "If it is a sentence, write it as one, with a capital."
            )
        return 0

    def fingerprints(self, pair: tuple[str, str]) -> tuple[int, int]:
        """A hash of each side of a sentence pair, 8 bytes: the same for near copies."""
        return fingerprint(pair[0], self.pair[0]), fingerprint(pair[1], self.pair[1])

    def read(self, line: Line) -> tuple[str, str] | str:
        """The pair on a line, clean and without space around it, or which of `FAULTS` it has."""
        _, source, target = line
        if source is None or target is None:
            return "unequal" if self.path.is_dir() else "no tab"
        if NOT_UTF8.search(source) or NOT_UTF8.search(target):
            return "encoding"
        pair = seen(source), seen(target)
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
                else f"`course corpus check {self.path}` lists all such lines, and says what helps."
            )
            raise CourseError(f"{self.path}: {split}, line {line[0]}: {FAULTS[pair]}. {remedy}")


def seen(line: str) -> str:
    """A line clean and without space around it; empty where it has nothing that can be seen."""
    text = clean(line).strip()
    return text if _SEEN.search(text) else ""


def lines_of(file: Path, encoding: str | None = None) -> Iterator[str]:
    """The lines of a file, unpacked, without their ends.

    Raises:
        CourseError: it is no whole gzip file, in UTF-16 although no `encoding` is given, or not in
            the one that is.
    """
    try:
        with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as stream:
            head = stream.peek(4096)[:4096]
            wide = head.startswith(_WIDE) or head.count(0) > len(head) // 10
            if wide and encoding is None:
                raise CourseError(
                    f"{file} is in UTF-16, not in UTF-8. `course corpus check {file.parent} "
                    "--encoding utf-16 --fix` writes a copy that is."
                )
            if wide:
                with io.TextIOWrapper(stream, encoding, newline="\n") as wrapped:
                    yield from (line.rstrip("\r\n") for line in wrapped)
                return
            for raw in stream:
                text = raw.rstrip(b"\r\n").decode("utf-8", "surrogateescape")
                if encoding is not None and NOT_UTF8.search(text):
                    text = raw.rstrip(b"\r\n").decode(encoding)
                yield text
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise CourseError(f"{file} is no whole gzip file ({error}). Pack it again.") from error
    except (UnicodeDecodeError, LookupError) as error:
        raise CourseError(f"{file} is not in {encoding}: {error}. Name another one.") from error


def split_named(stem: str) -> str | None:
    """The split that a file's name means: train, val or one whose name begins with test."""
    stem = stem.lower()
    if stem in ("train", "training"):
        return "train"
    return "val" if stem in _VAL else stem if stem.startswith("test") else None


def _named(file: Path) -> tuple[str, str] | None:
    """What comes before a file's language, and the language; None where its name has none."""
    stem, _, code = file.name.removesuffix(".gz").removesuffix(".txt").rpartition(".")
    return (stem, _plain(code)) if code not in _KINDS and is_language(code) else None


def parallel_files(folder: Path) -> dict[str, dict[str, Path]]:
    """The files of each split of a folder, by language.

    Raises:
        CourseError: two files are meant as one.
    """
    found: dict[str, dict[str, Path]] = {}
    # Unpacked ones come last, and replace the same file packed.
    for file in sorted(folder.iterdir(), key=lambda file: (file.suffix != ".gz", file.name)):
        stem, language = _named(file) or ("", "")
        if (split := split_named(stem)) is None or not file.is_file():
            continue
        other = found.setdefault(split, {}).get(language)
        if other is not None and other.name.removesuffix(".gz") != file.name:
            raise CourseError(
                f"{folder}: {other.name} and {file.name} are both {split}.{language}. Keep one."
            )
        found[split][language] = file
    return found


def unread_files(folder: Path) -> list[str]:
    """Names of files that have a language, and are of no split."""
    names = sorted(file.name for file in folder.iterdir()) if folder.is_dir() else []
    return [x for x in names if (named := _named(Path(x))) and split_named(named[0]) is None]


def languages_in(path: Path, encoding: str | None = None) -> list[str]:
    """The languages of a folder's `train.*`, or those that a table's first line names."""
    if path.is_dir():
        return sorted(parallel_files(path).get("train", {}))
    return _named_by(next(lines_of(path, encoding), "")) if path.is_file() else []


def _named_by(heading: str) -> list[str]:
    """The two languages that a table's first line names, if it does."""
    codes = [clean(cell).strip() for cell in heading.split("\t")[:2]]
    named = [_plain(code) for code in codes if is_language(code)]
    return named if len(set(named)) == 2 else []


def pairs_of(path: Path, encoding: str | None = None) -> list[str]:
    """The pairs of a text's languages, in both directions; none where a table names none."""
    return ["-".join(pair) for pair in permutations(languages_in(path, encoding), 2)]


def _plain(code: str) -> str:
    """A code as it stands in a pair, whose sides a hyphen parts."""
    return code.replace("-", "_")


def _languages(pair: str) -> tuple[str, str]:
    """The two codes of a pair, each of which may have hyphens of its own.

    Raises:
        CourseError: there are not two of them, or one names no language.
    """
    parts = pair.split("-")
    cuts = [("-".join(parts[:k]), "-".join(parts[k:])) for k in range(1, len(parts))]
    for source, target in cuts:
        # A region is written in capitals, a language is not: pt-BR-es.
        usual = len(cuts) == 1 or not target.split("-")[0].isupper()
        if usual and is_language(source) and is_language(target) and source != target:
            return source, target
    if len(parts) == 2 and all(parts) and parts[0] != parts[1]:
        for code in parts:
            language_of(code)
    raise CourseError(f"{pair!r} is no pair of languages. Give one as in --pair en-es.")


def _the_one(code: str, codes: "list[str] | tuple[str, ...]") -> str | None:
    """Which of some codes is meant: that of the same tag, or the only one of its language."""
    wanted = language_of(code)
    same = [one for one in codes if one == _plain(code)] or [
        one for one in codes if language_of(one) == wanted
    ]
    same = same or [one for one in codes if language_of(one).language == wanted.language]
    return same[0] if len(same) == 1 else None


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

    return write_token_files(rows, folder, languages, int(np.count_nonzero(kept)), how.lines)


def own_corpus(
    path: str, pair: str, *, lowercase: bool = True, tokenized: bool = False, moses: bool = False
) -> Corpus:
    """The text at `path` as a corpus with train, val and one or more splits test.

    Args:
        path: the folder, or the table.
        pair: source and target language, as en-es.
        lowercase: whether tokens are lower-cased; references never are.
        tokenized: whether the text has its tokens between spaces already.
        moses: whether Moses' rules split it, for a start from a published model.

    Raises:
        CourseError: the text is not there, a line is not a pair of sentences, or there are too few
            pairs to split some off.
    """
    text = OwnText.find(path, pair)
    if moses and (tokenized or not set(text.pair) <= set(MOSES)):
        raise CourseError(
            f"Moses' rules split {', '.join(MOSES)}, where the text is not tokenized. Leave "
            "corpus.moses out."
        )
    hashes: dict[str, Hashes] = {}
    sha256: dict[str, str] = {}
    for split in text.splits():
        hashes[split] = survey(text, split, sha256)
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
        if empty[0] in hashes and empty[0] != "train":
            files = " and ".join(str(file) for file in text.files(empty[0]))
            raise CourseError(f"{files} are empty. Put sentences there, or delete them.")
        raise CourseError(
            f"{path} has {len(place):,} pairs, of which none is left for {empty[0]}. Give more, or "
            f"files of their own for {empty[0]}."
        )
    how = Splitting(lowercase, "tokens" if tokenized else "moses" if moses else "plain")
    return Corpus(
        name=text.path.resolve().name,
        pair="-".join(text.pair),
        splits={
            split: how.split(cache_folder(), pairs, text.pair) for split, pairs in parts.items()
        },
        sha256=sha256,
        lowercased=lowercase,
        detokenize=partial(how.text, language=text.pair[1]),
        rules=how.rules,
        stream=_stream(text, how, place == 0, sha256) if streamed else None,
        notes=_notes(text, hashes, place, missing),
        copies=copied({**hashes, "train": hashes["train"][place == 0]}),
    )


def cache_folder() -> Path:
    """Where tokens are kept: the user's cache directory."""
    return Path(platformdirs.user_cache_dir("looking-back")) / "own"


def survey(text: OwnText, split: str, sha256: dict[str, str]) -> Hashes:
    """Fingerprints of both sides of every pair of a split; the sides' checksums go to `sha256`."""
    sides = [hashlib.sha256(), hashlib.sha256()]
    hashes = array("Q")
    for pair in text.pairs(split):
        for side, line in zip(sides, pair, strict=True):
            side.update(line.encode() + b"\n")
        hashes.extend(text.fingerprints(pair))
    names = [f"{split}.{language}" for language in text.pair]
    sha256 |= dict(zip(names, (side.hexdigest() for side in sides), strict=True))
    return np.frombuffer(hashes, dtype=np.uint64).reshape(-1, 2)


def _places(hashes: Hashes, missing: list[str]) -> NDArray[np.int8]:
    """Where each pair of the training text belongs: 0 to train, k to the k-th missing split.

    A group that would be much of a held-out split, or all of it, stays in train.
    """
    place = np.zeros(len(hashes), dtype=np.int8)
    if not missing or not len(hashes):
        return place
    share = min(0.1, HELD_OUT / len(hashes))
    group = groups(hashes)
    _, number, size = np.unique(group, return_inverse=True, return_counts=True)
    small = size[number] <= max(1, TOGETHER * share * len(hashes))
    for k in range(len(missing), 0, -1):
        place[small & (group < np.uint64(k * share * 2**64))] = k
    return place


def _notes(
    text: OwnText, hashes: dict[str, Hashes], place: NDArray[np.int8], missing: list[str]
) -> list[str]:
    """What a person should know of the text before training on it, beside its copies."""
    train = hashes["train"]
    notes = []
    if missing:
        sizes = [f"{np.count_nonzero(place == k):,} for {x}" for k, x in enumerate(missing, 1)]
        notes.append(f"split off by hash: {' and '.join(sizes)}")
    ordered = np.sort(train[:, 0] ^ train[:, 1] << np.uint64(1))
    if twice := np.count_nonzero(ordered[1:] == ordered[:-1]):
        notes.append(f"{twice:,} of {len(train):,} pairs repeat an earlier one, or nearly")
    if unread := unread_files(text.path):
        notes.append(
            f"not read: {', '.join(unread)}; a split is called train, val or dev, or test..."
        )
    return notes
