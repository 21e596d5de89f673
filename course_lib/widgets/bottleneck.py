"""Tokens right by source length of both models, for each size of the state, with translations."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import traitlets
from matplotlib.figure import Figure

from course_lib.figures.lengths import score_by_length
from course_lib.widgets.modules import MovingFigure, module

Accuracy = Mapping[str, Sequence[Sequence[Sequence[float]]]]
"""By model: for each size, for each training, per cent of tokens right at each length."""


def explored(
    sizes: Sequence[int],
    lengths: Sequence[int],
    sentences: Sequence[int],
    trained: tuple[int, int],
    accuracy: Accuracy,
    size: int,
    **_: Any,
) -> Figure:
    """The curves at the size that the figure starts with, averaged over the trainings."""
    at = list(sizes).index(size)
    rows = {
        name: [
            {"lower": length, "upper": length, "sentences": count, "tokens": tokens}
            for length, count, tokens in zip(
                lengths, sentences, np.mean(by_size[at], axis=0), strict=True
            )
        ]
        for name, by_size in accuracy.items()
    }
    return score_by_length(rows, (trained[0], trained[1]), key="tokens", label="tokens right (%)")


class BottleneckExplorer(MovingFigure):
    """Slide the length of the source and the size of the state: what each model makes of it.

    Attributes:
        sizes, lengths: what can be chosen.
        trained: the shortest and the longest source in training.
        updates: of each training.
        sentences: how many were translated, for each length.
        accuracy: by model, per cent of tokens right for each size, training and length.
        examples: for each length its `source`, `reference` and, under `written`, by model the first
            training's translation for each size.
        length, size: what is shown.
    """

    _esm = module("bottleneck")

    sizes = traitlets.List(traitlets.Int()).tag(sync=True)
    lengths = traitlets.List(traitlets.Int()).tag(sync=True)
    trained = traitlets.List(traitlets.Int()).tag(sync=True)
    updates = traitlets.Int().tag(sync=True)
    sentences = traitlets.List(traitlets.Int()).tag(sync=True)
    accuracy: Any = traitlets.Dict().tag(sync=True)
    examples: Any = traitlets.List().tag(sync=True)
    length = traitlets.Int().tag(sync=True)
    size = traitlets.Int().tag(sync=True)

    @traitlets.validate("length", "size")
    def _known(self, proposal: Any) -> int:
        name = proposal["trait"].name
        choices = getattr(self, f"{name}s")
        if proposal["value"] not in choices:
            raise traitlets.TraitError(f"{name} is one of {choices}.")
        return int(proposal["value"])

    @property
    def selected(self) -> dict[str, Any]:
        """What is shown: `source`, `reference` and, by model, `tokens` right in per cent, averaged
        over the trainings, and the translation `written`.
        """
        at, row = self.sizes.index(self.size), self.lengths.index(self.length)
        example = self.examples[row]
        return {
            "source": example["source"],
            "reference": example["reference"],
            "tokens": {
                name: float(np.mean([training[row] for training in by_size[at]]))
                for name, by_size in self.accuracy.items()
            },
            "written": {name: by_size[at] for name, by_size in example["written"].items()},
        }
