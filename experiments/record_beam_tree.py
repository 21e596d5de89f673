"""Record the searches that chapter 4's figure steps through.

    python experiments/record_beam_tree.py [RUN]

RUN is the recorded RNNsearch on Multi30k (runs/compare-cpu/rnnsearch unless given). Writes
multi30k-en-de-rnnsearch-cpu-seed0-beam-tree.json: the run, and for two sentences of
the validation split every search of `WIDTHS` and `PENALTIES` with all that it looked at.
About a minute.
"""

import argparse
from pathlib import Path

import torch
from recording import result_of, write

from course_lib.corpora import load_corpus
from course_lib.corpora.corpus import Split
from course_lib.search import translate
from course_lib.training import Run, load_run, recorded_name
from course_lib.training.provenance import git_commit
from course_lib.widgets.beam_tree import recorded_search

SPLIT = "val"
WORDS = range(7, 12)
"""Sentences of so many words fit a page; none of them may be unknown to the model."""
WIDTHS = (1, 2, 3, 5)
PENALTIES = (0.0, 0.5, 1.0)
KEPT = (
    *("model", "corpus", "pair", "preset", "seed", "git_commit"),
    *("model_sha256", "corpus_sha256"),
)


def telling(run: Run, part: Split) -> list[list[str]]:
    """The first sentence where a wider beam, and the first where length normalisation, matters."""
    known = set(run.source_vocabulary.tokens)
    short = [x for x in part.source if len(x) in WORDS and known.issuperset(x)]
    words = [run.source_vocabulary.encode(x) for x in short]
    found = {
        (k, penalty): [h.tokens for h in translate(run.model, words, k=k, length_penalty=penalty)]
        for k, penalty in ((1, 1.0), (3, 1.0), (5, 1.0), (5, 0.0))
    }
    chosen: list[list[str]] = []
    for one, other in (((1, 1.0), (3, 1.0)), ((5, 1.0), (5, 0.0))):
        rows = zip(short, found[one], found[other], strict=True)
        chosen.append(next(x for x, y, z in rows if y != z and x not in chosen))
    return chosen


def record(path: Path) -> None:
    """Search and write."""
    run, result = load_run(path, "cpu"), result_of(path)
    corpus = load_corpus(run.config.corpus, run.config.pair, **run.config.corpus_options)
    part = corpus.splits[SPLIT]
    chosen = telling(run, part)
    searches = [
        recorded_search(run, source, k, penalty)
        for source in chosen
        for k in WIDTHS
        for penalty in PENALTIES
    ]
    start = {"source": searches[-1]["source"], "k": 2, "length_penalty": 1.0, "step": 0}
    content = {
        **{key: result[key] for key in KEPT},
        "searched_by": git_commit(),
        "split": SPLIT,
        "figure": {"searches": searches, **start},
    }
    write(recorded_name(result).replace(".json", "-beam-tree.json"), content)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path, nargs="?", default=Path("runs/compare-cpu/rnnsearch"))
    torch.set_num_threads(1)
    record(parser.parse_args().run)
