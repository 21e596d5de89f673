"""BLEU of one sentence: which runs of one to four words count, and what they make."""

from collections import Counter
from math import exp
from typing import Any

import numpy as np
import traitlets
from matplotlib.figure import Figure

from course_lib.figures.sentence_bleu import Verdict, sentence_bleu
from course_lib.widgets.modules import MovingFigure, module

LONGEST_SENTENCE = 12  # words, on either side
START = {"reference": "there is coffee on the table", "translation": "the coffee on the table"}


class ShortText(traitlets.Unicode[str, str]):
    """A text of 1 to MOST words."""

    def validate(self, obj: Any, value: Any) -> str:
        text = super().validate(obj, value) or ""
        if not 1 <= (count := len(text.split())) <= LONGEST_SENTENCE:
            raise traitlets.TraitError(
                f"The {self.name} has {count} words, and 1 to {LONGEST_SENTENCE} can be drawn."
            )
        return text


class SentenceBleu(MovingFigure):
    """Compare a translation with a reference.

    Attributes:
        reference, translation: words with spaces between.
    """

    _esm = module("sentence_bleu")

    reference = ShortText().tag(sync=True)
    translation = ShortText().tag(sync=True)

    def __init__(self, **values: Any) -> None:
        super().__init__(**{**START, **values})

    def verdicts(self, n: int) -> list[Verdict]:
        """What becomes of each run of n words of the translation, from its first word on."""
        ours, theirs = (
            list(zip(*(text.split()[k:] for k in range(n)), strict=False))
            for text in (self.translation, self.reference)
        )
        there, used, found = Counter(theirs), Counter[tuple[str, ...]](), list[Verdict]()
        for run in ours:
            used[run] += 1
            missing: Verdict = "clipped" if there[run] else "absent"
            found.append("counts" if used[run] <= there[run] else missing)
        return found

    @property
    def precisions(self) -> list[float]:
        """(4,), for n = 1 to 4; of no runs at all it is 0."""
        found = [self.verdicts(n) for n in (1, 2, 3, 4)]
        return [runs.count("counts") / max(len(runs), 1) for runs in found]

    @property
    def mean(self) -> float:
        """The precisions' geometric mean."""
        return float(np.prod(self.precisions) ** 0.25)

    @property
    def brevity(self) -> float:
        """The penalty that the mean is multiplied by."""
        return min(1.0, exp(1 - len(self.reference.split()) / len(self.translation.split())))

    @property
    def score(self) -> float:
        """BLEU, from 0 to 100, without smoothing."""
        return 100 * self.brevity * self.mean


def bleu_drawn(**values: Any) -> Figure:
    """What the figure starts with."""
    one = SentenceBleu(**values)
    verdicts = [one.verdicts(n) for n in (1, 2, 3, 4)]
    against = len(one.reference.split())
    return sentence_bleu(one.translation.split(), verdicts, one.precisions, one.brevity, against)
