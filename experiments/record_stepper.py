"""Record the translations that chapter 9's figure steps through.

    python experiments/record_stepper.py [DIRECTORY] [--french RUN] [--toy DIRECTORY]

DIRECTORY has the recorded comparison on Multi30k, in rnnsearch/ and rnnencdec/ (runs/compare-cpu
unless given), RUN an RNNsearch from English to French (runs/en-fr; `course train --model rnnsearch
--corpus multi30k --pair en-fr --preset cpu --out runs/en-fr`). On the embedded corpus RNNsearch is
the one that is given out with the assignment `heatmap_analysis`; what it is compared with is
trained in the same way below --toy (runs/stepper), where it is not there yet: minutes each on a
quiet core. Writes attention-stepper.json: the figure's sentences and, under
`runs`, where each model comes from, with the results of the trained ones beside it.
"""

import argparse
import html
import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from record_heatmap_model import ASSIGNMENT, CONFIGURATION
from recording import Runs, result_of, write

from course_lib.corpora import load_corpus
from course_lib.corpora.corpus import Split
from course_lib.corpora.vocabulary import EOS, MARKS
from course_lib.errors import CourseError
from course_lib.training import (
    Run,
    RunConfig,
    finish_run,
    load_run,
    recorded_name,
    train,
)
from course_lib.training.run_directory import RESULT
from course_lib.widgets.stepper import recorded_steps

GIVEN = "RNNsearch"
SAME = CONFIGURATION.changes
ONE_WAY = {**SAME, "encoder": "forward"}
COMPARED = {
    "RNNencdec": ("stepper", RunConfig("rnnencdec", "toy", changes=SAME)),
    "dot product, reads forwards": (
        "stepper-dot",
        RunConfig("rnnsearch", "toy", changes={**ONE_WAY, "context": "dot"}),
    ),
    "additive, reads forwards": (
        "stepper-additive",
        RunConfig("rnnsearch", "toy", changes=ONE_WAY),
    ),
}
"""By the names the figure gives them: the tag of the result's file and the run. Dot products need
annotations as wide as the state, so that encoder reads one way; the last run has the same encoder
and the additive score."""
SENTENCES = {
    181: "a separable verb",
    65: "verbs at the end of a clause",
    133: "a compound: two words, one word",
}
"""Positions in the assignment's held-out sentences, chosen by their source and gold links."""
CAPTIONS = "test_2016_flickr"
LENGTHS = (8, 16)
"""Of Multi30k the first sentence of each length, in words."""
FRENCH = ("small", "white")
"""To French goes the first caption with these two adjectives: one of them stays before its noun."""
SURE = 0.5
"""A crossing counts where both words have at least this weight."""
STEP = 4
"""So many words are written when the page opens: an empty map would not say what it is."""
KEPT = (
    *("model", "corpus", "pair", "preset", "seed", "changes", "parameters", "git_commit"),
    *("model_sha256", "corpus_sha256"),
)


class Model(NamedTuple):
    """A run and where it comes from."""

    run: Run
    told: dict[str, Any]


def model_of(path: Path, tag: str | None = "") -> Model:
    """A run with what its result says of where it comes from, and its score.

    tag: of the file in experiments that has the same result; None where there is none.
    """
    result = result_of(path)
    (split, scores), *_ = result["scores"].items()
    score = {key: scores[key] for key in ("beam", "bleu_tok", "bleu_tok_signature")}
    told = {**{key: result[key] for key in KEPT}, split: score}
    if tag is not None:
        told["recorded"] = recorded_name(result, tag)
    return Model(load_run(path, "cpu"), told)


def runs() -> Runs:
    """The trained models that the given one is compared with."""
    yield from COMPARED.values()


def compared(directory: Path) -> dict[str, Model]:
    """Those models, trained if they are not there yet; their results go to experiments."""
    models = {}
    for name, (tag, config) in COMPARED.items():
        path = directory / tag
        if not (path / RESULT).exists():
            corpus = load_corpus(config.corpus, config.pair, **config.corpus_options)
            train(config, corpus, path, quiet=True)
            finish_run(path, corpus, beam=1)
        models[name] = model_of(path, tag)
        write(models[name].told["recorded"], result_of(path))
    return models


def sentence(
    label: str, source: list[str], models: dict[str, Model], gold: dict[str, Any] | None = None
) -> dict[str, Any]:
    """One sentence of the figure, translated by every model.

    Gold links are those of the reference: a model that writes something else gets none.
    """
    found = [recorded_steps(model.run, source, name) for name, model in models.items()]
    for one in found:
        if gold is not None and one["target"][:-1] == gold["target"] and one["alpha"]:
            one["gold"] = gold["gold"]
    words = [*map(html.unescape, source), MARKS[EOS]]
    return {"label": f"{label}: {' '.join(words[:-1])}", "source": words, "models": found}


def chosen(part: Split) -> list[int]:
    """The positions of the sentences that `LENGTHS` asks for."""
    lengths = [len(source) for source in part.source]
    return [lengths.index(length) for length in LENGTHS]


def crosses(alpha: Sequence[Sequence[float]]) -> bool:
    """Whether two words in a row look, surely, at two source words in a row in the other order."""
    weights = np.array(alpha)
    best, sure = weights.argmax(axis=1), weights.max(axis=1) >= SURE
    return bool(((best[:-1] == best[1:] + 1) & sure[:-1] & sure[1:]).any())


def captions(model: Model) -> Split:
    """The captions that a model of Multi30k is tested on."""
    config = model.run.config
    return load_corpus(config.corpus, config.pair, **config.corpus_options).splits[CAPTIONS]


def record(directory: Path, french: Path, toy: Path) -> None:
    """Translate and write."""
    models = {GIVEN: model_of(ASSIGNMENT / "model", None), **compared(toy)}
    told = {f"toy {name}": model.told for name, model in models.items()}
    held_out = json.loads((ASSIGNMENT / "held_out.json").read_text(encoding="utf-8"))["sentences"]
    sentences = [
        sentence(label, held_out[i]["source"], models, held_out[i])
        for i, label in SENTENCES.items()
    ]
    pair = {name: model_of(directory / name.lower()) for name in (GIVEN, "RNNencdec")}
    told |= {f"multi30k en-de {name}": model.told for name, model in pair.items()}
    part = captions(pair[GIVEN])
    sentences += [sentence("Multi30k", part.source[i], pair) for i in chosen(part)]
    one = {GIVEN: model_of(french)}
    told[f"multi30k en-fr {GIVEN}"] = one[GIVEN].told
    write(one[GIVEN].told["recorded"], result_of(french))
    words = next(x for x in captions(one[GIVEN]).source if FRENCH in pairwise(x))
    sentences.append(sentence("Multi30k, to French", words, one))
    if not crosses(sentences[-1]["models"][0]["alpha"]):
        raise CourseError(f"Nothing crosses in {' '.join(words)!r}. Choose another caption.")
    figure = {"sentences": sentences, "sentence": 0, "step": STEP, "first": GIVEN, "second": ""}
    write("attention-stepper.json", {"runs": told, "figure": figure})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path, nargs="?", default=Path("runs/compare-cpu"))
    parser.add_argument("--french", type=Path, default=Path("runs/en-fr"))
    parser.add_argument("--toy", type=Path, default=Path("runs/stepper"))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    record(arguments.directory, arguments.french, arguments.toy)
