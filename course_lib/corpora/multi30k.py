"""Multi30k: image captions in English, German and French, 29,000 pairs to train on.

The files are looked for in `$COURSE_DATA/multi30k`, then in the user's cache, and are otherwise
downloaded from the data set's own repository at a fixed commit. Each is checked against its SHA-256
on every load. Tokens are kept in the user's cache, because Moses' rules take seconds in Python.
"""

import gzip
import os
from collections.abc import Iterable
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Literal, NamedTuple

import platformdirs

from course_lib.corpora.corpus import Corpus, Split
from course_lib.corpora.download import download
from course_lib.corpora.splitting import PUBLISHED
from course_lib.errors import CourseError
from course_lib.files import sha256_of

PAIRS = ("en-de", "de-en", "en-fr", "fr-en")
REQUIRED_SPLITS = ("train", "val", "test_2016_flickr")
OPTIONAL_SPLITS = ("test_2017_flickr", "test_2017_mscoco", "test_2018_flickr")

COMMIT = "a3d2e0d26b56f3846f66a952536ffed4e401d05a"
URL = f"https://raw.githubusercontent.com/multi30k/dataset/{COMMIT}/data/task1/raw"

_TABLE = (files(__package__) / "multi30k.sha256").read_text(encoding="utf-8")
CHECKSUMS = {name: checksum for checksum, name in map(str.split, _TABLE.splitlines())}
"""SHA-256 of every file this course reads, as in the data set's repository at `COMMIT`."""


Intactness = Literal["ok", "missing", "damaged"]


class FileState(NamedTuple):
    """The state of one file, and its path, which is None where it is missing."""

    name: str
    path: Path | None
    state: Intactness
    required: bool


def multi30k(pair: str = "en-de") -> Corpus:
    """The corpus with its splits train (29,000 pairs), val (1,014) and test_2016_flickr (1,000).

    The later test sets are added where their files are at hand (`fetch` gets them all); required
    files that are missing are downloaded. Tokens are lower-cased, normalised and Moses-tokenised;
    references are the target lines as published, with their case.
    Raises CourseError for a file that cannot be had, or is damaged.
    """
    source, target = pair.split("-")
    required = [f"{split}.{side}.gz" for split in REQUIRED_SPLITS for side in (source, target)]
    fetch(name for name in required if locate(name) is None)
    splits: dict[str, Split] = {}
    used: dict[str, str] = {}
    for split in (*REQUIRED_SPLITS, *OPTIONAL_SPLITS):
        names = [f"{split}.{language}.gz" for language in (source, target)]
        paths = [path for name in names if (path := locate(name)) is not None]
        if len(paths) == 2:
            pairs = list(zip(*map(_lines, paths), strict=True))
            splits[split] = PUBLISHED.split(cache_folder(), pairs, (source, target))
            used |= {name: CHECKSUMS[name] for name in names}
    return Corpus(
        name="multi30k",
        pair=pair,
        splits=splits,
        sha256=used,
        lowercased=True,
        detokenize=partial(PUBLISHED.text, language=target),
        rules=PUBLISHED.rules,
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


def fetch(names: Iterable[str] | None = None) -> list[Path]:
    """Have these files (all by default) on disk, checked; returns their paths.

    Files at hand with the right SHA-256 are left alone; the others are downloaded into the cache,
    resumed where an earlier call stopped. Raises CourseError that names the missing files and where
    to put them by hand; a damaged file outside the cache is the user's own and is not overwritten.
    """
    wanted = list(CHECKSUMS if names is None else names)
    paths = []
    for position, name in enumerate(wanted):
        path = locate(name)
        if path is None or not _intact(path):
            if path is not None and path.parent != cache_folder():
                raise _damaged(path)
            path = cache_folder() / name
            try:
                download(f"{URL}/{name}", path, CHECKSUMS[name])
            except CourseError as error:
                missing = [other for other in wanted[position:] if locate(other) is None] or [name]
                needless = all(other.startswith(OPTIONAL_SPLITS) for other in missing)
                raise CourseError(
                    f"{error} Run the command again to resume; offline, get {', '.join(missing)} "
                    "from the same address on another machine and put them into "
                    f"{cache_folder()} (or into $COURSE_DATA/multi30k)."
                    + (" Only later test sets are missing: training needs none." * needless)
                ) from error
        paths.append(path)
    return paths


def verify() -> list[FileState]:
    """Check the SHA-256 of every file at hand."""
    states = []
    for name in CHECKSUMS:
        path = locate(name)
        state: Intactness = "missing"
        if path is not None:
            state = "ok" if _intact(path) else "damaged"
        states.append(FileState(name, path, state, name.startswith(REQUIRED_SPLITS)))
    return states


def _intact(path: Path) -> bool:
    try:
        return sha256_of(path) == CHECKSUMS[path.name]
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


def _lines(path: Path) -> list[str]:
    """The file's lines as published, stripped of the space around them."""
    if not _intact(path):
        raise _damaged(path)
    text = gzip.decompress(path.read_bytes()).decode("utf-8")
    return [line.strip() for line in text.removesuffix("\n").split("\n")]
