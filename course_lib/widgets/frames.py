"""What figures share that step through one of some sentences, frame by frame."""

from abc import abstractmethod
from typing import Any

import traitlets

from course_lib.widgets.modules import MovingFigure


class SentenceFrames(MovingFigure):
    """One of some sentences, and a frame of it.

    Attributes:
        sentences: what is known of each.
        chosen: which of them is shown.
        frame: the frame that is shown.
    """

    sentences: Any = traitlets.List().tag(sync=True)
    chosen = traitlets.Int(0, min=0).tag(sync=True)
    frame = traitlets.Int(0, min=0).tag(sync=True)

    @property
    @abstractmethod
    def last(self) -> int:
        """The last frame of the chosen sentence."""

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
