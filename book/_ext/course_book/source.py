"""A page's MyST source as a tree of directives, for whatever reads pages without building them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

FENCE = re.compile(r"^\s*(?P<marks>`{3,}|:{3,})(?:\{(?P<name>[\w-]+)\})?\s*(?P<rest>.*?)\s*$")
VERBATIM = ("code", "code-cell", "literalinclude", "math")
"""Blocks whose content is no MyST; `code` is a plain fence, its argument the language."""


@dataclass
class Block:
    """One directive, fence or whole page: lines of text and further blocks, in their order."""

    name: str
    argument: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    items: list["str | Block"] = field(default_factory=list)

    @property
    def lines(self) -> list[str]:
        """The text outside inner blocks."""
        return [item for item in self.items if isinstance(item, str)]

    @property
    def inner(self) -> list["Block"]:
        return [item for item in self.items if isinstance(item, Block)]

    def all(self, *names: str) -> Iterator["Block"]:
        """Every block of these names inside this one, at any depth, in order."""
        for block in self.inner:
            if block.name in names:
                yield block
            yield from block.all(*names)


def split_options(lines: list[str]) -> tuple[dict[str, Any], list[str]]:
    """A directive's options, written between `---` lines or as `:key: value`, and the rest."""
    if lines and lines[0].strip() == "---":
        end = next(i for i, line in enumerate(lines[1:], 1) if line.strip() == "---")
        return yaml.safe_load("\n".join(lines[1:end])) or {}, lines[end + 1 :]
    options: dict[str, Any] = {}
    for i, line in enumerate(lines):
        match = re.fullmatch(r"\s*:([\w-]+):\s*(.*)", line)
        if match is None:
            return options, lines[i:]
        quoted = match[2][:1] in ("'", '"')
        options[match[1]] = yaml.safe_load(match[2]) if quoted else match[2]
    return options, []


def parse(lines: list[str]) -> list[str | Block]:
    """Lines of MyST as text lines and blocks, in their order."""
    items: list[str | Block] = []
    i = 0
    while i < len(lines):
        opening = FENCE.match(lines[i])
        if opening is None:
            items.append(lines[i])
            i += 1
            continue
        closing = re.compile(rf"^\s*{opening['marks'][0]}{{{len(opening['marks'])},}}\s*$")
        end = next((k for k in range(i + 1, len(lines)) if closing.match(lines[k])), len(lines))
        name = opening["name"] or "code"
        options, body = split_options(lines[i + 1 : end]) if opening["name"] else ({}, [])
        if name == "code":
            body = lines[i + 1 : end]
        content = list(body) if name in VERBATIM else parse(body)
        items.append(Block(name, opening["rest"], options, content))
        i = end + 1
    return items


def read(path: Path) -> tuple[dict[str, Any], Block]:
    """A page's front matter, and its blocks under one root that holds the text outside them."""
    text = path.read_text(encoding="utf-8")
    front: dict[str, Any] = {}
    if text.startswith("---\n"):
        head, text = text[4:].split("\n---\n", 1)
        front = yaml.safe_load(head)
    return front, Block("page", items=parse(text.split("\n")))


def parts_of_the_book(root: Path) -> Iterator[tuple[str, list[Path]]]:
    """The captions of the table of contents with the sources below each, the welcome page first."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    yield "", [root / f"{toc['root']}.md"]
    for part in toc["parts"]:
        yield part["caption"], [root / f"{page['file']}.md" for page in part["chapters"]]


def title(page: Block) -> str:
    """The page's first heading, without its mark."""
    return next(line[2:].strip() for line in page.lines if line.startswith("# "))


def prose(block: Block) -> str:
    """What a reader reads as text: no code, no formulas, no roles."""
    if block.name in VERBATIM:
        figure = block.options.get("mystnb")
        text = figure.get("figure", {}).get("caption", "") if isinstance(figure, dict) else ""
    else:
        parts = [block.argument]
        parts += [item if isinstance(item, str) else prose(item) for item in block.items]
        text = "\n".join(parts)
    for pattern in (
        r"\$\$.*?\$\$",
        r"\$(?!\s)[^$]*?(?<!\s)\$",
        r"\{[\w:-]+\}`[^`]*`",
        r"`+[^`]*`+",
    ):
        text = re.sub(pattern, " ", text, flags=re.DOTALL)
    return text
