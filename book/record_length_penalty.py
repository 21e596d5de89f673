"""Record what a trained run scores on the validation set with each length penalty.

    python book/record_length_penalty.py RUN

Writes book/results/CORPUS-PAIR-length-penalty.json: tokenised BLEU of the search that scores runs,
its hypotheses ranked in several ways, and how long the translations are beside the references. A
preset's `length_penalty` is settled by it; no test score is among the numbers.
"""

import sys
from pathlib import Path

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


def record(path: Path) -> None:
    """Search once, rank in every way, write."""
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
    content = {
        "run": path.name,
        "git_commit": known_at_start(path)["git_commit"],
        "searched_by": git_commit(),
        "split": SPLIT,
        "beam": BEAM,
        "rows": rows,
    }
    write(f"{config.corpus}-{config.pair}-length-penalty.json", content)


if __name__ == "__main__":
    record(Path(sys.argv[1]))
