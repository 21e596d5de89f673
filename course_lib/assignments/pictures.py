"""What a plot shows: tables of numbers, with the labels beside their rows and columns."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Labels = list[tuple[float, str]]
"""Each with its place, in cells: 0 is the middle of the first row or column, 1 of the next."""


class PlottedTable(NamedTuple):
    """One table of numbers in a plot.

    Attributes:
        values: (rows, columns), as they were drawn.
        rows: the labels of the rows.
        columns: the labels of the columns.
    """

    values: NDArray[np.float64]
    rows: Labels
    columns: Labels


def shown(figure: Any) -> list[PlottedTable]:
    """The tables that a figure of matplotlib's shows as images or meshes, whatever their units.

    Where a cell lies is asked of the picture: it may start at 0 or at -0.5, run upwards or
    downwards, and be drawn over any range.
    """
    pictures = []
    for axes in figure.axes:
        for picture in (*axes.images, *axes.collections):
            values = picture.get_array()
            if values is None or np.ndim(values) != 2 or not _has_cells(picture):
                continue
            height, width = np.shape(values)
            left, right, top, bottom = _sides(picture)
            rows = _labels(axes.get_yticks(), axes.get_yticklabels(), top, bottom, height)
            columns = _labels(axes.get_xticks(), axes.get_xticklabels(), left, right, width)
            pictures.append(PlottedTable(np.asarray(values, dtype=float), rows, columns))
    return pictures


def _has_cells(picture: Any) -> bool:
    return hasattr(picture, "get_extent") or hasattr(picture, "get_coordinates")


def _sides(picture: Any) -> tuple[float, ...]:
    """Where its first column begins and its last ends, then the same of its rows."""
    if hasattr(picture, "get_coordinates"):
        corners = np.asarray(picture.get_coordinates(), dtype=float)
        return corners[0, 0, 0], corners[0, -1, 0], corners[0, 0, 1], corners[-1, 0, 1]
    left, right, bottom, top = picture.get_extent()
    return (left, right, bottom, top) if picture.origin == "lower" else (left, right, top, bottom)


def _labels(ticks: Any, labels: Any, first: float, last: float, count: int) -> Labels:
    cell = (last - first) / count
    texts = [label.get_text() for label in labels]
    return [
        ((float(tick) - first) / cell - 0.5, text)
        for tick, text in zip(ticks, texts, strict=False)
        if text
    ]
