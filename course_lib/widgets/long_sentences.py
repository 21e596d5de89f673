"""BLEU by source length, to 60 words, of RNNencdec and RNNsearch, with sentences to compare."""

from collections.abc import Mapping, Sequence
from typing import Any

import traitlets
from matplotlib.figure import Figure

from course_lib.figures.lengths import score_by_length
from course_lib.records import read_record
from course_lib.widgets.modules import MovingFigure, module

RUN_NAMES = {"RNNencdec": "rnnencdec", "RNNsearch": "rnnsearch"}


def start() -> dict[str, Any]:
    """What the figure starts with: the records of the two models on Python's documentation."""
    records = {name: read_record(f"paper-figure-{model}") for name, model in RUN_NAMES.items()}
    first = next(iter(records.values()))
    curves = {
        name: [
            {"mean": row["mean"], "low": row["interval"][0], "high": row["interval"][1]}
            for row in record["by_length"][:-1]
        ]
        for name, record in records.items()
    }
    examples = [
        {
            **{key: one[key] for key in ("words", "source", "reference")},
            "written": {
                name: record["examples"][place]["translation"] for name, record in records.items()
            },
        }
        for place, one in enumerate(first["examples"])
    ]
    ranges = [
        {key: row[key] for key in ("lower", "upper", "sentences")}
        for row in first["by_length"][:-1]
    ]
    return {
        "ranges": ranges,
        "curves": curves,
        "examples": examples,
        "languages": first["pair"].split("-"),
        "chosen": 0,
    }


def curves_drawn(
    ranges: Sequence[Mapping[str, Any]],
    curves: Mapping[str, Sequence[Mapping[str, float]]],
    **_: Any,
) -> Figure:
    """Both curves with their intervals; the arguments are traits of `LongSentences`."""
    return score_by_length(
        {
            name: [
                {**place, "bleu_tok": row["mean"], "bleu_tok_range": (row["low"], row["high"])}
                for place, row in zip(ranges, rows, strict=True)
            ]
            for name, rows in curves.items()
        }
    )


class LongSentences(MovingFigure):
    """Slide from a short sentence to a long one: both curves, and both translations.

    Attributes:
        ranges: of source words, `lower` to `upper`, with how many test `sentences` each has.
        curves: by model and range the `mean` BLEU over seeds and its interval, `low` to `high`.
        examples: of each its number of `words`, `source`, `reference`, and what each model has
            `written`.
        languages: of source and target.
        chosen: which example is shown.
    """

    _esm = module("long_sentences")

    ranges: Any = traitlets.List().tag(sync=True)
    curves: Any = traitlets.Dict().tag(sync=True)
    examples: Any = traitlets.List().tag(sync=True)
    languages = traitlets.List(traitlets.Unicode()).tag(sync=True)
    chosen = traitlets.Int(0, min=0).tag(sync=True)

    def __init__(self, **values: Any) -> None:
        super().__init__(**{**start(), **values})

    @traitlets.validate("chosen")
    def _there(self, proposal: Any) -> int:
        if proposal["value"] >= len(self.examples):
            raise traitlets.TraitError(f"chosen is at most {len(self.examples) - 1}.")
        return int(proposal["value"])
