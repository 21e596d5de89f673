"""How far the gates of a recurrent unit are open along a sentence."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from course_lib.figures.lines import label_room, named_lines, stacked
from course_lib.figures.style import INK, MUTED, OTHERS, VALUE, ModelStyle, styled, text_width

# Not those of the first models, whose gradients stand beside these on a page.
LOOKS = (
    ModelStyle("", INK, INK, "o", "solid"),
    ModelStyle("", MUTED, MUTED, "X", (0, (4.0, 1.6))),
    OTHERS[3],
)


@styled()
def gate_curves(gates: Mapping[str, Sequence[float]], words: Sequence[str]) -> Figure:
    """How far each gate is open at each word, in reading order.

    gates: by name, the mean over the gate's units at each word, 0 (shut) to 1 (open), as
    `evaluation.gradients.gates_along` returns it.
    """
    styles = {name: look._replace(label=name) for name, look in zip(gates, LOOKS, strict=False)}
    # Everything below is in inches: the words stand upright where they would touch.
    size, step = VALUE, float(np.clip(4.0 / len(words), 0.22, 0.5))
    widths = [text_width(word, size) for word in words]
    upright = max(widths) > step - 0.08
    figure, (axes,) = stacked(
        max(step * len(words), 2.0),
        [2.0],
        left=0.6,
        right=label_room([style.label for style in styles.values()]),
        bottom=0.35 + (max(widths) if upright else size / 72) + 0.1,
        top=0.2,
    )
    axes.set_xlim(-0.5, len(words) - 0.5)
    axes.set_ylim(0, 1)
    axes.set_yticks([0, 0.5, 1], ["0 shut", "0.5", "1 open"])
    axes.set_xticks(
        range(len(words)), words, rotation=90 if upright else 0, fontsize=size, parse_math=False
    )
    axes.set_xlabel("source words, in reading order")
    lines = {name: (range(len(words)), values) for name, values in gates.items()}
    named_lines(axes, lines, styles, "gate", clip_on=False)
    return figure
