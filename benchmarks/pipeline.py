"""The input pipeline of a corpus too large for memory: its speed, and memory against corpus size.

A synthetic corpus in the public data set's format: words drawn by Zipf's law, so that more pairs
bring ever more different words, as text does; lengths about as in WMT'14. Each stage runs in a
process of its own, whose peak memory is read; its seconds are processor time of all its threads, so
that what else the machine does counts for little.
"""

import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.machine import about
from benchmarks.rounds import peak_memory
from course_lib.corpora.batches import make_batch
from course_lib.corpora.streaming import StreamedBatches, counted_blocks, stream_vocabulary
from course_lib.corpora.token_files import Row, TokenFiles, require_scale, write_token_files
from course_lib.corpora.wmt14 import SPLITTING
from course_lib.training.recipe import RECIPES

LANGUAGES = ("en", "fr")
SIZES = (50_000, 500_000, 5_000_000)
TOKENISED = 500_000
"""Sentence pairs of the largest corpus that is tokenised; a larger one takes too long here."""
EXPONENT = 1.15
"""Of Zipf's law; with it 100 million words are some millions of different ones."""
BLOCK = 50_000
MIB = 2**20


class Stage(NamedTuple):
    """What one process did."""

    seconds: float  # processor time
    target_words: int
    peak: int  # bytes


def measure_pipeline(sizes: tuple[int, ...] = SIZES) -> dict[str, Any]:
    """Every stage at every size: so many sentence pairs."""
    require_scale()
    rows = []
    for pairs in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_public(folder / "public", pairs)
            tokenising = (tokenise,) if pairs <= TOKENISED else ()
            for stage in (*tokenising, write_tokens, count, batches):
                done = alone(stage, folder, pairs)
                rows.append(
                    {
                        "pairs": pairs,
                        "stage": STAGES[stage.__name__],
                        "seconds": done.seconds,
                        "target_words_a_second": done.target_words / done.seconds,
                        "peak_mib": done.peak / MIB,
                    }
                )
    read = [row for row in rows if row["stage"] == STAGES["batches"]]
    ours = min(row["target_words_a_second"] for row in read)
    return {
        "what": "pipeline",
        "unit": "target words a second",
        "threads": 1,
        "ours": ours,
        "memory_growth": read[-1]["peak_mib"] / read[0]["peak_mib"],
        "rows": rows,
        **about(),
    }


def alone(work: Callable[..., Stage], *arguments: Any) -> Stage:
    """The result of `work` in a fresh process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def write_public(folder: Path, pairs: int) -> None:
    """A corpus in the public data set's format: words between spaces, and a full stop."""
    import pyarrow
    import pyarrow.parquet as parquet
    from pyarrow import compute

    folder.mkdir(parents=True)
    draw = np.random.default_rng(0)
    for number, start in enumerate(range(0, pairs, BLOCK)):
        size = min(BLOCK, pairs - start)
        # About 26 words, some above the paper's 50, as in WMT'14.
        english = np.clip(draw.gamma(2.2, 11.5, size).astype(int), 1, 120)
        french = np.clip((english * draw.normal(1.15, 0.15, size)).astype(int), 1, 120)
        columns = []
        for letter, lengths in zip("ef", (english, french), strict=True):
            ranks = np.minimum(draw.zipf(EXPONENT, lengths.sum()), 10**9)
            words = compute.binary_join_element_wise(letter, pyarrow.array(ranks.astype(str)), "")
            starts = pyarrow.array(np.concatenate(([0], np.cumsum(lengths))), pyarrow.int32())
            lists = pyarrow.ListArray.from_arrays(starts, words)
            text = compute.binary_join(lists, " ")
            columns.append(compute.binary_join_element_wise(text, ".", ""))
        text = pyarrow.StructArray.from_arrays(columns, list(LANGUAGES))
        table = pyarrow.table({"translation": text})
        parquet.write_table(table, folder / f"train-{number:05}.parquet", row_group_size=1_000)


def tokenise(folder: Path, pairs: int) -> Stage:
    """Stream the public files, tokenise them in one process and write the token files."""
    return _prepared(folder, "tokenised", pairs, SPLITTING.lines)


def write_tokens(folder: Path, pairs: int) -> Stage:
    """The same with a tokeniser that takes no time: what streaming and writing take."""
    return _prepared(folder, "tokens", pairs, cut)


def cut(texts: list[str], language: str) -> list[str]:
    """What `tokenise` makes of text that `write_public` made."""
    return [f"{text.removesuffix('.')} ." for text in texts]


def _prepared(
    folder: Path, name: str, pairs: int, tokeniser: Callable[[list[str], str], list[str]]
) -> Stage:
    import datasets

    started = time.process_time()

    def rows_from(start: int) -> Iterator[Row]:
        files = [str(path) for path in sorted((folder / "public").glob("train-*"))]
        stream = datasets.load_dataset(
            "parquet", data_files={"train": files}, split="train", streaming=True
        )
        for block in stream.skip(start).iter(batch_size=1_000):
            yield from block["translation"]

    files = write_token_files(
        rows_from, folder / name, LANGUAGES, pairs, workers=1, tokenise=tokeniser
    )
    seconds = time.process_time() - started
    peak = peak_memory()
    return Stage(seconds, target_words(files), peak)


def target_words(files: TokenFiles) -> int:
    """French words of a prepared corpus, end marks included."""
    return sum(sum(block.values()) for block in counted_blocks(files, "fr")) + len(files)


def count(folder: Path, pairs: int) -> Stage:
    """Count the words of both languages."""
    files = TokenFiles(folder / "tokens")
    started = time.process_time()
    for language in LANGUAGES:
        stream_vocabulary(files, language, 1, RECIPES["paper"].max_words)
    seconds = time.process_time() - started
    peak = peak_memory()
    return Stage(seconds, target_words(files), peak)


def batches(folder: Path, pairs: int) -> Stage:
    """One epoch of padded minibatches, with the paper's size and length."""
    files = TokenFiles(folder / "tokens")
    recipe = RECIPES["paper"]
    words = tuple(stream_vocabulary(files, x, 1, recipe.max_words) for x in LANGUAGES)
    stream = StreamedBatches(
        files, ("en", "fr"), (words[0], words[1]), 0, recipe.max_length, recipe.batch_size
    )
    started = time.process_time()
    predicted = 0
    for minibatch in stream.epoch(0):
        batch = make_batch(minibatch, range(len(minibatch)))
        predicted += int(batch.target_mask.sum())
    seconds = time.process_time() - started
    return Stage(seconds, predicted, peak_memory())


STAGES = {
    "tokenise": "stream rows, tokenise, write token files",
    "write_tokens": "the same without tokenising",
    "count": "count words",
    "batches": "one epoch of minibatches",
}
