"""Multi30k: image captions in English, German and French, 29,000 pairs to train on.

The files are looked for in `$COURSE_DATA/multi30k`, then in the user's cache, and are otherwise
downloaded from the data set's own repository at a fixed commit. Each is checked against its SHA-256
on every load. Tokens are kept in the user's cache, because Moses' rules take seconds in Python.
"""

import gzip
import hashlib
import os
import zlib
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

import platformdirs

from course_lib.corpora.corpus import Corpus, Split
from course_lib.corpora.download import download
from course_lib.corpora.token_cache import cached_tokens
from course_lib.corpora.tokenization import PROTOCOL, detokenize, tokenize
from course_lib.errors import CourseError
from course_lib.files import sha256_of

PAIRS = ("en-de", "de-en", "en-fr", "fr-en")
REQUIRED_SPLITS = ("train", "val", "test_2016_flickr")
OPTIONAL_SPLITS = ("test_2017_flickr", "test_2017_mscoco", "test_2018_flickr")

COMMIT = "a3d2e0d26b56f3846f66a952536ffed4e401d05a"
URL = f"https://raw.githubusercontent.com/multi30k/dataset/{COMMIT}/data/task1/raw"

CHECKSUMS = {
    "train.en.gz": "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f",
    "train.de.gz": "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6",
    "train.fr.gz": "622e75069e9f4c577425c4f277116ce66e63a2401c0a2312d90073cb12379a3c",
    "val.en.gz": "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28",
    "val.de.gz": "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a",
    "val.fr.gz": "ca3106f1a72390591d25f6c45cb4cd39dec4cd3f123e099748a3ce5256c160e9",
    "test_2016_flickr.en.gz": "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9",
    "test_2016_flickr.de.gz": "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8",
    "test_2016_flickr.fr.gz": "6d326e188d259fb1d04ac19eae3af956559b3a0b93d7635e56c90987c40c8b90",
    "test_2017_flickr.en.gz": "76a444ee25172e72695cddb13ae4a3bda59430617be88e0bb46b60504f054074",
    "test_2017_flickr.de.gz": "a2c89666db00c495cd8513b9d708d5a3acc205d7de312ef2bf5fb7ebc1540aee",
    "test_2017_flickr.fr.gz": "3ba671ceb2299f3304ffafefea7a833d08632fbaf0ba18546f8a2ec2391af496",
    "test_2017_mscoco.en.gz": "aab300bfb4427697987e02cd0aacd44bfe8aa50456231b6474c08038bbed2b58",
    "test_2017_mscoco.de.gz": "799e4854c25d601cb6cb6be29eabe5667734c61ace2f495e03e429031a0bc338",
    "test_2017_mscoco.fr.gz": "754f3072ba9f124569ba5258b32730fc1d214bbf8e0c6dfb2b74401676220db0",
    "test_2018_flickr.en.gz": "ef4f4844037d4c5dea75c9a8ed5fd78905967a26f67c255e230cc9780032654d",
    "test_2018_flickr.de.gz": "ddd0130c7d97482dc5197a02141dae8dd79f20f03586c480d675c09a32daf608",
    "test_2018_flickr.fr.gz": "fb2b83fcceb937a4f7e3e93c1c51c22aba92f1e342391e6b5ba392b16a920501",
}
"""SHA-256 of every file this course reads, as in the data set's repository at `COMMIT`."""


State = Literal["ok", "missing", "damaged", "mismatched"]


class FileState(NamedTuple):
    """The state of one file, and its path, which is None where it is missing."""

    name: str
    path: Path | None
    state: State
    required: bool


def multi30k(
    pair: str = "en-de", *, checksums: Mapping[str, str] = CHECKSUMS, url: str = URL
) -> Corpus:
    """The corpus with its splits train (29,000 pairs), val (1,014) and test_2016_flickr (1,000).

    The later test sets are added where their files are at hand (`fetch` gets them all); required
    files that are missing are downloaded. `checksums` names the files (`SPLIT.LANGUAGE.gz`) and
    their SHA-256, `url` is the folder they are published in. Tokens are lower-cased, normalised and
    Moses-tokenised; references are the target lines as published, with their case.
    Raises CourseError for an unknown pair and for a missing, damaged or mismatched file.
    """
    if pair not in PAIRS:
        raise CourseError(f"multi30k has no pair {pair!r}. Choose one of {', '.join(PAIRS)}.")
    source, target = pair.split("-")
    required = [f"{split}.{side}.gz" for split in REQUIRED_SPLITS for side in (source, target)]
    fetch((name for name in required if locate(name) is None), checksums=checksums, url=url)

    splits: dict[str, Split] = {}
    used: dict[str, str] = {}
    for split in (*REQUIRED_SPLITS, *OPTIONAL_SPLITS):
        names = [f"{split}.{language}.gz" for language in (source, target)]
        if split in OPTIONAL_SPLITS and not all(n in checksums and locate(n) for n in names):
            continue
        texts = [_lines(name, checksums[name]) for name in names]
        if len(texts[0]) != len(texts[1]):
            raise CourseError(
                f"{locate(names[0])} has {len(texts[0]):,} lines and {locate(names[1])} "
                f"{len(texts[1]):,}: they are not translations of each other. "
                "Delete both, then run `course corpus fetch multi30k`."
            )
        tokens = [
            _tokens(name, checksums[name], text) for name, text in zip(names, texts, strict=True)
        ]
        splits[split] = Split(source=tokens[0], target=tokens[1], links=None, reference=texts[1])
        used |= {name: checksums[name] for name in names}
    return Corpus(
        name="multi30k",
        pair=pair,
        splits=splits,
        sha256=used,
        lowercased=True,
        detokenize=partial(detokenize, language=target),
    )


def cache_folder() -> Path:
    """Where downloaded files and tokens are kept: the user's cache directory."""
    return Path(platformdirs.user_cache_dir("looking-back")) / "multi30k"


def locate(name: str) -> Path | None:
    """The file's path in `$COURSE_DATA/multi30k` or else the cache; None where neither has it."""
    folders = [cache_folder()]
    if os.environ.get("COURSE_DATA"):
        folders.insert(0, Path(os.environ["COURSE_DATA"]) / "multi30k")
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


def fetch(
    names: Iterable[str] | None = None,
    *,
    checksums: Mapping[str, str] = CHECKSUMS,
    url: str = URL,
) -> list[Path]:
    """Have these files (all of `checksums` by default) on disk, checked; returns their paths.

    Files at hand with the right SHA-256 are left alone; the others are downloaded into the cache,
    resumed where an earlier call stopped. Raises CourseError that names the missing files and where
    to put them by hand; a damaged file outside the cache is the user's own and is not overwritten.
    """
    wanted = list(checksums if names is None else names)
    paths = []
    for position, name in enumerate(wanted):
        path = locate(name)
        if path is None or not _intact(path, checksums[name]):
            if path is not None and path.parent != cache_folder():
                raise _damaged(path)
            path = cache_folder() / name
            try:
                download(f"{url}/{name}", path, checksums[name])
            except CourseError as error:
                missing = [other for other in wanted[position:] if locate(other) is None] or [name]
                needless = all(other.split(".")[0] in OPTIONAL_SPLITS for other in missing)
                raise CourseError(
                    f"{error} Run the command again to resume; offline, get {', '.join(missing)} "
                    "from the same address on another machine and put them into "
                    f"{cache_folder()} (or into $COURSE_DATA/multi30k)."
                    + (" Only later test sets are missing: training needs none." * needless)
                ) from error
        paths.append(path)
    return paths


def verify(*, checksums: Mapping[str, str] = CHECKSUMS) -> list[FileState]:
    """Check every file at hand: SHA-256 first, then that a split's languages have as many lines."""
    states: list[FileState] = []
    lengths: dict[str, set[int]] = {split: set() for split in (*REQUIRED_SPLITS, *OPTIONAL_SPLITS)}
    for name, checksum in checksums.items():
        split = name.split(".")[0]
        path = locate(name)
        state: State = "missing"
        if path is not None:
            state = "ok" if _intact(path, checksum) else "damaged"
        if state == "ok":
            lengths[split].add(len(_lines(name, checksum)))
        states.append(FileState(name, path, state, split in REQUIRED_SPLITS))
    return [
        entry._replace(state="mismatched")
        if entry.state == "ok" and len(lengths[entry.name.split(".")[0]]) > 1
        else entry
        for entry in states
    ]


def _intact(path: Path, checksum: str) -> bool:
    try:
        return sha256_of(path) == checksum
    except OSError as error:
        raise CourseError(
            f"Cannot read {path}: {error.strerror}. Make it readable, or delete it and run "
            "`course corpus fetch multi30k`."
        ) from error


def _damaged(path: Path) -> CourseError:
    where = (
        "Run `course corpus fetch multi30k` to replace it."
        if path.parent == cache_folder()
        else "Delete or replace it, then run `course corpus fetch multi30k`."
    )
    return CourseError(
        f"{path} is truncated or altered: its SHA-256 is not the published one. {where}"
    )


def _lines(name: str, checksum: str) -> list[str]:
    """The file's lines as published, stripped of the space around them."""
    path = locate(name)
    if path is None:
        raise CourseError(f"multi30k's {name} is missing. Run `course corpus fetch multi30k`.")
    if not _intact(path, checksum):
        raise _damaged(path)
    try:
        text = gzip.decompress(path.read_bytes()).decode("utf-8")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise CourseError(
            f"{path} is not gzip-compressed UTF-8 text. Delete it, then run "
            "`course corpus fetch multi30k`."
        ) from error
    return [line.strip() for line in text.removesuffix("\n").split("\n")]


def _tokens(name: str, checksum: str, lines: list[str]) -> list[list[str]]:
    """The lines' tokens, from the cache where an undamaged entry for exactly this text is there."""
    language = name.split(".")[1]
    key = hashlib.sha256(f"{checksum} {language} {PROTOCOL}".encode()).hexdigest()
    entry = cache_folder() / f"{name.removesuffix('.gz')}.{key[:16]}.tokens"
    return cached_tokens(entry, lines, lambda line: tokenize(line, language))
