"""The JavaScript of the moving figures, as text: what a notebook is sent and a page contains."""

import json
import re
from pathlib import Path
from typing import Self

import anywidget
import traitlets

_MODULES = Path(__file__).parent / "modules"
STYLE = "moving.css"
COMMON = "common.mjs"
LIVE = "live"
_SHARED = ("shared/map.mjs", "shared/steps.mjs")
_STEPPED = ("shared/steps.mjs", "shared/drawing.mjs")
_PARTS = {
    "antecedent": ("shared/drawing.mjs",),
    "attention_stepper": _SHARED,
    "bottleneck": ("shared/curves.mjs",),
    "long_sentences": ("shared/curves.mjs",),
    "read_write": _STEPPED,
    "tiny_translator": _STEPPED,
    "transformer": _STEPPED,
    "waiting": _STEPPED,
    LIVE: (
        *_SHARED,
        "beam_tree.mjs",
        "live/changes.mjs",
        "live/translator.mjs",
        "live/hold.mjs",
        "live/words.mjs",
        "live/column.mjs",
        "live/form.mjs",
        "live/challenges.mjs",
        "live/files.mjs",
    ),
}
"""What a figure has in front of its own module, beside what all have: other figures, and pieces."""
_WORKER = (
    "live/pack.mjs",
    "live/text.mjs",
    "live/rnnsearch.mjs",
    "live/worker.mjs",
)


def names() -> list[str]:
    """Every figure that has a module."""
    found = (path.name for path in _MODULES.glob("*.mjs"))
    return sorted(name[:-4] for name in found if name != COMMON)


def sources(name: str) -> list[Path]:
    """The files a figure is made of, its own module before the style sheet."""
    files = (COMMON, *_PARTS.get(name, ()), f"{name}.mjs", STYLE)
    return [_MODULES / file for file in files]


def style() -> str:
    """The style sheet of all figures."""
    return (_MODULES / STYLE).read_text(encoding="utf-8")


def module(name: str) -> str:
    """A figure's module, with what it is made of in front: one file, nothing to import.

    Another figure among its parts becomes a constant of its name, as `beam_tree`.
    """
    common, *parts, own, _ = sources(name)
    texts = [_read(common)]
    for path in parts:
        text = _read(path)
        if path.stem in names():
            inner = text.replace("export default", "return")
            text = f"const {path.stem} = (() => {{\n{inner}}})();\n"
        texts.append(_without_exports(text))
    return "\n".join([*texts, _read(own)])


def worker_script() -> str:
    """What runs beside the page and translates there: one classic script."""
    return "\n".join(_without_exports(_read(_MODULES / file)) for file in _WORKER)


def page_script(name: str) -> str:
    """The module for a page: it puts the figure in the place of each picture that stands for it.

    A script inside the page, since browsers load no module from a file on the reader's disk.
    """
    text = module(name).replace("export default", "const figure =")
    return f'{text}\nintoPage(figure, "{name}");\n'


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _without_exports(text: str) -> str:
    """A module's text for a script that it is joined into."""
    return re.sub(r"^export \{.*\};\n", "", text, flags=re.MULTILINE)


class MovingFigure(anywidget.AnyWidget):
    """A moving figure in a notebook; a class of its own names its module in `_esm`.

    Attributes:
        language: of its words that are not English, as a code of two letters; empty if all are.
    """

    _css = style()
    language = traitlets.Unicode("").tag(sync=True)

    @classmethod
    def recorded(cls, path: Path | str) -> Self:
        """The figure of a file that the book's recorder wrote."""
        return cls(**json.loads(Path(path).read_text(encoding="utf-8"))["figure"])
