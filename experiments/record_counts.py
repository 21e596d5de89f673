"""Record what BLEU counts in each sentence of a comparison, so that a page can draw samples of it.

    python experiments/record_counts.py runs/compare-cpu

Writes CORPUS-PAIR-PRESET-seedN-counts.json: for each run below the directory and each
sentence of the test split the n-grams found and the n-grams there, of one to four words, the
words of the translation and those of the reference. BLEU is computed from sums of these rows.
"""

import json
import sys
from pathlib import Path
from typing import Any

from recording import place_of
from sacrebleu.metrics import BLEU

from course_lib.corpora import load_corpus
from course_lib.errors import CourseError
from course_lib.files import write_atomically
from course_lib.training import load_run, read_result

COLUMNS = (
    *(f"{n}-grams found" for n in range(1, 5)),
    *(f"{n}-grams" for n in range(1, 5)),
    *("words", "reference words"),
)


def count(translation: str, reference: str) -> list[int]:
    """The ten numbers that one sentence adds to those of a corpus, in the order of COLUMNS."""
    score = BLEU(tokenize="none", force=True).corpus_score([translation], [[reference]])
    return [*score.counts, *score.totals, score.sys_len, score.ref_len]


def record(directory: Path) -> None:
    """Count the recorded translations of every run below `directory`, all of one test split."""
    models: dict[str, Any] = {}
    for path in sorted(directory.glob("*/result.json")):
        run, result = load_run(path.parent), read_result(path)
        (split,) = result["scores"]
        corpus = load_corpus(run.config.corpus, run.config.pair, **run.config.corpus_options)
        if corpus.sha256 != result["corpus_sha256"]:
            raise CourseError(f"{path.parent} was scored on other data. Score it again.")
        part = corpus.splits[split]
        translations = (path.parent / f"hypotheses.{split}.txt").read_text().splitlines()
        references = [" ".join(words) for words in part.target]
        models[result["model"]] = {
            "git_commit": result["git_commit"],
            "beam": result["scores"][split]["beam"],
            "counts": [count(*pair) for pair in zip(translations, references, strict=True)],
        }
    kept = ("corpus", "pair", "preset", "seed", "versions", "corpus_sha256")
    shared = {**{key: result[key] for key in kept}, "split": split, "columns": COLUMNS}
    shared["source_words"] = [len(words) for words in part.source]
    name = "{corpus}-{pair}-{preset}-seed{seed}-counts.json".format(**result)
    write_atomically(place_of(name), json.dumps({**shared, "models": models}) + "\n")
    print(f"wrote {name}")


if __name__ == "__main__":
    record(Path(sys.argv[1]))
