"""Record what the book reads of a comparison: results, a few translations with their attention.

    python experiments/record.py runs/compare-cpu [--tag TAG]

Writes CORPUS-PAIR-MODEL-PRESET[-TAG]-seedN.json for each run below the directory
and, for RNNsearch, examples of the test set with their weights (...-examples.json); of chapter 8's
comparison also the README's picture. Runs with a tag are variants that a page compares: of these,
the results alone.
"""

import argparse
from pathlib import Path

import numpy as np
from recording import result_of, write

from course_lib.corpora import load_corpus
from course_lib.evaluation.weights import merge_pieces
from course_lib.figures.heatmap import heatmap
from course_lib.search import Hypothesis, translate
from course_lib.training import load_run, recorded_name

BOOK = Path(__file__).parents[1] / "book"
PICTURED = "cpu"
"""The preset of chapter 8's comparison, from which the README has its picture."""
EXAMPLES = (0, 5, 17, 85, 400)
"""Positions in the test split, chosen before any translation was seen."""


def record(directory: Path, tag: str) -> None:
    """Copy every result below `directory`, and decode the examples of RNNsearch."""
    for path in sorted(directory.glob("*/result.json")):
        result = result_of(path.parent)
        name = recorded_name(result, tag)
        write(name, result)
        if result["model"] == "rnnsearch" and not tag:
            examples = decode_examples(path.parent, next(iter(result["scores"])))
            write(name.replace(".json", "-examples.json"), examples)
            if result["preset"] == PICTURED:
                draw_readme_picture(examples[0])


def decode_examples(path: Path, split: str) -> list[dict[str, object]]:
    """Source, reference, translation (beam 12, ranked as when scored) and weights, rounded to four
    digits."""
    run = load_run(path)
    corpus = load_corpus(run.config.corpus, run.config.pair, **run.config.corpus_options)
    part = corpus.splits[split]
    sources = [part.source[i] for i in EXAMPLES]
    encoded = [run.source_vocabulary.encode(source) for source in sources]
    found = translate(run.model, encoded, 12, run.config.recipe.length_penalty)

    def weights(numbers: list[int], hypothesis: Hypothesis) -> list[list[float]]:
        """Between whole words, also where the model reads and writes pieces."""
        if hypothesis.alpha is None:
            return []
        read = run.source_vocabulary.words_of(numbers)
        written = run.target_vocabulary.words_of(hypothesis.tokens)
        return merge_pieces(hypothesis.alpha, read, written).round(4).tolist()

    return [
        {
            "split": split,
            "position": i,
            "source": [*source, "</s>"],
            "reference": part.target[i],
            "translation": [*run.target_vocabulary.decode(hypothesis.tokens), "</s>"],
            "alpha": weights(numbers, hypothesis),
        }
        for i, source, numbers, hypothesis in zip(EXAMPLES, sources, encoded, found, strict=True)
    ]


def draw_readme_picture(example: dict[str, object]) -> None:
    """The first example as a heatmap."""
    figure = heatmap(
        np.array(example["alpha"]), list(example["source"]), list(example["translation"])
    )
    figure.savefig(BOOK / "images" / "readme-heatmap.png", dpi=160)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--tag", default="")
    arguments = parser.parse_args()
    record(arguments.directory, arguments.tag)
