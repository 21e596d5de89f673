"""Translators at work: type a sentence, watch the models write, take hold of their weights."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import anywidget
import traitlets
from matplotlib.figure import Figure

from course_lib.corpora.tokenization import tokenize
from course_lib.corpora.vocabulary import EOS, MARKS
from course_lib.evaluation.steps import decoding_steps
from course_lib.figures.heatmap import heatmap
from course_lib.pretrained import published
from course_lib.search import translate
from course_lib.training import Run, load_run
from course_lib.widgets.modules import module, style, worker_script
from course_lib.widgets.pack import Pack, pack

FOLDER = "_static/live"
"""Where the book's pages find the published models' scripts, from the book's top."""
SENTENCE = "A woman in a red dress is dancing on the street while three men watch her."
BEAM = 5


@cache
def published_packs() -> list[Pack]:
    """All published models for the book's page, RNNsearch before RNNencdec."""
    packs = [pack(load_run(name, "cpu"), name) for name in published()]
    return sorted(packs, key=lambda one: (one.about["pair"], one.about["model"] != "RNNsearch"))


def start() -> dict[str, Any]:
    """What the book's page starts with: the published models, loaded when they are asked for."""
    return values_of([one.about for one in published_packs()], f"../{FOLDER}")


def values_of(packs: Sequence[dict[str, Any]], folder: str) -> dict[str, Any]:
    """The traits of a figure of these models, their scripts in `folder`."""
    first = packs[0]
    return {
        "packs": list(packs),
        "folder": folder,
        "worker": worker_script(),
        "text": SENTENCE,
        "pair": first["pair"],
        "k": BEAM,
        "length_penalty": first["length_penalty"],
    }


def looked(text: str, packs: Sequence[dict[str, Any]], **_: Any) -> Figure:
    """Where the first published model looks while it translates the sentence: what paper shows."""
    return map_of(load_run(packs[0]["name"], "cpu"), text)


def map_of(run: Run, text: str) -> Figure:
    """The map of one sentence as one run translates it."""
    language = run.config.pair.split("-")[0] if "-" in run.config.pair else None
    words = run.source_vocabulary.encode(tokenize(text, language) if language else text.split())
    found = translate(run.model, [words], BEAM, run.config.recipe.length_penalty)[0]
    steps = decoding_steps(run.model, words, found.tokens)
    source = [run.source_vocabulary.tokens[word] for word in words]
    target = [run.target_vocabulary.tokens[word] for word in found.tokens]
    return heatmap(steps.alpha, [*source, MARKS[EOS]], [*target, MARKS[EOS]])


class Live(anywidget.AnyWidget):
    """Models in the page: what is typed is translated there, and Python reads what was found.

    Attributes:
        packs: what the page knows of each model before it is loaded.
        folder: where a page finds the models' scripts.
        data: the models themselves, for a notebook; by name.
        worker: the script that translates.
        text, pair, k, length_penalty: what is asked for.
        step: how many words are shown.
        found: by model its `text`, `source`, `target`, `alpha` and `log_prob`, once it
            has answered.
    """

    _esm = module("live")
    _css = style()

    packs: Any = traitlets.List().tag(sync=True)
    folder = traitlets.Unicode("").tag(sync=True)
    data: Any = traitlets.Dict(allow_none=True, default_value=None).tag(sync=True)
    worker = traitlets.Unicode().tag(sync=True)
    text = traitlets.Unicode().tag(sync=True)
    pair = traitlets.Unicode().tag(sync=True)
    k = traitlets.Int(BEAM, min=1).tag(sync=True)
    length_penalty = traitlets.Float(1.0).tag(sync=True)
    step = traitlets.Int(0, min=0).tag(sync=True)
    found: Any = traitlets.Dict().tag(sync=True)


def live(*runs: Run | Path | str, text: str = SENTENCE) -> Live:
    """A translator in the notebook: `live("runs/mine")`, or two runs to set side by side.

    Args:
        runs: run directories, published models' names, or runs as `load_run` reads them; none is
            the published RNNsearch and RNNencdec to German.
        text: the sentence that it starts with.

    Raises:
        CourseError: a page does not compute such a model.
    """
    chosen = runs or ("multi30k-en-de", "multi30k-en-de-rnnencdec")
    packs = packs_of([run if isinstance(run, Run) else load_run(run, "cpu") for run in chosen])
    values = values_of([one.about for one in packs], "")
    return Live(**{**values, "text": text}, data={one.name: one.data for one in packs})


def packs_of(runs: Sequence[Run]) -> list[Pack]:
    """The packs of several runs, each with a name of its own."""
    names: list[str] = []
    for run in runs:
        name = run.path.resolve().name
        names.append(name if name not in names else f"{name}-{len(names)}")
    return [pack(run, name) for run, name in zip(runs, names, strict=True)]
