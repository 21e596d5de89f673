"""Figures that move: one JavaScript module each, for a notebook and for the static page.

In a notebook a figure is a widget whose traits Python reads and sets; in the book the same module
draws from data that lies in the page, without a kernel and without a network. `FIGURES` has for
each module its widget and what stands in the page: the data, and a picture for where no JavaScript
runs.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import anywidget
from matplotlib.figure import Figure

from course_lib.figures.by_hand import attention_by_hand
from course_lib.figures.softmax_bars import softmax_bars
from course_lib.widgets.by_hand import START, AttentionByHand
from course_lib.widgets.softmax_scaling import SoftmaxScaling, start

__all__ = ["FIGURES", "AttentionByHand", "Moving", "SoftmaxScaling"]


class Moving(NamedTuple):
    """widget: its class. values: the traits the page starts with. picture: drawn from them."""

    widget: type[anywidget.AnyWidget]
    values: Callable[[], dict[str, Any]]
    picture: Callable[..., Figure]


FIGURES = {
    "attention_by_hand": Moving(AttentionByHand, lambda: START, attention_by_hand),
    "softmax_scaling": Moving(SoftmaxScaling, start, softmax_bars),
}
