"""Record other ways to read links off the same weights, and what a word aligner finds.

    python experiments/record_aligners.py DIRECTORY

Takes the two runs that `record_alignment.py DIRECTORY` trained, and writes
toy-en-de-rnnsearch-cpu-seed0-aligners.json: error rates of the test split by the
largest weight, with and without the end mark, and by the weights on which both directions agree,
from the threshold that is best on the validation split; and those of the aligner eflomal. A minute.
It needs `pip install eflomal`, which needs a C compiler; nothing else in the course does.
"""

import argparse
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from record_alignment import PAIRS, THRESHOLDS, weights_of
from recording import aligned_run, write

from course_lib.corpora import Corpus, load_corpus
from course_lib.evaluation.align import Alignments, words_links
from course_lib.evaluation.alignment import (
    alignment_error_rate,
    argmax_links,
    threshold_links,
    transposed,
)
from course_lib.evaluation.links import read_links
from course_lib.evaluation.symmetrise import COMBINATIONS, both_directions
from course_lib.evaluation.weights import Weights
from course_lib.files import sha256_of
from course_lib.training import load_run, read_result, recorded_name
from course_lib.training.run_directory import BEST


def agreed(weights: dict[str, list[Weights]]) -> list[Weights]:
    """The weights on which the two directions agree, pair by pair."""
    return [both_directions(*pair) for pair in zip(*weights.values(), strict=True)]


def scored(found: Alignments, corpus: Corpus, split: str) -> dict[str, Any]:
    """Against the corpus's links."""
    links = corpus.splits[split].links
    assert links is not None
    return alignment_error_rate(found, links)._asdict()


def thresholds(weights: list[Weights], corpus: Corpus) -> list[dict[str, Any]]:
    """Scores on the validation split for each threshold."""
    return [
        {
            "threshold": threshold,
            **scored(
                [threshold_links(alpha, threshold, end_mark=False) for alpha in weights],
                corpus,
                "val",
            ),
        }
        for threshold in THRESHOLDS
    ]


def eflomal_alignments(corpus: Corpus, split: str) -> dict[str, Alignments]:
    """Both directions of eflomal (Östling and Tiedemann, 2016), as it comes, and combined."""
    import eflomal

    train, part = corpus.splits["train"], corpus.splits[split]
    texts = [
        [" ".join(words) for words in (*one, *other)]
        for one, other in ((train.source, part.source), (train.target, part.target))
    ]
    with TemporaryDirectory() as folder:
        files = [Path(folder) / way for way in ("forward", "reverse")]
        eflomal.Aligner().align(*texts, *map(str, files))
        found = [read_links(file)[-len(part) :] for file in files]
    forward, backward = ([links.sure for links in direction] for direction in found)
    combined = {
        name: [combine(one, other) for one, other in zip(forward, backward, strict=True)]
        for name, combine in COMBINATIONS.items()
    }
    return {"forward": forward, "reverse": backward, **combined}


def eflomal_scores(corpus: Corpus, split: str) -> dict[str, Any]:
    """Of one run; eflomal draws at random and takes no seed."""
    found = eflomal_alignments(corpus, split)
    return {
        "name": "eflomal",
        "version": version("eflomal"),
        "given": f"the training pairs and those of {split}, without links",
        "alignments": {way: scored(links, corpus, split) for way, links in found.items()},
    }


def record(directory: Path) -> None:
    """Align both splits with both runs, and write."""
    weights: dict[str, dict[str, list[Weights]]] = {"val": {}, "test": {}}
    for pair in PAIRS:
        run, turned = load_run(directory / pair, "cpu"), load_corpus("toy", pair)
        for split in weights:
            weights[split][pair] = weights_of(run, turned, split)
    corpus = load_corpus("toy", PAIRS[0])
    curve = thresholds(agreed(weights["val"]), corpus)
    both = min(curve, key=lambda row: row["aer"])["threshold"]
    forward, backward = weights["test"].values()
    ways = {
        "argmax": [argmax_links(alpha) for alpha in forward],
        "words": [words_links(alpha) for alpha in forward],
        "reverse-words": [transposed(words_links(alpha)) for alpha in backward],
        "agreed": [
            threshold_links(alpha, both, end_mark=False) for alpha in agreed(weights["test"])
        ],
    }
    result = read_result(directory / PAIRS[0])
    content = {
        **aligned_run(result),
        "model_sha256": {pair: sha256_of(directory / pair / BEST) for pair in PAIRS},
        "both": both,
        "both_on_val": curve,
        "on_val": {
            "argmax": scored([argmax_links(a) for a in weights["val"][PAIRS[0]]], corpus, "val"),
            "words": scored([words_links(a) for a in weights["val"][PAIRS[0]]], corpus, "val"),
        },
        "attention": {name: scored(found, corpus, "test") for name, found in ways.items()},
    }
    name = recorded_name(result).replace(".json", "-aligners.json")
    write(name, content)
    write(name, {**content, "aligner": eflomal_scores(corpus, "test")})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path, nargs="?", default=Path("runs/alignment"))
    torch.set_num_threads(1)
    record(parser.parse_args().directory)
