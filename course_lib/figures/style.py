"""One look for every figure: a colour and a symbol for each role, a line style for each model.

The palette is Okabe and Ito's, legible to colour-blind readers. Figures are white cards with dark
ink, so they look the same on a light and on a dark page; `dark` is for what a page draws by itself.
"""

import io
from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

from matplotlib import rc_context, rcParams
from matplotlib.backend_bases import RendererBase
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.font_manager import FontEntry, FontProperties, findfont, fontManager, get_font
from matplotlib.text import Text
from matplotlib.textpath import text_to_path

CARD = "#ffffff"  # what every figure stands on
INK = "#1b1b1b"
MUTED = "#5f6368"  # axis titles and notes; 6:1 on the card
LINES = "#dadce0"  # grids and frames
SHADE = "#f0f1f3"  # regions set apart


BARS = "#c4c7cc"  # bars that only count
# Sizes of text in points, where `RC` has none for it.
TINY = 7.0  # numbers in a crowd
SMALL = 8.0  # legends in a small panel
NOTE = 8.5  # remarks beside what they are about
VALUE = 9.0  # numbers, and names of lines
BODY = 10.0
SYMBOL = 12.0
PAGE_DPI = 200.0  # of a chapter's own plots: sharp on any screen


class Role(NamedTuple):
    """symbol: the paper's. fill: lines and areas. text: words on white. dark: on a dark page."""

    symbol: str
    fill: str
    text: str
    dark: str


ROLES = {
    "annotation": Role(r"$h_j$", "#0072B2", "#0069a4", "#6cb4ea"),
    "state": Role(r"$s_i$", "#D55E00", "#ad4b00", "#f59a5f"),
    "energy": Role(r"$e_{ij}$", "#999999", "#63676d", "#abb0b8"),
    "weight": Role(r"$\alpha_{ij}$", "#E69F00", "#875900", "#efb747"),
    "context": Role(r"$c_i$", "#009E73", "#007055", "#45cba1"),
    "word": Role(r"$y_i$", "#CC79A7", "#a23a73", "#e39ac0"),
}


class ModelStyle(NamedTuple):
    """How a model's line is told apart, three times over: by colour, by marker, by dashes."""

    label: str
    color: str
    text: str
    marker: str
    linestyle: str | tuple[int, tuple[float, ...]]


RNNSEARCH = ModelStyle("RNNsearch", "#1b1b1b", "#1b1b1b", "s", "solid")
RNNENCDEC = ModelStyle("RNNencdec", "#56B4E9", "#1b6fa8", "o", (0, (4.0, 1.6)))
# For further models, in the order they come. None of these colours belongs to a role.
OTHERS = (
    ModelStyle("", "#882255", "#882255", "^", (0, (1.0, 1.2))),
    ModelStyle("", "#2a8577", "#23776a", "D", (0, (6.0, 1.5, 1.0, 1.5))),
    ModelStyle("", "#5b4bb5", "#5b4bb5", "v", (0, (8.0, 2.0))),
    ModelStyle("", "#8a6d1f", "#7d621a", "P", (0, (3.0, 1.2, 1.0, 1.2, 1.0, 1.2))),
)

# One hue, the weights' orange, from the card's white to a brown; lightness falls evenly, so that
# equal steps of weight look equal, in grey print too.
WEIGHTS = LinearSegmentedColormap.from_list(
    "weights", [(0.0, CARD), (0.42, ROLES["weight"].fill), (1.0, "#6a3500")], N=512
)

FURTHER = (
    *("Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans CJK KR", "Noto Sans Devanagari"),
    *(f"Noto Sans {x}" for x in ("Thai", "Lao", "Khmer", "Myanmar", "Tibetan", "Ethiopic")),
    *(f"Noto Sans {x}" for x in ("Arabic", "Hebrew", "Bengali", "Tamil", "Telugu", "Gujarati")),
    *("Droid Sans Fallback", "Unifont"),
    *("Yu Gothic", "Microsoft YaHei", "Malgun Gothic", "Nirmala UI", "Leelawadee UI"),
    "Arial Unicode MS",
)
"""Fonts of Linux, Windows and macOS with letters that matplotlib's own font has not."""


def families(installed: Iterable[FontEntry]) -> list[str]:
    """Fonts in the order in which a letter is looked for.

    The first comes with matplotlib, so its letters have the same widths everywhere. One without a
    bold face is left to `families_for`: matplotlib would complain of it at every bold word.
    """
    bold = {one.name for one in installed if one.weight == 700}
    return ["DejaVu Sans", *(name for name in FURTHER if name in bold)]


@cache
def _with_letter(letter: str) -> str | None:
    """A family of plain fonts that has a letter, those of sans-serifs first; None if none has."""
    plain = {
        one.name: one.fname
        for one in reversed(fontManager.ttflist)
        if one.style == "normal" and one.stretch == "normal" and one.weight == 400
    }
    for name in sorted(plain, key=lambda name: ("Sans" not in name, name)):
        font = get_font(plain[name])
        if font.scalable and font.get_char_index(ord(letter)):
            return name
    return None


def families_for(text: str) -> list[str]:
    """The course's fonts, and others that are installed for letters that these have not."""
    usual = RC["font.family"]
    fonts = [get_font(findfont(FontProperties(family=[name]))) for name in usual]
    missing = [
        letter
        for letter in dict.fromkeys(text)
        if letter.isprintable() and not any(font.get_char_index(ord(letter)) for font in fonts)
    ]
    found = {name for letter in missing if (name := _with_letter(letter)) is not None}
    return [*usual, *sorted(found)]


# Any: some versions of matplotlib type the keys of such a dict one by one.
RC: Any = {
    # The list itself: of a generic name matplotlib takes the first font alone.
    "font.family": families(fontManager.ttflist),
    "font.size": BODY,
    "mathtext.fontset": "dejavusans",
    "text.color": INK,
    "figure.facecolor": CARD,
    "figure.edgecolor": CARD,
    "figure.dpi": 100.0,
    "savefig.dpi": 200.0,
    "savefig.facecolor": CARD,
    "axes.facecolor": CARD,
    "axes.edgecolor": "#9aa0a6",
    "axes.labelcolor": MUTED,
    "axes.labelsize": 9.5,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "grid.color": LINES,
    "grid.linewidth": 0.6,
    "xtick.color": "#9aa0a6",
    "ytick.color": "#9aa0a6",
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 9.0,
    "ytick.labelsize": 9.0,
    "lines.linewidth": 2.0,
    "lines.markersize": 6.0,
    "svg.hashsalt": "looking-back",  # the same figure makes the same file
}


def apply() -> None:
    """Give every figure made from here on the course's look; for a chapter's own plots."""
    rcParams.update({**RC, "figure.dpi": PAGE_DPI})


def styled() -> Any:
    """The course's look for one `with` block or, as a decorator, for one function."""
    return rc_context(RC)


class CourseFigure(Figure):
    """A figure that a notebook shows by itself, although pyplot has never heard of it.

    Its words are drawn in any script that an installed font has.
    """

    def draw(self, renderer: RendererBase) -> None:
        for text in self.findobj(Text):
            if not text.get_text().isascii():
                text.set_fontfamily(families_for(text.get_text()))
        super().draw(renderer)

    def _repr_png_(self) -> bytes:
        stream = io.BytesIO()
        with styled():
            self.savefig(stream, format="png")
        return stream.getvalue()


def styles_for(models: Iterable[str]) -> dict[str, ModelStyle]:
    """A style for each model: rnnsearch and rnnencdec have their own, others one in turn."""
    own = {"rnnsearch": RNNSEARCH, "rnnencdec": RNNENCDEC}
    names = list(models)
    others = [name for name in names if name.lower() not in own]
    turn = {name: OTHERS[k % len(OTHERS)]._replace(label=name) for k, name in enumerate(others)}
    return {name: own[name.lower()] if name.lower() in own else turn[name] for name in names}


def text_width(text: str, size: float) -> float:
    """The width of a line of plain text in inches, at `size` points."""
    width, _, _ = text_to_path.get_text_width_height_descent(
        text, FontProperties(family=families_for(text), size=size), ismath=False
    )
    return float(width) / 72


def line_style(style: ModelStyle) -> dict[str, Any]:
    """What a model's line and markers look like, as arguments for `plot`."""
    return {
        "color": style.color,
        "linestyle": style.linestyle,
        "marker": style.marker,
        "markeredgecolor": INK,  # keeps the markers of light colours visible on white
        "markeredgewidth": 0.7,
    }
