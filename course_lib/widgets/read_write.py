"""Reading and writing without attention, frame by frame, with the states of a trained network."""

from course_lib.widgets.frames import SentenceFrames
from course_lib.widgets.modules import module


class ReadWrite(SentenceFrames):
    """Step through an encoder and a decoder that share one vector.

    Attributes:
        sentences: of each the words of the `source`, of the translation, `target`, and of the
            `right` one, with their end marks; the states `read`, (T_x, 64), and `written`,
            (T_y + 1, 64), from s_0 on.
        chosen: which of them is shown.
        frame: how many words are read; then come the note, the first state, and the steps.
    """

    _esm = module("read_write")

    @property
    def last(self) -> int:
        """The last frame of the chosen sentence."""
        return len(self.sentences[self.chosen]["read"] + self.sentences[self.chosen]["written"]) + 1
