"""Record the translations that chapter 9's figure steps through.

    python book/record_stepper.py [DIRECTORY]

DIRECTORY has the recorded comparison on Multi30k, in rnnsearch/ and rnnencdec/ (runs/compare-cpu
unless given). On the embedded corpus the model is the RNNsearch that is given out with the
assignment `heatmap_analysis`. Writes book/results/attention-stepper.json: the figure's sentences
and, under `runs`, where each model comes from. Seconds.
"""

import argparse
import html
import json
from pathlib import Path
from typing import Any

import torch
from record_heatmap_model import ASSIGNMENT
from recording import write

from course_lib.corpora import load_corpus
from course_lib.corpora.corpus import Split
from course_lib.corpora.vocabulary import EOS, MARKS
from course_lib.files import sha256_of
from course_lib.training import Run, load_run, read_result
from course_lib.widgets.stepper import recorded_steps

GIVEN = "RNNsearch"
SENTENCES = {
    181: "a separable verb",
    65: "verbs at the end of a clause",
    133: "a compound: two words, one word",
}
"""Positions in the assignment's held-out sentences, chosen by their source and gold links."""
CAPTIONS = "test_2016_flickr"
LENGTHS = (8, 16)
"""Of Multi30k the first sentence of each length, in words."""
KEPT = ("model", "corpus", "pair", "preset", "seed", "parameters", "git_commit", "corpus_sha256")


def told(result: dict[str, Any]) -> dict[str, Any]:
    """What a run's result says of where it comes from, and its score."""
    (split, scores), *_ = result["scores"].items()
    score = {key: scores[key] for key in ("beam", "bleu_tok", "bleu_tok_signature")}
    return {**{key: result[key] for key in KEPT}, "changes": result["changes"], split: score}


def sentence(
    label: str, source: list[str], runs: dict[str, Run], gold: dict[str, Any] | None = None
) -> dict[str, Any]:
    """One sentence of the figure, translated by every model.

    Gold links are those of the reference: a model that writes something else gets none.
    """
    models = [recorded_steps(run, source, name) for name, run in runs.items()]
    for one in models:
        if gold is not None and one["target"][:-1] == gold["target"]:
            one["gold"] = gold["gold"]
    words = [*map(html.unescape, source), MARKS[EOS]]
    return {"label": f"{label}: {' '.join(words[:-1])}", "source": words, "models": models}


def chosen(part: Split) -> list[int]:
    """The positions of the sentences that `LENGTHS` asks for."""
    lengths = [len(source) for source in part.source]
    return [lengths.index(length) for length in LENGTHS]


def record(directory: Path) -> None:
    """Translate and write."""
    given = load_run(ASSIGNMENT / "model", "cpu")
    runs = {f"toy {GIVEN}": told(read_result(given.path))}
    runs[f"toy {GIVEN}"]["model_sha256"] = sha256_of(given.path / "model.safetensors")
    held_out = json.loads((ASSIGNMENT / "held_out.json").read_text(encoding="utf-8"))["sentences"]
    sentences = [
        sentence(label, held_out[i]["source"], {GIVEN: given}, held_out[i])
        for i, label in SENTENCES.items()
    ]
    pair = {name: load_run(directory / name.lower(), "cpu") for name in (GIVEN, "RNNencdec")}
    runs |= {f"multi30k {name}": told(read_result(run.path)) for name, run in pair.items()}
    config = pair["RNNsearch"].config
    part = load_corpus(config.corpus, config.pair, **config.corpus_options).splits[CAPTIONS]
    sentences += [sentence("Multi30k", part.source[i], pair) for i in chosen(part)]
    figure = {
        "sentences": sentences,
        "sentence": 0,
        "step": 0,
        "first": GIVEN,
        "second": "RNNencdec",
    }
    write("attention-stepper.json", {"runs": runs, "figure": figure})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path, nargs="?", default=Path("runs/compare-cpu"))
    torch.set_num_threads(1)
    record(parser.parse_args().directory)
