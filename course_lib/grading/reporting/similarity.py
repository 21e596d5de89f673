"""Which submissions resemble each other more than the task explains.

copydetect takes the fingerprints (winnowing, the method of MOSS): names and comments do not count,
so renamed variables change nothing. What was given out, and what many in the class wrote alike, is
no sign of anything and left out. A number is a reason to look, never a finding about a person.
"""

import io
import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from copydetect import CodeFingerprint, compare_files
from copydetect.utils import get_token_coverage
from nbformat import NotebookNode

WINDOW = 20
"""Characters that agree in a row, after names have become one letter each, before they count."""

SHARE = 0.8
"""The part of the shorter answer that has to agree before a pair is listed."""

LEAST = {"code": 60, "markdown": 120}
"""Characters an answer of its own must have to be compared at all."""

LONGEST = 20_000
"""Characters of an answer that are compared: no answer is that long, and reading it has an end."""

GLANCE = 0.2
"""The part of the windows that has to agree before a pair is compared in full."""

COMMON = 1 / 3
"""What more than this part of the class wrote alike is left out; but not what three wrote."""


@dataclass(frozen=True)
class SimilarAnswers:
    """Two answers that resemble each other.

    Attributes:
        cell: the grade id of the answer.
        share: of the shorter one's own characters, how many agree.
        length: how many characters that is.
    """

    one: str
    other: str
    cell: str
    share: float
    length: int
    one_text: str
    other_text: str


def pairs(
    answers: Mapping[str, Mapping[str, NotebookNode]], released: Mapping[str, str]
) -> list[SimilarAnswers]:
    """The pairs worth a look, the most alike first.

    Args:
        answers: student -> grade id of an answer -> its cell.
        released: grade id -> what stood there when the assignment was given out.
    """
    alike: list[SimilarAnswers] = []
    for cell in dict.fromkeys(itertools.chain.from_iterable(answers.values())):
        there = {
            student: cells[cell]
            for student, cells in sorted(answers.items())
            if cell in cells and cells[cell].source.strip() != released.get(cell, "").strip()
        }
        alike += _alike(cell, there, released.get(cell, ""))
    return sorted(alike, key=lambda pair: (-pair.share, -pair.length, pair.one, pair.other))


def _alike(cell: str, there: Mapping[str, NotebookNode], released: str) -> Iterator[SimilarAnswers]:
    prints = {
        student: _fingerprint(answer.cell_type, answer.source) for student, answer in there.items()
    }
    counts = Counter(itertools.chain.from_iterable(mark.hashes for mark in prints.values()))
    many = max(4, COMMON * len(prints))
    common = {value for value, count in counts.items() if count >= many}
    if there:
        common |= _fingerprint(next(iter(there.values())).cell_type, released).hashes
    kept = {}
    for student, mark in prints.items():
        mark.hash_idx = {value: at for value, at in mark.hash_idx.items() if value not in common}
        mark.hashes = set(mark.hash_idx)
        mark.token_coverage = get_token_coverage(mark.hash_idx, WINDOW, len(mark.filtered_code))
        if mark.token_coverage >= LEAST[there[student].cell_type]:
            kept[student] = mark
    for one, other in itertools.combinations(kept, 2):
        # a quick look first: in a large class nearly all pairs have next to nothing in common
        both = kept[one].hashes & kept[other].hashes
        if len(both) < GLANCE * min(len(kept[one].hashes), len(kept[other].hashes)):
            continue
        _, shares, _ = compare_files(kept[one], kept[other])
        share = min(1.0, float(max(shares)))
        if share >= SHARE:
            length = round(share * min(kept[one].token_coverage, kept[other].token_coverage))
            texts = there[one].source, there[other].source
            yield SimilarAnswers(one, other, cell, share, length, *texts)


def _fingerprint(kind: str, text: str) -> CodeFingerprint:
    """Every window counts (no sampling), so the result does not depend on Python's hash seed."""
    code = kind == "code"
    # a lexer goes over blank lines again and again
    text = "\n".join(line.rstrip() for line in text[:LONGEST].split("\n") if line.strip())
    text = text if code else " ".join(re.findall(r"\w+", text.casefold()))
    return CodeFingerprint(
        "answer.py", WINDOW, 1, filter=code, language="python", fp=io.StringIO(text)
    )
