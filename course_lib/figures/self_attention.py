"""One of three words looks at all, as the moving figure draws it, on paper: its last step."""

from typing import Any, NamedTuple

import numpy as np
import torch
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from course_lib.figures.style import (
    BODY,
    INK,
    MUTED,
    ROLES,
    VALUE,
    WEIGHTS,
    CourseFigure,
    styled,
)
from course_lib.models.self_attention import scaled_dot_product_attention

Numbers = NDArray[np.float64]
MIDDLES = (84, 148, 212)  # a height for each word
NAMES = ("the", "dog", "sleeps")


class Looked(NamedTuple):
    """Queries, keys and values (3, 2), and what follows from them."""

    Q: Numbers
    K: Numbers
    V: Numbers
    energies: Numbers
    weights: Numbers
    contexts: Numbers


def attention_among(words: Any, W_Q: Any, W_K: Any, W_V: Any, matrices: bool) -> Looked:
    """Scaled dot-product attention among `words`, (3, 2).

    Without `matrices` query, key and value are the word itself.
    """
    x = np.asarray(words, dtype=np.float64)
    Q, K, V = (x @ np.asarray(W) if matrices else x for W in (W_Q, W_K, W_V))
    everything = np.ones((3, 3), dtype=bool)
    contexts, weights = scaled_dot_product_attention(*map(torch.tensor, (Q, K, V, everything)))
    return Looked(Q, K, V, Q @ K.T / np.sqrt(2), weights.numpy(), contexts.numpy())


@styled()
def three_words(asks: int, step: int, matrices: bool, **numbers: Any) -> Figure:
    """The last step of the word `asks`, from 1, and below it the weights of all three."""
    found = attention_among(**numbers, matrices=matrices)
    figure = CourseFigure(figsize=(5.0, 4.2))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(-4, 444), ylim=(376, 0))
    axes.axis("off")

    def write(x: float, y: float, text: str, color: Any = INK, **look: Any) -> None:
        axes.text(
            x, y, text, color=color, va="center", **{"ha": "center", "fontsize": BODY, **look}
        )

    def vector(
        row: Numbers, x: float, y: float, role: str, wide: int = 26, alpha: float = 1
    ) -> None:
        color = to_rgba(ROLES[role].text, alpha)
        for k, number in enumerate(row):
            corner = (x + k * wide, y - 14)
            axes.add_patch(
                Rectangle(corner, wide, 28, fc=(color[:3], 0.12 * alpha), ec=color, lw=1.2)
            )
            text = f"{number:.2f}" if role == "context" else f"{number:.0f}"
            write(x + (k + 0.5) * wide, y, text.replace("-", "−"), color)

    heads = ("query", "keys", "weights", "values", "context")
    for x, name in zip((30, 122, 210, 298, 399), heads, strict=True):
        write(x, 14, name, fontweight="bold")
    for x, role in zip((30, 122, 298), ("wants", "shows", "gives"), strict=True):
        write(x, 34, role, MUTED, fontsize=VALUE)
    at, weights = MIDDLES[asks - 1], found.weights[asks - 1]
    vector(found.contexts[asks - 1], 361, at, "context", 39)
    for j, (y, weight, energy) in enumerate(
        zip(MIDDLES, weights, found.energies[asks - 1], strict=True)
    ):
        asking = j == asks - 1
        for ends in ((63, 89), (353, 331)):
            line: Any = {"color": ROLES["weight"].fill, "solid_capstyle": "round"}
            axes.plot(ends, (at, y), linewidth=15 * weight, **line)
        write(30, y - 24, NAMES[j], fontsize=VALUE, fontweight="bold" if asking else None)
        vector(found.Q[j], 4, y, "state", alpha=1 if asking else 0.45)
        vector(found.K[j], 96, y, "annotation")
        vector(found.V[j], 272, y, "word")
        product = f"{energy * np.sqrt(2):.0f}/√2 = " + (f"{energy:.2f}" if energy else "0")
        write(210, y - 10, product.replace("-", "−"), ROLES["energy"].text, fontsize=VALUE)
        axes.add_patch(Rectangle((160, y + 2), 54 * weight, 12, color=ROLES["weight"].fill))
        write(238, y + 9, f"{weight:.2f}", ROLES["weight"].text)
    for i, row in enumerate(found.weights):
        y = 284 + 36 * i
        face = "bold" if i == asks - 1 else None
        write(130, y, f"{NAMES[i]} asks", ha="right", fontweight=face)
        write(170 + 60 * i, 258, NAMES[i], MUTED, fontsize=VALUE)
        for j, weight in enumerate(row):
            axes.add_patch(Rectangle((141 + 60 * j, y - 16), 58, 32, color=WEIGHTS(weight)))
            write(170 + 60 * j, y, f"{weight:.2f}")
    axes.add_patch(Rectangle((138, 266 + 36 * (asks - 1)), 184, 36, fill=False, ec=INK, lw=1.6))
    return figure
