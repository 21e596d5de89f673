"""Record what trained runs of one corpus score on the validation set with each length penalty.

    python experiments/record_length_penalty.py RUN...

Writes CORPUS-PAIR-length-penalty.json: tokenised BLEU of the search that scores runs,
its hypotheses ranked in several ways, and how long the translations are beside the references. A
preset's `length_penalty` is settled by it; no test score is among the numbers.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from record_search import rankings, words_of
from recording import write

from course_lib.corpora import load_corpus
from course_lib.evaluation.bleu import bleu_tok
from course_lib.training import load_run
from course_lib.training.provenance import git_commit
from course_lib.training.run_directory import known_at_start

SPLIT = "val"
BEAM = 12
PENALTIES = (0.0, 0.4, 0.8, 1.0, 1.2, 1.4, 1.6)


def ranked(path: Path) -> tuple[str, dict[str, Any]]:
    """A run's corpus and pair, and what its validation set scores, from one search a sentence."""
    run = load_run(path, "cpu")
    config = run.config
    part = load_corpus(config.corpus, config.pair, **config.corpus_options).splits[SPLIT]
    encoded = [run.source_vocabulary.encode(source) for source in part.source]
    length = sum(map(len, part.target))
    rows = []
    for penalty, found in rankings(run, encoded, BEAM, PENALTIES).items():
        written = words_of(run, found)
        rows.append(
            {
                "length_penalty": penalty,
                "bleu_tok": bleu_tok(written, part.target).score,
                "length_ratio": sum(map(len, written)) / length,
            }
        )
    known = {"run": path.name, "git_commit": known_at_start(path)["git_commit"]}
    return f"{config.corpus}-{config.pair}", {**known, "rows": rows}


def record(paths: Sequence[Path]) -> None:
    """Search with every run, write."""
    found = [ranked(path) for path in paths]
    [corpus] = {name for name, _ in found}
    how = {"searched_by": git_commit(), "split": SPLIT, "beam": BEAM}
    write(f"{corpus}-length-penalty.json", {**how, "runs": [run for _, run in found]})


if __name__ == "__main__":
    record([Path(path) for path in sys.argv[1:]])
