"""A corpus too large for memory: its tokens in files of equal length, written once, read in order.

A folder has `00000.parquet`, `00001.parquet`, ... with a column of text a language, tokens between
single spaces, and `manifest.json`, which says what each file holds. Files are written whole and in
order, so a preparation that was stopped goes on with the next one.
"""

import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from filelock import FileLock
from tqdm import tqdm

from course_lib.errors import CourseError
from course_lib.files import sha256_of, write_atomically

if TYPE_CHECKING:
    import pyarrow

FILE_ROWS = 50_000
"""Sentence pairs of the corpus that go into one file; what is held in memory while writing."""
MANIFEST = "manifest.json"
CHUNK = 1_000

Row = dict[str, str]
"""A sentence pair as the public data set has it: its text by language."""


@dataclass(frozen=True)
class TokenFiles:
    """The prepared files of one corpus; the longer side of a pair decides its length."""

    folder: Path

    @cached_property
    def _files(self) -> list[dict[str, Any]]:
        files: list[dict[str, Any]] = read_manifest(self.folder)["files"]
        return files

    def __len__(self) -> int:
        return self.pairs()

    def paths(self) -> list[Path]:
        """The files, in the order of the corpus."""
        return [file_path(self.folder, number) for number in range(len(self._files))]

    def pairs(self, max_length: int | None = None) -> int:
        """Sentence pairs of at most `max_length` words on the longer side, or all of them."""
        end = None if max_length is None else max_length + 1
        return sum(sum(entry["pairs"][:end]) for entry in self._files)

    def sha256(self) -> str:
        """One checksum for the tokens of all files."""
        return hashlib.sha256("".join(e["sha256"] for e in self._files).encode()).hexdigest()

    def damaged(self) -> list[Path]:
        """The files that are missing or no longer what was written."""
        return [
            path
            for path, entry in zip(self.paths(), self._files, strict=True)
            if not path.is_file() or sha256_of(path) != entry["sha256"]
        ]

    def blocks(
        self, languages: Sequence[str], order: Sequence[int] | None = None, rows: int = 10_000
    ) -> "Iterator[pyarrow.RecordBatch]":
        """Blocks of at most `rows` pairs, the files in `order`; a column of text a language."""
        import pyarrow.parquet as parquet
        from pyarrow import ArrowException

        paths = self.paths()
        for number in range(len(paths)) if order is None else order:
            try:
                with parquet.ParquetFile(paths[number]) as file:
                    yield from file.iter_batches(rows, columns=list(languages))
            except (OSError, ArrowException) as error:
                raise CourseError(
                    f"{paths[number]} is missing or damaged. Delete {self.folder}: it is prepared "
                    "again at the next start."
                ) from error


def require_scale() -> None:
    """Refuse a corpus larger than memory, before any work, where what reads it is not installed.

    Raises:
        CourseError: a package of the extra `scale` is missing.
    """
    if any(find_spec(name) is None for name in ("datasets", "pyarrow")):
        raise CourseError(
            "A text larger than memory is read with packages that the course does not bring by "
            f'itself. Run: {sys.executable} -m pip install "datasets>=4" "pyarrow>=16"'
        )


def file_path(folder: Path, number: int) -> Path:
    """Where the file with this number lies."""
    return folder / f"{number:05}.parquet"


def read_manifest(folder: Path) -> dict[str, Any]:
    """What is known of a folder: its files so far, and whether they are all."""
    path = folder / MANIFEST
    if not path.is_file():
        return {"finished": False, "files": []}
    try:
        manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise CourseError(
            f"{path} is damaged. Delete {folder}: it is prepared again at the next start."
        ) from error
    return manifest


def write_token_files(
    rows_from: Callable[[int], Iterable[Row]],
    folder: Path,
    languages: Sequence[str],
    total: int,
    tokenise: Callable[[list[str], str], list[str]],
    workers: int | None = None,
) -> TokenFiles:
    """Tokenise up to `total` pairs of a corpus into `folder`, and hand back what lies there.

    Pairs of which a side is empty are left out. Memory is that of one file, however long the corpus
    is. Stopped at any moment, the next call goes on with the first file that is missing. Of several
    processes that call at once one does it, and the others wait.

    Args:
        rows_from: the corpus from the row with this number (from 0) on.
        folder: where to write; belongs to this corpus alone.
        languages: the columns, which are also the languages whose rules split the text.
        total: rows to read at most.
        tokenise: makes lines of tokens from lines of text in a language.
        workers: processes that tokenise; as many as there are cores by default. A corpus of less
            than a file needs none.

    Raises:
        CourseError: a package of the extra `scale` is missing, or what lies there is damaged.
    """
    require_scale()
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "preparing"), ExitStack() as stack:
        manifest = read_manifest(folder)
        if manifest["finished"]:
            return TokenFiles(folder)
        done = len(manifest["files"])
        rows = iter(rows_from(done * FILE_ROWS))
        workers = workers or os.cpu_count() or 1
        pool: Executor | None = None
        bar = stack.enter_context(
            tqdm(
                desc="tokenising",
                total=total,
                initial=done * FILE_ROWS,
                unit=" pairs",
                unit_scale=True,
                disable=None,
            )
        )
        while not manifest["finished"]:
            chunk = list(islice(rows, min(FILE_ROWS, total - done * FILE_ROWS)))
            if len(chunk) == FILE_ROWS and pool is None and workers > 1:
                # A fresh process, not a copy of this one: a copy would hold torch's locks.
                pool = stack.enter_context(
                    ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
                )
            if chunk:
                columns = {x: _column(chunk, x, pool, tokenise) for x in languages}
                manifest["files"].append(_write(file_path(folder, done), columns))
                done += 1
                bar.update(len(chunk))
            manifest["finished"] = len(chunk) < FILE_ROWS or done * FILE_ROWS >= total
            write_atomically(folder / MANIFEST, json.dumps(manifest) + "\n")
        return TokenFiles(folder)


def _column(
    chunk: list[Row],
    language: str,
    pool: Executor | None,
    tokenise: Callable[[list[str], str], list[str]],
) -> list[str]:
    texts = [row[language] for row in chunk]
    parts = [texts[i : i + CHUNK] for i in range(0, len(texts), CHUNK)]
    run = map if pool is None else pool.map
    return [line for part in run(tokenise, parts, [language] * len(parts)) for line in part]


def _write(path: Path, columns: dict[str, list[str]]) -> dict[str, Any]:
    """One file, in one step; what the manifest says of it."""
    import pyarrow
    import pyarrow.parquet as parquet

    kept = [row for row in zip(*columns.values(), strict=True) if all(row)]
    longer = np.array([max(text.count(" ") + 1 for text in row) for row in kept], dtype=np.int64)
    sink = pyarrow.BufferOutputStream()
    table = pyarrow.table(
        {
            language: pyarrow.array([row[i] for row in kept], pyarrow.string())
            for i, language in enumerate(columns)
        }
    )
    parquet.write_table(table, sink, compression="zstd", row_group_size=10_000)
    data = sink.getvalue().to_pybytes()
    write_atomically(path, data)
    return {
        "sha256": hashlib.sha256(data).hexdigest(),
        "pairs": np.bincount(longer).tolist(),  # by length
    }
