"""WMT'14 English-French, the paper's own task: streamed from the public data set, prepared on disk.

The rows come from Hugging Face's data set `wmt/wmt14`, configuration `fr-en`, at a fixed commit,
through its library `datasets`; or from files of the same format in `$COURSE_DATA/wmt14/fr-en`. They
are tokenised once into the user's cache (`token_files`), and nothing of them stays in memory.

As in the paper (Section 4.1) the text is Moses-tokenised and keeps its case. Unlike there, the
training pairs are not selected: the paper took 348 of 850 million words by the method of Axelrod et
al. (2011). Validation is news-test-2013 alone, which is what the data set has; test is
news-test-2014.
"""

import hashlib
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs

from course_lib.corpora.corpus import Corpus
from course_lib.corpora.splitting import Splitting
from course_lib.corpora.token_files import (
    Row,
    TokenFiles,
    read_manifest,
    require_scale,
    write_token_files,
)
from course_lib.corpora.tokenization import PROTOCOL
from course_lib.errors import CourseError

if TYPE_CHECKING:
    import datasets

PAIRS = ("en-fr", "fr-en")
LANGUAGES = ("en", "fr")
ROWS = 40_836_715
"""Training pairs of the data set."""
REVISION = "63fc93617978079cf15dd6113093df5bc0a04a82"
HUB = f"hf://datasets/wmt/wmt14@{REVISION}/fr-en"
SPLITS = {"train": "train", "val": "validation", "test": "test"}
"""The names of the splits here and there."""
BLOCK = 1_000
SPLITTING = Splitting(lowercase=False, rules="moses")


def wmt14(pair: str = "en-fr", *, train: int = ROWS) -> Corpus:
    """The corpus with val (3,000 pairs) and test (3,003), and its training pairs as a stream.

    The first call reads and tokenises the first `train` training pairs into the cache; stopped, the
    next one goes on.
    Raises CourseError where the extra `scale` is not installed, where neither the files nor the
    network are at hand, and for rows of another format.
    """
    require_scale()
    source, target = pair.split("-")
    splits = {}
    used = {}
    for split in ("val", "test"):
        pairs = [(row[source], row[target]) for row in stream(split)]
        sides = [text for side in zip(*pairs, strict=True) for text in side]
        used[split] = hashlib.sha256("\n".join(sides).encode()).hexdigest()
        splits[split] = SPLITTING.split(cache_folder(), pairs, (source, target))
    files = training_files(train)
    return Corpus(
        name="wmt14",
        pair=pair,
        splits=splits,
        sha256={"train": files.sha256(), **used},
        lowercased=False,
        detokenize=partial(SPLITTING.text, language=target),
        rules=SPLITTING.rules,
        stream=files,
    )


def training_files(train: int = ROWS) -> TokenFiles:
    """The first `train` training pairs, tokenised; made where they are not yet."""
    return write_token_files(
        partial(stream, "train"), prepared_folder(train), LANGUAGES, train, SPLITTING.lines
    )


def verify() -> TokenFiles:
    """The prepared training pairs, every checksum compared.

    Raises CourseError where they are not all prepared, or not as they were written.
    """
    folder = prepared_folder(ROWS)
    if not read_manifest(folder)["finished"]:
        raise CourseError(
            f"wmt14 is not prepared in {folder}, or only in part. "
            "Run `course corpus fetch wmt14`; it takes hours, and can be stopped."
        )
    files = TokenFiles(folder)
    if damaged := files.damaged():
        raise CourseError(
            f"{len(damaged)} of the files in {folder} are not as they were written, "
            f"{damaged[0].name} first. Delete the folder, then run `course corpus fetch wmt14`."
        )
    return files


def prepared_folder(train: int) -> Path:
    """Where the tokens of the first `train` rows lie; another origin has another folder."""
    local = local_folder()
    origin = HUB
    if local is not None:
        files = sorted(local.glob("train-*"))
        origin = "\n".join(f"{f.name} {f.stat().st_size} {f.stat().st_mtime_ns}" for f in files)
    key = hashlib.sha256(f"{origin}\nwith its case, {PROTOCOL}\n{train}".encode()).hexdigest()
    return cache_folder() / key[:16]


def cache_folder() -> Path:
    """Where tokens are kept: the user's cache directory."""
    return Path(platformdirs.user_cache_dir("looking-back")) / "wmt14"


def local_folder() -> Path | None:
    """`$COURSE_DATA/wmt14/fr-en` with the data set's files, or None."""
    if not os.environ.get("COURSE_DATA"):
        return None
    folder = Path(os.environ["COURSE_DATA"]) / "wmt14" / "fr-en"
    return folder if folder.is_dir() else None


def stream(split: str, start: int = 0) -> Iterator[Row]:
    """The rows of a split from number `start` on, as the data set has them: text by language."""
    try:
        for block in _open(split).skip(start).iter(batch_size=BLOCK):
            for row in block.get("translation", [None]):
                yield _checked(row)
    except CourseError:
        raise
    # The library hands on the errors of every file format and network client there is.
    except Exception as error:
        where = local_folder() or "the data set's home, wmt/wmt14 at Hugging Face"
        what = str(error).partition("\n")[0].rstrip(".")
        raise CourseError(
            f"wmt14 cannot be read from {where} ({type(error).__name__}: {what}). "
            "Give the same command again when it can: what is prepared stays. Offline, put the "
            "files train-*.parquet, validation-*.parquet and test-*.parquet of configuration "
            "fr-en into $COURSE_DATA/wmt14/fr-en."
        ) from error


def _checked(row: Any) -> Row:
    if isinstance(row, dict) and all(isinstance(row.get(x), str) for x in LANGUAGES):
        return {language: row[language] for language in LANGUAGES}
    raise CourseError(
        "The rows of wmt14 are not of the form {'translation': {'en': text, 'fr': text}}. "
        "Take the files of the data set wmt/wmt14, configuration fr-en."
    )


def _open(split: str) -> "datasets.IterableDataset":
    """A split as the library streams it."""
    import datasets

    local, pattern = local_folder(), f"{SPLITS[split]}-*.parquet"
    files = [f"{HUB}/{pattern}"] if local is None else sorted(map(str, local.glob(pattern)))
    if not files:
        raise CourseError(
            f"{local} has no file {pattern}. Put the data set's files there, or unset COURSE_DATA "
            "to read them from the network."
        )
    return datasets.load_dataset("parquet", data_files={split: files}, split=split, streaming=True)
