"""Gold word alignments: sure and possible links, and the usual text format for them.

One sentence a line, its links separated by spaces: `i-j` is a sure link between source word i and
target word j, `ipj` or `i?j` a possible one. A line without links is a sentence without links. The
difference is Och and Ney's (2003, Section 6): annotators agree on sure links; possible ones are
links that an alignment may have and need not, as inside idioms and free translations.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from course_lib.corpora.corpus import Link
from course_lib.errors import CourseError

FEW = 10
"""Sentences with links, from which on none at a first word is worth a question."""
PATTERN = re.compile(r"(\d+)([-p?])(\d+)", re.ASCII)


@dataclass(frozen=True)
class GoldLinks:
    """The gold links of one sentence pair. `possible` always contains the sure ones as well."""

    sure: frozenset[Link]
    possible: frozenset[Link] = frozenset()

    def __post_init__(self) -> None:
        object.__setattr__(self, "possible", self.possible | self.sure)


def parse_links(line: str) -> GoldLinks:
    """The links of one line, positions counted from 0, source first.

    A link that is there twice counts once, and as a sure one if it ever is. Anything else on the
    line is a CourseError.
    """
    sure: set[Link] = set()
    possible: set[Link] = set()
    for word in line.split():
        match = PATTERN.fullmatch(word)
        if match is None:
            raise CourseError(
                f"{word!r} is not a link. Write sure links as 3-4 and possible ones as 3p4 or 3?4."
            )
        link = (int(match[1]), int(match[3]))
        (sure if match[2] == "-" else possible).add(link)
    return GoldLinks(frozenset(sure), frozenset(possible))


def read_links(path: Path | str) -> list[GoldLinks]:
    """A file of links, one entry a line; see `parse_links`. Errors name the file and the line."""
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise CourseError(
            f"{path} is not a text file of links. Give one sentence a line, as in `0-0 1p2`."
        ) from error
    links = []
    for number, line in enumerate(lines, 1):
        try:
            links.append(parse_links(line))
        except CourseError as error:
            raise CourseError(f"{path} line {number}: {error}") from error
    return links


def counted_from_one(gold: Sequence[GoldLinks]) -> str | None:
    """A question where no link touches a first word, as if positions were counted from 1."""
    linked = [links.possible for links in gold if links.possible]
    if len(linked) < FEW or any(0 in link for links in linked for link in links):
        return None
    return (
        f"no link of {len(linked)} sentences touches a first word. Are positions counted from 1? "
        "Here they count from 0"
    )


def check_links(
    gold: Sequence[GoldLinks],
    source: Sequence[Sequence[str]],
    target: Sequence[Sequence[str]],
    name: str,
) -> None:
    """Refuse gold links that cannot belong to these sentence pairs; `name` is the file's."""
    if not len(gold) == len(source) == len(target):
        raise CourseError(
            f"{name} has links for {len(gold)} sentences, but there are {len(source)} sentence "
            "pairs. Give one line for each pair, an empty one for a pair without links."
        )
    for number, (links, x, y) in enumerate(zip(gold, source, target, strict=True), 1):
        for i, j in sorted(links.possible):
            if i >= len(x) or j >= len(y):
                raise CourseError(
                    f"{name} line {number}: a link from word {i} to word {j}, counted from 0, in a "
                    f"pair of {len(x)} and {len(y)} words. Check which side is the source, and "
                    "whether positions count from 0 or 1."
                )
