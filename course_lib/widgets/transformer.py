"""A small Transformer's decoder at work: what is computed, what is kept, and where it looks."""

from course_lib.widgets.frames import SentenceFrames
from course_lib.widgets.modules import module


class WritingTransformer(SentenceFrames):
    """Step through a translation that a trained Transformer writes.

    Attributes:
        sentences: of each the words of the `source`, with the end mark, and those that the decoder
            `read`, from the begin mark on; the last one is only written. `on_source`, (T_y, T_x),
            and `on_read`, (T_y, T_y), the weights of each step; `in_source`, (T_x, T_x), those of
            the source words among themselves.
        chosen: which of them is shown.
        frame: how many words are written.
    """

    _esm = module("transformer")

    @property
    def last(self) -> int:
        """The last frame of the chosen sentence."""
        return len(self.sentences[self.chosen]["read"]) - 1
