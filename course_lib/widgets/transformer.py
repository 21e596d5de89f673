"""A small Transformer's decoder at work: what is computed, what is kept, and where it looks."""

from typing import Any

import traitlets

from course_lib.widgets.modules import MovingFigure, module


class WritingTransformer(MovingFigure):
    """Step through a translation that a trained Transformer writes.

    Attributes:
        sentences: of each the words of the `source`, with the end mark, and those that the decoder
            `read`, from the begin mark on; the last one is only written. `on_source`, (T_y, T_x),
            and `on_read`, (T_y, T_y), the weights of each step.
        chosen: which of them is shown.
        step: how many words are written.
    """

    _esm = module("transformer")

    sentences: Any = traitlets.List().tag(sync=True)
    chosen = traitlets.Int(0, min=0).tag(sync=True)
    step = traitlets.Int(0, min=0).tag(sync=True)

    @traitlets.validate("chosen", "step")
    def _there(self, proposal: Any) -> int:
        name, value = proposal["trait"].name, int(proposal["value"])
        chosen = value if name == "chosen" else self.chosen
        if chosen >= len(self.sentences):
            raise traitlets.TraitError(f"chosen is at most {len(self.sentences) - 1}.")
        last = len(self.sentences[chosen]["read"]) - 1
        if name == "step" and value > last:
            raise traitlets.TraitError(f"step is at most {last}.")
        return value
