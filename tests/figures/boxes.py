"""Where text lies on a drawn figure: oriented boxes, their overlaps, and what is off the page."""

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from numpy.typing import NDArray


def corners(text: Text) -> NDArray[np.float64]:
    """The four corners of a text's box in pixels, turned as the text is turned (4, 2)."""
    angle = text.get_rotation()
    text.set_rotation(0)
    flat = text.get_window_extent()
    text.set_rotation(angle)
    turn = np.deg2rad(angle)
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    box = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]]) * flat.size
    turned = box @ rotation.T
    extent = text.get_window_extent()
    return turned + (extent.min + extent.max) / 2 - (turned.min(axis=0) + turned.max(axis=0)) / 2


def overlap(one: NDArray[np.float64], two: NDArray[np.float64], slack: float = 0.5) -> bool:
    """Whether two convex boxes share more than `slack` pixels (separating axis theorem)."""
    for box in (one, two):
        for k in range(2):
            edge = box[k + 1] - box[k]
            axis = np.array([-edge[1], edge[0]]) / np.hypot(*edge)
            a, b = one @ axis, two @ axis
            if a.max() - b.min() <= slack or b.max() - a.min() <= slack:
                return False
    return True


def drawn_texts(figure: Figure) -> list[Text]:
    """Every visible text with something in it, after drawing."""
    FigureCanvasAgg(figure).draw()
    beyond = set()  # labels of ticks outside the limits exist but are not drawn
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in axis.get_major_ticks():
                if not low - 1e-9 <= tick.get_loc() <= high + 1e-9:
                    beyond |= {tick.label1, tick.label2}
    return [
        text
        for text in figure.findobj(Text)
        if text.get_visible() and text.get_text().strip() and text not in beyond
    ]


def assert_legible(figure: Figure) -> None:
    """No text touches another, and none leaves the figure."""
    texts = drawn_texts(figure)
    boxes = np.stack([corners(text) for text in texts])
    low, high = boxes.min(axis=1), boxes.max(axis=1)
    for text, a, b in zip(texts, low, high, strict=True):
        inside = (a >= -0.5).all() and (b <= figure.bbox.size + 0.5).all()
        assert inside, f"{text.get_text()!r} leaves the figure"
    near = ((low[:, None] < high[None]) & (low[None] < high[:, None])).all(axis=2)
    for one, two in np.argwhere(np.triu(near, 1)):
        assert not overlap(boxes[one], boxes[two]), (
            f"{texts[one].get_text()!r} touches {texts[two].get_text()!r}"
        )
