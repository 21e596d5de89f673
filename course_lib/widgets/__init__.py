"""Figures that move: one JavaScript module each, for a notebook and for the static page.

In a notebook a figure is a widget whose traits Python reads and sets; in the book the same module
draws from data that lies in the page, without a kernel and without a network. `FIGURES` has for
each module its widget and what stands in the page: the data, and a picture for where no JavaScript
runs.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.figure import Figure

from course_lib.errors import CourseError
from course_lib.figures.antecedent import word_looked_at
from course_lib.figures.by_hand import attention_by_hand
from course_lib.figures.read_write import frames_drawn
from course_lib.figures.self_attention import three_words
from course_lib.figures.softmax_bars import softmax_bars
from course_lib.figures.tiny_translator import whole_walk
from course_lib.figures.transformer import all_steps
from course_lib.figures.waiting import all_waits
from course_lib.widgets.antecedent import Antecedent
from course_lib.widgets.beam_tree import BeamTree, searched
from course_lib.widgets.bottleneck import BottleneckExplorer, explored
from course_lib.widgets.by_hand import START, AttentionByHand
from course_lib.widgets.drawing_words import DrawingWords, words_drawn
from course_lib.widgets.drawing_words import start as drawing_words_start
from course_lib.widgets.gated_unit import START as GATES
from course_lib.widgets.gated_unit import GatesByHand, unit_drawn
from course_lib.widgets.live import Live, live, looked
from course_lib.widgets.live import start as live_start
from course_lib.widgets.long_sentences import LongSentences, curves_drawn
from course_lib.widgets.long_sentences import start as long_sentences_start
from course_lib.widgets.modules import MovingFigure
from course_lib.widgets.read_write import ReadWrite
from course_lib.widgets.self_attention import START as SELF_ATTENTION
from course_lib.widgets.self_attention import SelfAttentionByHand
from course_lib.widgets.sentence_bleu import START as SENTENCE
from course_lib.widgets.sentence_bleu import SentenceBleu, bleu_drawn
from course_lib.widgets.softmax_scaling import SoftmaxScaling, start
from course_lib.widgets.stepper import AttentionStepper, stepped
from course_lib.widgets.tiny_translator import TinyTranslator
from course_lib.widgets.transformer import WritingTransformer
from course_lib.widgets.waiting import Waiting
from course_lib.widgets.waiting import start as waiting_start

__all__ = [
    "FIGURES",
    "Antecedent",
    "AttentionByHand",
    "AttentionStepper",
    "BeamTree",
    "BottleneckExplorer",
    "DrawingWords",
    "GatesByHand",
    "Live",
    "LongSentences",
    "Moving",
    "ReadWrite",
    "SelfAttentionByHand",
    "SentenceBleu",
    "SoftmaxScaling",
    "TinyTranslator",
    "Waiting",
    "WritingTransformer",
    "live",
]


class Moving(NamedTuple):
    """widget: its class. picture: drawn from the traits that the page starts with. start: makes
    these, where they do not come from a recorded file. language: of the words that are not English.
    """

    widget: type[MovingFigure]
    picture: Callable[..., Figure]
    start: Callable[[], dict[str, Any]] | None = None
    language: str = ""

    def values(self, path: Path | None = None) -> dict[str, Any]:
        """The traits the page starts with.

        Args:
            path: the recorded file, for a figure that has no start of its own.
        """
        if self.start is not None:
            figure = self.start()
        elif path is not None:
            figure = json.loads(path.read_text(encoding="utf-8"))["figure"]
        else:
            raise CourseError(f"{self.widget.__name__} draws what was recorded. Name the file.")
        return {**figure, "language": self.language} if self.language else figure


FIGURES = {
    "antecedent": Moving(Antecedent, word_looked_at),
    "bottleneck": Moving(BottleneckExplorer, explored),
    "beam_tree": Moving(BeamTree, searched, language="de"),
    "attention_stepper": Moving(AttentionStepper, stepped, language="de"),
    "attention_by_hand": Moving(AttentionByHand, attention_by_hand, lambda: START),
    "read_write": Moving(ReadWrite, frames_drawn),
    "live": Moving(Live, looked, live_start),
    "softmax_scaling": Moving(SoftmaxScaling, softmax_bars, start),
    "self_attention": Moving(SelfAttentionByHand, three_words, lambda: SELF_ATTENTION),
    "gated_unit": Moving(GatesByHand, unit_drawn, lambda: GATES),
    "drawing_words": Moving(DrawingWords, words_drawn, drawing_words_start),
    "tiny_translator": Moving(TinyTranslator, whole_walk, language="de"),
    "transformer": Moving(WritingTransformer, all_steps, language="de"),
    "long_sentences": Moving(LongSentences, curves_drawn, long_sentences_start),
    "waiting": Moving(Waiting, all_waits, waiting_start, "fr"),
    "sentence_bleu": Moving(SentenceBleu, bleu_drawn, lambda: SENTENCE),
}
