"""Translators at work: type a sentence, watch the models write, take hold of their weights."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import traitlets
from matplotlib.figure import Figure

from course_lib.corpora import load_corpus
from course_lib.corpora.registry import CORPORA
from course_lib.errors import CourseError
from course_lib.figures.heatmap import heatmap
from course_lib.pretrained import of_long_sentences, small
from course_lib.training import Run, load_run
from course_lib.widgets.live_translation import live_translation
from course_lib.widgets.modules import MovingFigure, module, worker_script
from course_lib.widgets.pack import Pack, pack_run

FOLDER = "_static/live"
"""Where the book's pages find the published models' scripts, from the book's top."""
SENTENCE = "Two boys in red shirts are watching a white dog that is jumping over a fence."
DOCUMENTATION = (
    "A single byte, represented as a C int.",
    "The last byte in the buffer is always null, regardless of whether there are any other null "
    "bytes.",
    "When another data type is mixed in, the value attribute is not the same as the enum member "
    "itself, although it is equivalent and will compare equal.",
    "As explained in the previous section, foreign functions can be accessed as attributes of "
    "loaded shared libraries. The function objects created in this way by default accept any "
    "number of arguments, accept any ctypes data instances as arguments, and return the default "
    "result type specified by the library loader. They are instances of a private class:",
)
"""Sentences of 10, 20, 30 and 60 words of the test set of Python's documentation."""
SENTENCES = {
    "python-docs": DOCUMENTATION[::-1],
    "en": (
        SENTENCE,
        "Two children are playing in the snow.",
        "A woman in a red dress is dancing on the street while three men watch her.",
        "The small brown dog that the boy in the yellow shirt is holding wants to jump into the "
        "cold water.",
        "The parliament postponed the vote.",
    ),
    "de": (
        "Eine Frau in einem roten Kleid tanzt auf der Straße, während drei Männer ihr zuschauen.",
        "Zwei Kinder spielen im Schnee.",
    ),
    "fr": (
        "Une femme en robe rouge danse dans la rue pendant que trois hommes la regardent.",
        "Deux enfants jouent dans la neige.",
    ),
    "es": (
        "Un solo byte, representado como un int de C.",
        "El último byte del búfer siempre es nulo.",
    ),
}
"""What a page of a model of real text offers, by its corpus or by the language it reads."""
GLOSSES: dict[str, str] = json.loads(Path(__file__).with_name("glosses.json").read_text("utf-8"))
"""In English what the published models write for SENTENCE, and for it without one of its words, for
readers of English alone."""
BEAM = 5
GREETING = 120_000
"""Bytes of the first sentence's translations; a model that finds no end writes more than a page
should weigh before anything is asked."""


@cache
def published_packs() -> list[tuple[Run, Pack]]:
    """The published models for the book's page, by pair, RNNsearch before RNNencdec."""
    runs = [load_run(name, "cpu") for name in (*small(), *of_long_sentences())]
    runs.sort(key=lambda run: (run.config.pair, run.config.model != "rnnsearch"))
    return [(run, pack_run(run)) for run in runs]


@cache
def start() -> dict[str, Any]:
    """What the book's page starts with: the published models, loaded when they are asked for."""
    runs, packs = zip(*published_packs(), strict=True)
    return values_of(runs, packs, f"../{FOLDER}", greeting(runs, packs))


def values_of(
    runs: Sequence[Run], packs: Sequence[Pack], folder: str, first: dict[str, Any]
) -> dict[str, Any]:
    """The traits of a figure of these packs, their scripts in `folder`.

    Args:
        runs: those of the packs.
        first: what they write for the sentence that the figure begins with; see `greeting`.
    """
    about = packs[0].about
    sentences = {
        one.about["pair"]: sentences_for(run) for run, one in zip(runs, packs, strict=True)
    }
    return {
        "packs": [one.about for one in packs],
        "folder": folder,
        "worker": worker_script(),
        "sentences": sentences,
        "text": sentences[about["pair"]][0],
        "pair": about["pair"],
        "k": BEAM,
        "length_penalty": about["length_penalty"],
        "glosses": GLOSSES,
        "first": first if len(json.dumps(first)) <= GREETING else {},
    }


def greeting(runs: Sequence[Run], packs: Sequence[Pack]) -> dict[str, Any]:
    """By name what the models of the first pair write for the first sentence."""
    asked = sentences_for(runs[0])[0], BEAM, packs[0].about["length_penalty"]
    return {
        one.name: live_translation(run, *asked, one.seen)
        for run, one in zip(runs, packs, strict=True)
        if one.about["pair"] == packs[0].about["pair"]
    }


def sentences_for(run: Run) -> list[str]:
    """Sentences to begin with: by the language, or of a corpus made here or brought along."""
    known, options = CORPORA.get(run.config.corpus), run.config.corpus_options
    if known and not known.generated:
        reads = run.config.languages[0]
        own = SENTENCES.get(run.config.corpus) if reads == "en" else None
        return list(own or SENTENCES[reads])
    if known:
        options = {**options, "train": 1, "val": 1, "test": 50}
    try:
        *_, last = load_corpus(run.config.corpus, run.config.pair, **options).splits.values()
    except CourseError:  # text of the run's owner, which is elsewhere
        return list(SENTENCES.get(run.config.pair[:2], SENTENCES["en"]))
    lines = sorted(last.source, key=len)
    chosen = [lines[len(lines) * share // 10] for share in (9, 6, 3)]
    if run.how.rules == "plain":
        return [run.how.text(words, run.config.languages[0]) for words in chosen]
    return list(map(" ".join, chosen))


def looked(first: Mapping[str, Any], **_: Any) -> Figure:
    """Where the first model that attends looks in its first sentence: what paper shows."""
    shown = next(one for one in first.values() if one["alpha"])
    return heatmap(shown["alpha"], shown["source"], shown["target"])


class Live(MovingFigure):
    """Models in the page: what is typed is translated there, and Python reads what was found.

    Attributes:
        packs: what the page knows of each model before it is loaded.
        folder: where a page finds the models' scripts.
        data: the models themselves, for a notebook; by name.
        worker: the script that translates.
        sentences: by pair, examples to take.
        text, pair, k, length_penalty: what is asked for.
        glosses: what known translations mean in English, by their text.
        first: by name what the models write for `text`, so that something stands there at once.
        step: how many words are shown.
        found: by model its `text`, `source`, `target`, `alpha` and `log_prob`.
    """

    _esm = module("live")

    packs: Any = traitlets.List().tag(sync=True)
    folder = traitlets.Unicode("").tag(sync=True)
    data: Any = traitlets.Dict(allow_none=True, default_value=None).tag(sync=True)
    worker = traitlets.Unicode().tag(sync=True)
    sentences: Any = traitlets.Dict().tag(sync=True)
    glosses: Any = traitlets.Dict().tag(sync=True)
    first: Any = traitlets.Dict().tag(sync=True)
    text = traitlets.Unicode().tag(sync=True)
    pair = traitlets.Unicode().tag(sync=True)
    k = traitlets.Int(BEAM, min=1).tag(sync=True)
    length_penalty = traitlets.Float(1.0).tag(sync=True)
    step = traitlets.Int(0, min=0).tag(sync=True)
    found: Any = traitlets.Dict().tag(sync=True)


def live(*runs: Run | Path | str, text: str | None = None) -> Live:
    """A translator in the notebook: `live("runs/mine")`, or two runs to set side by side.

    Args:
        runs: run directories, published models' names, or runs as `load_run` reads them; none is
            the published RNNsearch and RNNencdec to German.
        text: the sentence that it starts with, instead of one that the models know.
    """
    chosen = runs or ("multi30k-en-de-laptop", "multi30k-en-de-laptop-rnnencdec")
    read = [run if isinstance(run, Run) else load_run(run, "cpu") for run in chosen]
    packs = packs_of(read)
    first = greeting(read, packs) if text is None else {}
    values = values_of(read, packs, "", first)
    if text is not None:
        values["text"] = text
    return Live(**values, data={one.name: one.data for one in packs})


def packs_of(runs: Sequence[Run]) -> list[Pack]:
    """The packs of several runs, each with a name of its own."""
    names: list[str] = []
    for run in runs:
        name = run.path.resolve().name
        names.append(name if name not in names else f"{name}-{len(names)}")
    packs = [pack_run(run, name) for run, name in zip(runs, names, strict=True)]
    models = Counter((one.about["model"], one.about["pair"]) for one in packs)
    for one in packs:
        if models[one.about["model"], one.about["pair"]] > 1:
            one.about["model"] = one.name
    return packs
