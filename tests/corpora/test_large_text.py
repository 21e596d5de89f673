"""A text far larger than memory should be: what checking, splitting and batching it holds at once.

Its words are drawn, a few of them often, as in any language. Each measurement is a process of its
own, and what it says is its largest share of real memory, which Linux keeps.
"""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

PEAKS = """
import json, os, re, sys
from pathlib import Path
os.cpu_count = lambda: 1  # tokenising processes would be counted apart
from course_lib.corpora import own_text, token_files
from course_lib.corpora.text_checker import TextChecker, check
from course_lib.corpora.streaming import stream_vocabulary
from course_lib.corpora.streaming import StreamedBatches

path, cache, rows = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
own_text.cache_folder = lambda: cache
own_text.IN_MEMORY, token_files.FILE_ROWS = 3 * rows, rows

def peak():
    return 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])

found = {"start": peak()}
assert check(TextChecker(own_text.OwnText(Path(path), ("und", "und")))) == []
found["check"] = peak()
corpus = own_text.own_corpus(path, "en-es")
found["split"] = peak()
words = tuple(stream_vocabulary(corpus.stream, x, max_words=30_000) for x in ("en", "es"))
found["vocabulary"] = peak()
batches = StreamedBatches(corpus.stream, ("en", "es"), words, 0, 50, rows // 500)
assert sum(map(len, batches.epoch(0))) == len(corpus.stream)
found["epoch"] = peak()
print(json.dumps(found))
"""


def write_table(path: Path, lines: int) -> None:
    """Short sentences of 5,000 words a side, as a table."""
    draw = random.Random(0)
    sides = [
        [start + "".join(draw.choices(letters, k=draw.randint(2, 8))) for _ in range(5_000)]
        for start, letters in (("w", "abcdefghijklmnop"), ("v", "qrstuzyxabcdef"))
    ]
    with path.open("w", encoding="utf-8") as table:
        for _ in range(lines):
            places = [int(5_000 * draw.random() ** 4) for _ in range(draw.randint(4, 9))]
            rows = (" ".join(words[place] for place in places) for words in sides)
            table.write("\t".join(rows) + "\n")


def peaks(folder: Path, lines: int, rows: int) -> dict[str, int]:
    """Bytes after each step, for a table of so many lines."""
    path, cache = folder / f"{lines}.tsv", folder / f"cache{lines}"
    write_table(path, lines)
    command = [sys.executable, "-W", "ignore", "-c", PEAKS, str(path), str(cache), str(rows)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    path.unlink()
    return json.loads(done.stdout)


@pytest.mark.slow
def test_eleven_times_the_lines_take_little_more_memory(tmp_path: Path) -> None:
    """A hash of 8 bytes a pair is kept, sorted and compared; a line as two strings takes 250."""
    small, large = (peaks(tmp_path, lines, 2_000) for lines in (10_000, 110_000))
    assert large["epoch"] - small["epoch"] < 120 * 100_000


@pytest.mark.slow
def test_five_million_lines_are_read_in_bounded_memory(tmp_path: Path) -> None:
    found = peaks(tmp_path, 5_000_000, 50_000)
    print({step: f"{size / 2**20:.0f} MiB" for step, size in found.items()})
    assert found["check"] - found["start"] < 100 * 2**20
    assert found["epoch"] < 1.5 * 2**30
