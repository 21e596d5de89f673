"""One look for every figure: a colour and a symbol for each role, a line style for each model.

The palette is Okabe and Ito's, legible to colour-blind readers. Figures are white cards with dark
ink, so they look the same on a light and on a dark page; `dark` is for what a page draws by itself.
"""

import io
import math
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from matplotlib import rc_context, rcParams
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, fontManager
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
    *("Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans Devanagari", "Noto Sans Thai"),
    *("Droid Sans Fallback", "Unifont"),
    *("Yu Gothic", "Microsoft YaHei", "Malgun Gothic", "Nirmala UI", "Leelawadee UI"),
    "Arial Unicode MS",
)
"""Fonts of Linux, Windows and macOS with letters that matplotlib's own font has not."""


def families(installed: Collection[str]) -> list[str]:
    """Fonts in the order in which a letter is looked for.

    The first comes with matplotlib, so its letters have the same widths everywhere.
    """
    return ["DejaVu Sans", *(name for name in FURTHER if name in installed)]


# Any: some versions of matplotlib type the keys of such a dict one by one.
RC: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": families(fontManager.get_font_names()),
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
    """A figure that a notebook shows by itself, although pyplot has never heard of it."""

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
        text, FontProperties(family=RC["font.sans-serif"], size=size), ismath=False
    )
    return float(width) / 72


def spread(wanted: list[float], gap: float) -> list[float]:
    """Positions as near to `wanted` as can be with at least `gap` between any two, in its order."""
    order = sorted(range(len(wanted)), key=lambda k: wanted[k])
    # Groups of labels that touch move together and stay centred on what they want.
    groups: list[tuple[float, list[int]]] = []
    for k in order:
        centre, members = wanted[k], [k]
        while groups:
            before, others = groups[-1]
            if centre - before >= gap * (len(members) + len(others)) / 2:
                break
            groups.pop()
            members = others + members
            centre = sum(wanted[m] for m in members) / len(members)
        groups.append((centre, members))
    placed = dict.fromkeys(order, 0.0)
    for centre, members in groups:
        for place, member in enumerate(members):
            placed[member] = centre + gap * (place - (len(members) - 1) / 2)
    return [placed[k] for k in range(len(wanted))]


_KEY = 10.0  # points from the panel to the marker of a label


def label_room(texts: Iterable[str]) -> float:
    """The inches that labels of these texts need on the right of a panel."""
    return max(text_width(text, VALUE) for text in texts) * 1.15 + 2 * _KEY / 72 + 0.1


def label_ends(axes: Axes, ends: Sequence[tuple[float, float, str, ModelStyle]]) -> None:
    """Name lines on the right of the panel instead of in a legend: (last x, last y, text, style).

    Labels that would touch are moved apart; a dotted leader shows where each belongs. Call it when
    the limits of the axes are final.
    """
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    figure, box = axes.get_figure(root=True), axes.get_position()
    assert figure is not None
    # Distances are distances on paper, on a logarithmic axis too.
    on_x, on_y = axes.xaxis.get_transform(), axes.yaxis.get_transform()
    begin, end = on_x.transform([left, right])
    bottom, top = on_y.transform([low, high])
    across = (end - begin) / (box.width * figure.get_figwidth() * 72)  # units a point
    up = (top - bottom) / (box.height * figure.get_figheight() * 72)
    wanted = on_y.transform([y for _, y, _, _ in ends])
    places = on_y.inverted().transform(spread(list(wanted), 1.45 * VALUE * up))
    key, name = on_x.inverted().transform([end + _KEY * across, end + 1.8 * _KEY * across])
    for (x, y, text, style), place in zip(ends, places, strict=True):
        leader: dict[str, Any] = {
            "color": MUTED,
            "linewidth": 0.8,
            "linestyle": (0, (1, 2)),
            "zorder": 1,
        }
        axes.plot([x, right, key], [y, y, place], clip_on=False, gid="leader", **leader)
        axes.plot(
            [key], [place], clip_on=False, gid="key", **line_style(style) | {"linestyle": "none"}
        )
        axes.text(
            name,
            place,
            text,
            va="center_baseline",
            color=style.text,
            fontsize=VALUE,
            fontweight="bold",
            gid="label",
        )
    axes.set(xlim=(left, right), ylim=(low, high))


def logarithmic(axes: Axes, values: Sequence[float]) -> None:
    """Give the y axis whole powers of ten around all positive values.

    Every first, second, third ... power from 1 is labelled, so that there are at most 9. A marker's
    height is left free at both ends.
    """
    exponents = [math.log10(value) for value in values if value > 0]
    below = math.floor(min(exponents, default=-1.0) - 0.05)
    above = max(math.ceil(max(exponents, default=0.0) + 0.05), below + 1)
    every = (above - below) // 9 + 1
    axes.set_yscale("log")
    axes.set_ylim(10.0**below, 10.0**above)
    axes.set_yticks([10.0**k for k in range(below, above + 1) if k % every == 0])
    axes.yaxis.minorticks_off()


def line_style(style: ModelStyle) -> dict[str, Any]:
    """What a model's line and markers look like, as arguments for `plot`."""
    return {
        "color": style.color,
        "linestyle": style.linestyle,
        "marker": style.marker,
        "markeredgecolor": INK,  # keeps the markers of light colours visible on white
        "markeredgewidth": 0.7,
    }
