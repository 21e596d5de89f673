"""Reading and writing without attention, frame by frame, with the states of a trained network."""

from typing import Any

import traitlets

from course_lib.widgets.modules import MovingFigure, module


class ReadWrite(MovingFigure):
    """Step through an encoder and a decoder that share one vector.

    Attributes:
        sentences: of each the words of the `source`, of the translation, `target`, and of the
            `right` one, with their end marks; the states `read`, (T_x, 64), and `written`,
            (T_y + 1, 64), from s_0 on.
        chosen: which of them is shown.
        frame: how many words are read; then come the note, the first state, and the steps.
    """

    _esm = module("read_write")

    sentences: Any = traitlets.List().tag(sync=True)
    chosen = traitlets.Int(0, min=0).tag(sync=True)
    frame = traitlets.Int(0, min=0).tag(sync=True)

    @property
    def last(self) -> int:
        """The last frame of the chosen sentence."""
        return len(self.sentences[self.chosen]["read"] + self.sentences[self.chosen]["written"]) + 1

    @traitlets.validate("chosen", "frame")
    def _there(self, proposal: Any) -> int:
        name, value = proposal["trait"].name, int(proposal["value"])
        if (value if name == "chosen" else self.chosen) >= len(self.sentences):
            raise traitlets.TraitError(f"chosen is at most {len(self.sentences) - 1}.")
        if name == "frame" and value > self.last:
            raise traitlets.TraitError(f"frame is at most {self.last}.")
        return value

    @traitlets.observe("chosen")
    def _shorter(self, _: Any) -> None:
        self.frame = min(self.frame, self.last)
