"""Train the small RNNsearch that is given out with the assignment `heatmap_analysis`.

RNNsearch on the whole embedded corpus, narrow enough for a file of a megabyte. Written beside the
assignment's source, in solutions/heatmap_analysis/:

model/: the run directory, for reading only: its weights in half precision, no optimiser's state;
held_out.json: the first sentence pairs of the test split with their gold links, and where the verbs
    stand that German puts far behind their English place.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

from course_lib.corpora import Corpus
from course_lib.corpora.corpus import Link
from course_lib.corpora.toy.lexicon import VERBS
from course_lib.training import RunConfig
from course_lib.training.run_directory import BEST, CONFIG, RESULT, VOCABULARY
from experiments.recording import SMALL, Part, Records, corpus_of, rounded_run

ASSIGNMENT = Path(__file__).parents[2] / "solutions" / "heatmap_analysis"
CONFIGURATION = RunConfig(
    "rnnsearch",
    "toy",
    changes={**SMALL, "hidden": 96, "dropout": 0.1, "epochs": 12, "learning_rate": 3e-3},
)
HELD_OUT = 200
"""Sentences. Enough for 50 verbs many times over, few enough for a second of forced decoding."""
FAR = 2
"""So many words have to be said before a verb in German and after it in English."""


def moved_verbs(source: list[str], target: list[str], links: frozenset[Link]) -> list[Link]:
    """The links of verbs that German says at least `FAR` words later than English does.

    Of the links between an English and a German form of one verb, those that at least `FAR` target
    words cross: words that stand before the verb, and whose source words stand behind it.
    """
    found = []
    for j, i in sorted(links):
        one_verb = any(
            source[j] in (v.english, v.english_third, v.english_past, v.english_ing)
            and target[i]
            in (
                v.german_participle,
                v.german_prefix + v.german,
                f"{v.german_prefix}zu{v.german}",
                *(v.german_prefix + form for form in (*v.german_present, *(v.german_past or ()))),
            )
            for v in VERBS
        )
        if one_verb and len({k for h, k in links if h > j and k < i}) >= FAR:
            found.append((j, i))
    return found


def held_out(corpus: Corpus) -> dict[str, Any]:
    """The sentences of the assignment as plain values; links are [source, target], from 0."""
    part = corpus.splits["test"]
    assert part.links is not None
    rows = zip(part.source, part.target, part.links, strict=True)
    return {
        "corpus": corpus.name,
        "pair": corpus.pair,
        "split": "test",
        "corpus_sha256": corpus.sha256,
        "sentences": [
            {
                "source": x,
                "target": y,
                "gold": sorted(links),
                "verbs": moved_verbs(x, y, links),
            }
            for (x, y, links), _ in zip(rows, range(HELD_OUT), strict=False)
        ],
    }


def text_of(sentences: dict[str, Any]) -> str:
    """JSON with one sentence a line."""
    head = {key: value for key, value in sentences.items() if key != "sentences"}
    lines = ",\n".join(json.dumps(one, ensure_ascii=False) for one in sentences["sentences"])
    return json.dumps(head)[:-1] + ', "sentences": [\n' + lines + "\n]}\n"


def given_out() -> Records:
    """Train, round the weights, and score what is given out."""
    held = held_out(corpus_of(CONFIGURATION))
    yield str(ASSIGNMENT / "held_out.json"), text_of(held).encode()
    with tempfile.TemporaryDirectory() as folder:
        run = rounded_run(CONFIGURATION, Path(folder) / "model")
        for name in (CONFIG, VOCABULARY, RESULT, BEST):
            yield str(ASSIGNMENT / "model" / name), (run / name).read_bytes()


PARTS = {"given-out": Part(given_out, "about ten minutes")}
