"""A translator whose states are two numbers: its reading and writing are walks in a plane."""

import traitlets

from course_lib.widgets.frames import SentenceFrames
from course_lib.widgets.modules import module


class TinyTranslator(SentenceFrames):
    """Step through four short sentences: read word by word, then written word by word.

    Attributes:
        tokens: (K,) the target words whose probabilities are drawn.
        sentences: of each the `source` and `target` words with their end marks; the states
            `read`, (T_x, 2), and `written`, (T_y, 2), the one that each step reads; and the
            `probabilities`, (T_y, K). `known`: whether the model learned from it.
        chosen: which of them is shown.
        frame: how many words are read; then come the note and the first state, then the steps.
    """

    _esm = module("tiny_translator")

    tokens = traitlets.List(traitlets.Unicode()).tag(sync=True)

    @property
    def last(self) -> int:
        """The last frame of the chosen sentence."""
        shown = self.sentences[self.chosen]
        return len(shown["source"] + shown["target"]) + 2
