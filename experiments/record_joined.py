"""Record BLEU on sentences longer than any in training, made by joining test sentences.

    python experiments/record_joined.py runs/compare-cpu

Writes CORPUS-PAIR-PRESET-seedN-joined.json: for every run below the directory what
`course_lib.evaluation.joined.score_joined` returns, and how long training's sources were.
"""

import sys
from pathlib import Path
from typing import Any

from recording import write

from course_lib.corpora import load_corpus
from course_lib.evaluation.joined import score_joined
from course_lib.training import load_run, read_result
from course_lib.training.provenance import git_commit

COUNTS = (1, 2, 3, 4)


def record(directory: Path) -> None:
    """Score every run below `directory` on the joined sentences of its test split."""
    models: dict[str, Any] = {}
    for path in sorted(directory.glob("*/result.json")):
        run, result = load_run(path.parent), read_result(path)
        split = next(iter(result["scores"]))
        corpus = load_corpus(run.config.corpus, run.config.pair, **run.config.corpus_options)
        words = run.source_vocabulary, run.target_vocabulary
        beam, penalty = result["scores"][split]["beam"], run.config.recipe.length_penalty
        models[result["model"]] = {
            "git_commit": result["git_commit"],
            **score_joined(run.model, words, corpus.splits[split], COUNTS, beam, penalty),
        }
    kept = ("corpus", "pair", "preset", "seed", "versions", "corpus_sha256")
    lengths = [len(source) for source in corpus.splits["train"].source]
    shared = {
        **{key: result[key] for key in kept},
        "scored_by": git_commit(),
        "split": split,
        "shortest_in_training": min(lengths),
        "longest_in_training": max(lengths),
        "over_30_words_in_training": sum(length > 30 for length in lengths),
    }
    name = "{corpus}-{pair}-{preset}-seed{seed}-joined.json".format(**result)
    write(name, {**shared, "models": models})


if __name__ == "__main__":
    record(Path(sys.argv[1]))
