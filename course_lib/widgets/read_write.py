"""Reading and writing without attention, frame by frame: one geometry for screen and paper."""

from collections.abc import Iterator, Sequence
from typing import Any

import traitlets

from course_lib.corpora.vocabulary import BOS, EOS, MARKS
from course_lib.widgets.modules import MovingFigure, module

SOURCE = ("the", "dog", "is", "sleeping", MARKS[EOS])
TARGET = ("der", "Hund", "schläft", MARKS[EOS])
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
READ, NOTE, WRITE, WORDS, BELOW = 74, 134, 208, 270, 290  # heights, downwards
APART, STEP, HALF = 88, 92, 30
Shape = dict[str, Any]


def _numbered(letter: str, number: int) -> str:
    return f"{letter}{number}".translate(SUBSCRIPTS)


def _arrow(frame: int, role: str, *points: tuple[float, float], dashed: bool = False) -> Shape:
    return {"frame": frame, "role": role, "points": [list(p) for p in points], "dashed": dashed}


def _label(frame: int, role: str, x: float, y: float, text: str, kind: str = "text") -> Shape:
    return {"frame": frame, "role": role, "x": x, "y": y, "text": text, "kind": kind, "half": HALF}


def _reading(words: Sequence[str]) -> Iterator[Shape]:
    """A state a word, each from its word and the state before."""
    for j, word in enumerate(words, start=1):
        x = 44 + APART * (j - 1)
        yield _label(j, "ink", x, 20, word)
        yield _arrow(j, "ink", (x, 32), (x, READ - 22))
        yield _label(j, "annotation", x, READ, _numbered("h", j), "circle")
        if j > 1:
            yield _arrow(j, "annotation", (x - APART + 21, READ), (x - 22, READ))


def _writing(words: Sequence[str], note: float, first: int) -> Iterator[Shape]:
    """A step a word, each from the state before, the note and the word before."""
    yield _arrow(first, "context", (note - HALF, NOTE), (30, NOTE), (30, WRITE - 22))
    yield _label(first, "state", 30, WRITE, _numbered("s", 0), "circle")
    for i, word in enumerate(words, start=1):
        frame, x = first + i, 112 + STEP * (i - 1)
        under = abs(x - note) < HALF
        way = ((x, NOTE + 18),) if under else ((note - HALF, NOTE), (x, NOTE))
        yield _arrow(frame, "context", *way, (x, WRITE - 21))
        before = 51 if i == 1 else x - STEP + HALF + 2
        yield _arrow(frame, "state", (before, WRITE), (x - HALF - 3, WRITE))
        if i > 1:
            yield _label(frame, "state", x - STEP / 2, WRITE - 14, _numbered("s", i - 1))
        yield _label(frame, "state", x, WRITE, f"step {i}", "box")
        given = x - 46 if i == 1 else x - STEP
        if i == 1:
            yield _label(frame, "word", given, WORDS - 6, MARKS[BOS])
        corners = ((given, WORDS + 8), (given, BELOW), (x - 26, BELOW), (x - 26, WRITE + 21))
        yield _arrow(frame, "word", *corners, dashed=True)
        yield _arrow(frame, "word", (x, WRITE + 20), (x, WORDS - 16))
        yield _label(frame, "word", x + 6, WORDS - 6, word)


def start() -> dict[str, Any]:
    """What the figure draws, and what it says of each frame; it opens on the last.

    Returns:
        `shapes`: arrows with their `points` and labels with `x` and `y`, each with its `role` and
        the `frame` in which it appears, on a ground of 440 by 300. `says`: a sentence a frame.
    """
    read = len(SOURCE)
    note = 44 + APART * (read - 1)
    shapes = [*_reading(SOURCE), _arrow(read + 1, "context", (note, READ + 20), (note, NOTE - 21))]
    shapes.append(_label(read + 1, "context", note, NOTE, "c", "box"))
    shapes += _writing(TARGET, note, read + 2)
    says = [
        f"Reading “{word}”: {_numbered('h', j)} is made from the word"
        + (f" and {_numbered('h', j - 1)}." if j > 1 else "; nothing was read before.")
        for j, word in enumerate(SOURCE, start=1)
    ]
    says.append("The last state is the note, c: all that the decoder gets to know of the sentence.")
    says.append("The decoder's first state, s₀, is made from c.")
    says += [
        f"Step {i} reads {_numbered('s', i - 1)}, c and the word before, “{given}”. It writes "
        f"“{word}” and leaves {_numbered('s', i)}."
        for i, (given, word) in enumerate(zip((MARKS[BOS], *TARGET), TARGET, strict=False), start=1)
    ]
    return {"shapes": shapes, "says": says, "frame": len(says)}


class ReadWrite(MovingFigure):
    """Step through an encoder and a decoder that share one vector.

    Attributes:
        shapes, says: see `start`.
        frame: how far it has come, from 1.
    """

    _esm = module("read_write")

    shapes: Any = traitlets.List().tag(sync=True)
    says = traitlets.List(traitlets.Unicode()).tag(sync=True)
    frame = traitlets.Int(1, min=1).tag(sync=True)

    def __init__(self, **values: Any) -> None:
        super().__init__(**{**start(), **values})
