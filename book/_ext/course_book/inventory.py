"""Which teaching device stands where: the table of the page on writing chapters."""

import re
from collections.abc import Iterator
from pathlib import Path

from .source import Block, read, title

DEVICES = {
    "objectives": "Objectives",
    "predict": "Predict first",
    "failure first": "Failure before the cure",
    "by hand": "Worked by hand",
    "side-by-side": "Equation, line, shape",
    "shape check": "Shape check",
    "bug": "Spot the bug",
    "misconception": "Misconception",
    "quiz": "Quiz",
    "exercise": "Exercise",
    "takeaways": "Take-aways",
    "explain": "Explain it to a peer",
}
"""Every device in the order of the table: what a page's source calls it, what readers see."""

MARKED = re.compile(r"^% device: (?P<name>.+)$")
"""What is no directive of its own is marked by such a comment, which is not rendered."""

SHAPE_CHECK = re.compile(r"^\s*assert .*\.shape\b|^\s*assert .*\bshape\(", re.MULTILINE)


def devices(page: Block) -> Iterator[tuple[str, str]]:
    """Each device of a page with the heading it stands under, from top to bottom."""
    section = "top of the page"
    for item in page.items:
        if isinstance(item, str):
            heading = re.match(r"##+ (.+)", item)
            marked = MARKED.match(item)
            if heading:
                section = heading[1].strip()
            elif marked:
                if marked["name"] not in DEVICES:
                    raise ValueError(f"`{item}`: no such device. Known: {', '.join(DEVICES)}.")
                yield marked["name"], section
            continue
        if item.name == "code-cell" and SHAPE_CHECK.search("\n".join(item.lines)):
            yield "shape check", section
        for block in (item, *item.all(*DEVICES, "exercise-start")):
            name = block.name.removesuffix("-start")
            if name in DEVICES:
                yield name, section


def table(chapter: Path) -> list[str]:
    """One chapter's table in Markdown: a device a row, the sections that have it."""
    _, page = read(chapter)
    places: dict[str, dict[str, int]] = {}
    for name, section in devices(page):
        counts = places.setdefault(name, {})
        counts[section] = counts.get(section, 0) + 1
    lines = [f"### {title(page)}", "", "| Device | Where it stands |", "| --- | --- |"]
    for name, label in DEVICES.items():
        where = "; ".join(
            section if n == 1 else f"{section} ({n})" for section, n in places.get(name, {}).items()
        )
        if where:
            lines.append(f"| {label} | {where} |")
    return [*lines, ""]


def with_tables(text: str, chapters: list[Path]) -> str:
    """The page with everything between its two marks written anew."""
    begin, end = "<!-- devices -->", "<!-- /devices -->"
    head, rest = text.split(begin)
    _, tail = rest.split(end)
    lines = [line for chapter in chapters for line in table(chapter)]
    return f"{head}{begin}\n\n" + "\n".join(lines) + f"\n{end}{tail}"
