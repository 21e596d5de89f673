"""Python's documentation in English and Spanish: technical prose, as long as the paper's sentences.

The gettext catalogues of github.com/python/python-docs-es at a fixed commit: a paragraph of the
documentation and its translation by the community. They are read from GitHub's archive of that
commit, which is looked for in `$COURSE_DATA/python-docs-es`, then in the user's cache, and is
otherwise downloaded. Each catalogue in it is checked against its SHA-256.

A pair of the corpus is a whole paragraph, as its translator had it, without markup
(`restructured_text`). One of more than `MOST_WORDS` English words is split into sentences where
both sides have as many. What is left out is counted, by reason, in the corpus's notes.

Nobody's test paragraph is trained on, nor one that nearly is: a paragraph is there once; a part of
the documentation is wholly in one split; and what is in another part but near to a paragraph of the
test set or of val (`near_copies`, in either language) is left out of training.

The translations are given under CC0, the English under the PSF licence: a model trained on them may
be published for any use.
"""

import gzip
import hashlib
import io
import json
import os
import tarfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import numpy as np
import platformdirs
import regex

from course_lib.corpora import near_copies, restructured_text
from course_lib.corpora.corpus import Corpus
from course_lib.corpora.download import download
from course_lib.corpora.multi30k import FileState
from course_lib.corpora.near_copies import nearness, normalised_text
from course_lib.corpora.restructured_text import CODE_SIGN, Plain, plain_text
from course_lib.corpora.splitting import PUBLISHED
from course_lib.corpora.tokenization import PROTOCOL, tokenize
from course_lib.errors import CourseError
from course_lib.files import cached

PAIRS = ("en-es", "es-en")
COMMIT = "91f4ccc0baa8c7cbeb739e696c641388264caa30"
URL = f"https://github.com/python/python-docs-es/archive/{COMMIT}.tar.gz"
ARCHIVE = f"python-docs-es-{COMMIT[:8]}.tar.gz"

_TABLE = (files(__package__) / "python_docs.sha256").read_text(encoding="utf-8")
CHECKSUMS = {name: checksum for checksum, name in map(str.split, _TABLE.splitlines())}
"""SHA-256 of every catalogue, by its path in the archive. The archive's own bytes may change."""

MOST_WORDS = 60
"""English words of a pair."""
EVERY = 1_000_000
"""Pairs of a split: more than there are."""
TEST, VAL = 150, 50
"""Pairs that each ten words up to `MOST_WORDS` have at least in these splits."""
LARGEST = 500
"""Pairs; a part of the documentation that has more is trained on, or it would be most of a test."""
NEAR = 0.7
"""From this nearness to a held-out text on, a text is not trained on."""

REASONS = {
    "untranslated": "have no translation",
    "fuzzy": "are marked as fuzzy",
    "markup": "have broken markup, or code on one side only",
    "long": f"have over {MOST_WORDS} words and not as many sentences on both sides",
    "trivial": "have fewer than three words beside code",
    "kept": "keep the English, or seven of ten of its words",
    "length": "are over twice as long on one side",
    "repeat": "say again what an earlier paragraph says",
    "near": "nearly are in the test set or val",
}
"""Why a paragraph, or one of its sentences, is left out; the first that fits."""


class TextPair(NamedTuple):
    """A paragraph or sentence, with the code that its signs stand for, and its catalogue's path."""

    catalogue: str
    english: Plain
    spanish: Plain


class Prepared(NamedTuple):
    """The pairs of each split, and how many were read and left out, and why."""

    splits: dict[str, list[TextPair]]
    counts: dict[str, int]


def python_docs(
    pair: str = "en-es", train: int = EVERY, test: int = EVERY, seed: int = 0
) -> Corpus:
    """The corpus with its splits train, val and test; downloaded and prepared where it is not yet.

    Tokens are lower-cased; references are the target texts with their case.

    Args:
        pair: one of `PAIRS`.
        train: training pairs, which `seed` draws where there are more.
        test: pairs of the test set where it has more: as many of each ten English words, taken at
            equal distances (`spread_over_lengths`), the same whatever the seed.
        seed: of the training pairs alone.

    Raises:
        CourseError: the archive cannot be had, or is damaged.
    """
    languages = pair.split("-")
    prepared = prepare()
    splits, sha256 = {}, {}
    for split, pairs in prepared.splits.items():
        text = {
            "en": [one.english.text for one in pairs],
            "es": [one.spanish.text for one in pairs],
        }
        sides = list(zip(*(text[language] for language in languages), strict=True))
        whole = PUBLISHED.split(cache_folder(), sides, languages)
        places = list(range(len(pairs)))
        if split == "train" and train < len(pairs):
            drawn = np.random.default_rng(seed).permutation(len(pairs))[:train]
            places = sorted(drawn.tolist())
        if split == "test" and test < len(pairs):
            english = whole.source if languages[0] == "en" else whole.target
            places = spread_over_lengths(list(map(len, english)), test)
        splits[split] = whole.taken(places)
        for language, lines in text.items():
            body = "".join(f"{lines[place]}\n" for place in places)
            sha256[f"{split}.{language}"] = hashlib.sha256(body.encode()).hexdigest()
    return Corpus(
        name="python-docs",
        pair=pair,
        splits=splits,
        sha256=sha256,
        lowercased=True,
        detokenize=partial(PUBLISHED.text, language=languages[1]),
        rules=PUBLISHED.rules,
        notes=_notes(prepared),
    )


def spread_over_lengths(words: Sequence[int], most: int) -> list[int]:
    """The places of at most so many texts, of each ten words as many, at equal distances.

    Of a range that has fewer than its share all are taken. The places come in their order.

    >>> spread_over_lengths([5, 15, 6, 25, 7, 8, 35, 9, 45, 55], 12)
    [0, 1, 3, 4, 6, 8, 9]
    """
    tens = MOST_WORDS // 10
    ranges: list[list[int]] = [[] for _ in range(tens)]
    for place, count in enumerate(words):
        ranges[(count - 1) // 10].append(place)
    taken = []
    for places in ranges:
        share = min(max(1, most // tens), len(places))
        taken += [places[number * len(places) // share] for number in range(share)]
    return sorted(taken)


def cache_folder() -> Path:
    """Where the downloaded archive, the pairs made of it and their tokens are kept."""
    return Path(platformdirs.user_cache_dir("looking-back")) / "python-docs-es"


def locate() -> Path | None:
    """The archive in `$COURSE_DATA/python-docs-es` or else the cache; None where neither has it.

    Its name may end in the whole commit, as that of a browser's download does.
    """
    folders = [cache_folder()]
    if os.environ.get("COURSE_DATA"):
        folders.insert(0, Path(os.environ["COURSE_DATA"]) / "python-docs-es")
    name = ARCHIVE.replace(".tar.gz", "*.tar.gz")
    return next((path for folder in folders for path in sorted(folder.glob(name))), None)


def fetch() -> list[Path]:
    """Have the archive on disk, every catalogue checked; returns its path in a list.

    One that is at hand and whole is left alone. Raises CourseError that says where to put it by
    hand; a damaged one outside the cache is the user's own and is not overwritten.
    """
    path = locate()
    if path is not None and _intact(path):
        return [path]
    if path is not None and path.parent != cache_folder():
        raise _damaged(path)
    path = cache_folder() / ARCHIVE if path is None else path
    try:
        download(URL, path, _whole)
    except CourseError as error:
        raise CourseError(
            f"{error} Run the command again later; offline, get {URL} on another machine, call it "
            f"{ARCHIVE} and put it into {cache_folder()} (or into $COURSE_DATA/python-docs-es)."
        ) from error
    return [path]


def verify() -> list[FileState]:
    """Check the archive at hand: every catalogue's SHA-256."""
    path = locate()
    if path is None:
        return [FileState(ARCHIVE, None, "missing", True)]
    return [FileState(path.name, path, "ok" if _intact(path) else "damaged", True)]


def catalogues(archive: bytes) -> dict[str, bytes]:
    """The catalogues in an archive by their paths.

    Raises:
        ValueError: one is missing or not as published, or this is no whole archive.
    """
    found = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as packed:
            for member in packed:
                name = member.name.partition("/")[2]
                content = packed.extractfile(member) if name in CHECKSUMS else None
                if content is not None:
                    found[name] = content.read()
    except (tarfile.TarError, gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"no whole archive ({error})") from error
    for name, checksum in CHECKSUMS.items():
        if name not in found or hashlib.sha256(found[name]).hexdigest() != checksum:
            raise ValueError(f"{name} is missing or altered")
    return {name: found[name] for name in CHECKSUMS}


def prepare() -> Prepared:
    """The pairs of every split, from the cache where they are kept, else made and kept there."""
    modules = (__file__, restructured_text.__file__, near_copies.__file__)
    own = (Path(module).read_bytes() for module in modules)
    decides = [*own, _TABLE.encode(), PROTOCOL.encode(), version("regex").encode()]
    key = hashlib.sha256(b"\0".join(decides)).hexdigest()[:16]

    def from_archive() -> bytes:
        (path,) = fetch()
        prepared = made(catalogues(path.read_bytes()))
        return json.dumps(prepared._asdict(), ensure_ascii=False).encode()

    kept = json.loads(cached(cache_folder() / f"{key}.pairs.json", from_archive))
    splits = {
        split: [TextPair(name, Plain(*en), Plain(*es)) for name, en, es in rows]
        for split, rows in kept["splits"].items()
    }
    return Prepared(splits, kept["counts"])


def made(texts: dict[str, bytes]) -> Prepared:
    """Catalogues, by their paths, as a corpus: read, cleaned and split."""
    counts: Counter[str] = Counter()
    seen: set[str] = set()
    pairs = []
    for name, content in texts.items():
        for one in _units(name, content, counts):
            reason = _fault(one, seen)
            counts[reason or "left"] += 1
            if reason is None:
                pairs.append(one)
    splits = _split_by_part(pairs)
    held_out = [*splits["test"]]
    for split in ("val", "train"):
        near = _near(splits[split], held_out)
        counts["near"] += sum(near)
        splits[split] = [
            one for one, is_near in zip(splits[split], near, strict=True) if not is_near
        ]
        held_out += splits[split]
    return Prepared({split: splits[split] for split in ("train", "val", "test")}, dict(counts))


def read_catalogue(name: str, content: bytes, counts: Counter[str]) -> Iterator[TextPair]:
    """The translated paragraphs of a gettext catalogue, without markup."""
    # Here, because only who prepares the corpus needs it.
    from babel.messages.pofile import read_po

    for entry in read_po(io.BytesIO(content)):
        if not entry.id:
            continue
        counts["entries"] += 1
        if not entry.string:
            counts["untranslated"] += 1
        elif entry.fuzzy:
            counts["fuzzy"] += 1
        else:
            yield TextPair(
                name, plain_text(_singular(entry.id)), plain_text(_singular(entry.string))
            )


def _singular(text: str | Sequence[str] | None) -> str:
    """A text, the first of those that an entry has for several numbers."""
    return text if isinstance(text, str) else (text or [""])[0]


def sample_pairs() -> list[TextPair]:
    """Twenty paragraphs of the test set, which come along: for tests without the download."""
    from babel.messages.pofile import read_po

    content = (files(__package__) / "python_docs_sample.po").read_bytes()
    entries = [entry for entry in read_po(io.BytesIO(content)) if entry.id]
    return [
        TextPair(
            one.locations[0][0], plain_text(_singular(one.id)), plain_text(_singular(one.string))
        )
        for one in entries
    ]


def _units(name: str, content: bytes, counts: Counter[str]) -> Iterator[TextPair]:
    """A catalogue's paragraphs, the long ones as sentences."""
    for paragraph in read_catalogue(name, content, counts):
        if not _marked_up_alike(paragraph):
            counts["markup"] += 1
        elif _words(paragraph.english.text) <= MOST_WORDS:
            yield paragraph
        elif sentences := split_into_sentences(paragraph):
            counts["split"] += 1
            counts["sentences"] += len(sentences)
            yield from sentences
        else:
            counts["long"] += 1


def _words(text: str) -> int:
    """The number of tokens of an English text; of one far below the limit about that number.

    Moses' rules take a millisecond, and make hardly more tokens than there are runs of letters and
    other characters.
    """
    about = len(_RUNS.findall(text))
    return about if about < 0.8 * MOST_WORDS else len(tokenize(text, "en"))


_RUNS = regex.compile(r"\w+|[^\w\s]")
_BETWEEN_SENTENCES = regex.compile(r"""(?<=[.!?]["')\]]*)\s+(?=["'(\[]*[\p{Lu}¿¡□])""")
_LETTERS = regex.compile(r"\p{L}{2,}")


def split_into_sentences(pair: TextPair) -> list[TextPair]:
    """The sentences of a paragraph; none where its sides cannot be split alike.

    Both must have as many, each beside one of about its length and with as many pieces of code,
    none over the limit.
    """
    sides = [_sentences(side) for side in pair[1:]]
    if len(sides[0]) != len(sides[1]) or len(sides[0]) < 2:
        return []
    sentences = [TextPair(pair.catalogue, *both) for both in zip(*sides, strict=True)]
    fine = all(
        _marked_up_alike(one)
        and _alike_in_length(one, 1.6)
        and _words(one.english.text) <= MOST_WORDS
        for one in sentences
    )
    return sentences if fine else []


def _sentences(side: Plain) -> list[Plain]:
    code = iter(side.code)
    texts = _BETWEEN_SENTENCES.split(side.text)
    return [Plain(text, [next(code) for _ in range(text.count(CODE_SIGN))]) for text in texts]


def _marked_up_alike(pair: TextPair) -> bool:
    """Whether both sides have as much code, and no backquote is left."""
    english, spanish = pair[1:]
    return len(english.code) == len(spanish.code) and "`" not in english.text + spanish.text


def _alike_in_length(pair: TextPair, times: float) -> bool:
    """Whether no side has more than so many times the words of the other, and five."""
    short, long = sorted(len(normalised_text(side.text).split()) for side in pair[1:])
    return long <= times * short + 5


def _fault(pair: TextPair, seen: set[str]) -> str | None:
    """Why a pair is left out, one of `REASONS`; its English is remembered in `seen`."""
    english, spanish = (normalised_text(side.text) for side in pair[1:])
    if len(_LETTERS.findall(pair.english.text)) < 3 or not _LETTERS.search(pair.spanish.text):
        return "trivial"
    words, known = spanish.split(), set(english.split())
    shared = sum(word in known for word in words)
    if english == spanish or (len(words) >= 4 and shared > 0.7 * len(words)):
        return "kept"
    if not _alike_in_length(pair, 2):
        return "length"
    if english in seen:
        return "repeat"
    seen.add(english)
    return None


def part_of(catalogue: str) -> str:
    """The part of the documentation: its folder and the first word of its name.

    So library/asyncio-task.po is of the part library/asyncio.
    """
    folder, _, name = catalogue.removesuffix(".po").rpartition("/")
    return f"{folder}/{regex.split('[._-]', name)[0]}"


def _split_by_part(pairs: Iterable[TextPair]) -> dict[str, list[TextPair]]:
    """Whole parts for test, then for val, in an order like chance, until each is large enough."""
    parts: dict[str, list[TextPair]] = {}
    for pair in pairs:
        parts.setdefault(part_of(pair.catalogue), []).append(pair)
    order = sorted(parts, key=lambda part: hashlib.sha256(part.encode()).digest())
    waiting = iter([part for part in order if len(parts[part]) <= LARGEST])
    splits: dict[str, list[TextPair]] = {}
    for split, least in (("test", TEST), ("val", VAL)):
        splits[split] = []
        tens: Counter[int] = Counter()
        while any(tens[ten] < least for ten in range(MOST_WORDS // 10)):
            part = next(waiting, None)
            if part is None:
                raise ValueError(f"too few parts for {split}")
            taken = parts.pop(part)
            splits[split] += taken
            tens.update((len(tokenize(one.english.text, "en")) - 1) // 10 for one in taken)
    splits["train"] = [one for part in parts.values() for one in part]
    return splits


def _near(pairs: Sequence[TextPair], held_out: Sequence[TextPair]) -> list[bool]:
    """Of each pair whether a side is near to that of a held-out one."""
    near = np.zeros(len(pairs), dtype=bool)
    for language in (0, 1):
        texts, others = ([one[1:][language].text for one in some] for some in (held_out, pairs))
        for row in nearness(texts, others):
            near |= row >= NEAR
    return near.tolist()


def _notes(prepared: Prepared) -> list[str]:
    """What a person should know of the text before training on it."""
    counts = prepared.counts
    left_out = ", ".join(f"{counts.get(why, 0):,} {text}" for why, text in REASONS.items())
    split, sentences = (counts.get(name, 0) for name in ("split", "sentences"))
    return [
        f"{counts['entries']:,} entries in {len(CHECKSUMS)} catalogues; {split:,} paragraphs of "
        f"over {MOST_WORDS} words are split into {sentences:,} sentences",
        f"left out: {left_out}",
        f"{CODE_SIGN} stands for code that is not one word",
    ]


def _intact(path: Path) -> bool:
    try:
        return _whole(path.read_bytes())
    except OSError as error:
        raise CourseError(
            f"Cannot read {path}: {error.strerror}. Make it readable, or delete it and run "
            "`course corpus fetch python-docs`."
        ) from error


def _whole(archive: bytes) -> bool:
    """Whether an archive has every catalogue as published."""
    try:
        catalogues(archive)
    except ValueError:
        return False
    return True


def _damaged(path: Path) -> CourseError:
    return CourseError(
        f"{path} is truncated or altered: its catalogues' SHA-256 are not the published ones. "
        "Delete or replace it, then run `course corpus fetch python-docs`."
    )
