"""Record how well attention weights align the toy corpus, whose gold links are known.

    python experiments/record_alignment.py [DIRECTORY]

Trains RNNsearch in both directions into DIRECTORY/en-de and DIRECTORY/de-en, unless finished runs
are there (about ten minutes each on a quiet core), and writes both runs'
result.json as toy-PAIR-rnnsearch-cpu-seed0.json and, as
toy-en-de-rnnsearch-cpu-seed0-alignment.json, what `course align` says of the test split with both
directions combined, the same for words without punctuation, the threshold chosen on the validation
split, tokens right, a few matrices, and how far the output follows the weights.
"""

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

import torch
from recording import absence, aligned_run, write

from course_lib.corpora import Corpus, load_corpus
from course_lib.corpora.batches import make_batch
from course_lib.evaluation.accuracy import tokens_right
from course_lib.evaluation.align import (
    Alignments,
    align_split,
    forced_weights,
    model1_alignments,
    saved_weights,
)
from course_lib.evaluation.alignment import (
    alignment_error_rate,
    argmax_links,
    threshold_links,
    transposed,
)
from course_lib.evaluation.faithfulness import permuted_weights
from course_lib.evaluation.symmetrise import grow_diag
from course_lib.evaluation.weights import Weights
from course_lib.training import (
    Run,
    RunConfig,
    encode_pairs,
    finish_run,
    load_run,
    read_result,
    recorded_name,
    train,
)

PAIRS = ("en-de", "de-en")
THRESHOLDS = (
    0.02,
    0.05,
    0.075,
    0.1,
    0.125,
    0.15,
    0.2,
    0.25,
    0.3,
    0.35,
    0.4,
    0.45,
    0.5,
    0.6,
    0.7,
    0.8,
    0.9,
)
EXAMPLES = (0, 5, 17, 85, 400)
"""Positions in the test split, chosen before any matrix was seen."""
ASKED = 200
"""Sentence pairs of the test split whose weights are permuted and whose words are erased."""


def trained(path: Path, pair: str) -> tuple[Run, Corpus]:
    """The finished run of a pair, trained first if it is not there."""
    config = RunConfig("rnnsearch", "toy", pair)
    corpus = load_corpus(config.corpus, config.pair, **config.corpus_options)
    if not (path / "result.json").exists():
        train(config, corpus, path, resume=True)
        finish_run(path, corpus)
    return load_run(path, "cpu"), corpus


def weights_of(run: Run, corpus: Corpus, split: str) -> list[Weights]:
    """The run's weights on a split, by forced decoding."""
    words = run.source_vocabulary, run.target_vocabulary
    return forced_weights(run.model, *words, corpus.splits[split])


def threshold_curve(weights: list[Weights], corpus: Corpus) -> list[dict[str, Any]]:
    """Precision, recall and error rate on the validation split, for each threshold."""
    links = corpus.splits["val"].links
    assert links is not None
    rows = []
    for threshold in THRESHOLDS:
        found = [threshold_links(alpha, threshold) for alpha in weights]
        rows.append({"threshold": threshold, **alignment_error_rate(found, links)._asdict()})
    return rows


def without_punctuation(
    weights: list[Weights], reverse: list[Weights], corpus: Corpus
) -> dict[str, Any]:
    """Scores where full stops and commas are left out of the alignments and of the gold links.

    `unaligned` has the target words that most often have their largest weight on the end mark: how
    often, and how often they occur at all.
    """
    part = corpus.splits["test"]
    assert part.links is not None
    classical = model1_alignments(corpus, "test", both_ways=True)
    attention = {
        "argmax": [argmax_links(alpha) for alpha in weights],
        "reverse": [transposed(argmax_links(alpha)) for alpha in reverse],
    }

    def words_only(alignments: Alignments) -> Alignments:
        return [
            frozenset((i, j) for i, j in links if {x[i], y[j]}.isdisjoint({".", ","}))
            for links, x, y in zip(alignments, part.source, part.target, strict=True)
        ]

    scores = {}
    for who, directions in (("attention", attention), ("ibm1", classical)):
        forward, backward = directions.values()
        both = [grow_diag(one, other) for one, other in zip(forward, backward, strict=True)]
        scores[who] = {
            name: alignment_error_rate(words_only(found), words_only(part.links))._asdict()
            for name, found in {**directions, "grow-diag": both}.items()
        }
    lonely: Counter[str] = Counter()
    for links, y in zip(attention["argmax"], part.target, strict=True):
        aligned = {j for _, j in links}
        lonely.update(word for j, word in enumerate(y) if j not in aligned)
    occurrences = Counter(word for y in part.target for word in y)
    unaligned = [
        {"word": word, "unaligned": count, "occurs": occurrences[word]}
        for word, count in lonely.most_common(5)
    ]
    return {"alignments": scores, "unaligned": unaligned}


def translated(path: Path, corpus: Corpus) -> dict[str, Any]:
    """Percentages of tokens right and of sentences without a mistake, beside BLEU."""
    wanted = corpus.splits["test"].target
    lines = (path / "hypotheses.test.txt").read_text().splitlines()
    hypotheses = [line.split() for line in lines]
    right = sum(tokens_right(h, y) for h, y in zip(hypotheses, wanted, strict=True))
    exact = sum(h == y for h, y in zip(hypotheses, wanted, strict=True))
    scores = read_result(path)["scores"]["test"]
    return {
        "tokens": 100 * right / sum(map(len, wanted)),
        "exact": 100 * exact / len(wanted),
        "beam": scores["beam"],
        "bleu_tok": scores["bleu_tok"],
        "bleu_tok_signature": scores["bleu_tok_signature"],
    }


def asked(run: Run, corpus: Corpus) -> dict[str, Any]:
    """How far the output follows the weights (Jain and Wallace, 2019), on the first test pairs.

    `permuted`: for steps by their largest weight, the median over the steps of the median distance.
    `erased`, `left_out`: see `absence`.
    """
    pairs = encode_pairs(corpus.splits["test"], (run.source_vocabulary, run.target_vocabulary))
    batch = make_batch(pairs, list(range(ASKED)))
    alpha = run.model.alpha(batch)
    assert alpha is not None
    largest = alpha.max(dim=-1).values
    moved = permuted_weights(run.model, batch)
    rows = []
    for lower, upper in ((0.0, 0.5), (0.5, 0.75), (0.75, 0.9), (0.9, 0.99), (0.99, 1.01)):
        chosen = moved[batch.target_mask & (largest >= lower) & (largest < upper)]
        middle = float(chosen.median()) if len(chosen) else None
        rows.append({"from": lower, "below": upper, "steps": len(chosen), "median": middle})
    return {"sentences": ASKED, "permuted": rows, **absence(run.model, batch, alpha)}


def record(directory: Path) -> None:
    """Train what is missing, align, write."""
    runs = {pair: trained(directory / pair, pair) for pair in PAIRS}
    for pair in PAIRS:
        result = read_result(directory / pair)
        write(recorded_name(result), result)
    (run, corpus), (back, mirrored) = runs.values()
    weights, reverse = weights_of(run, corpus, "test"), weights_of(back, mirrored, "test")
    curve = threshold_curve(weights_of(run, corpus, "val"), corpus)
    best = min(curve, key=lambda row: row["aer"])["threshold"]
    kept = saved_weights(weights, corpus, "test")["sentences"]
    result = read_result(directory / PAIRS[0])
    content = {
        **aligned_run(result),
        "thresholds_on_val": curve,
        **align_split(weights, corpus, "test", reverse=reverse, threshold=best),
        "without_punctuation": without_punctuation(weights, reverse, corpus),
        "translation": translated(directory / PAIRS[0], corpus),
        "faithfulness": asked(run, corpus),
        "examples": [{"position": i, **kept[i]} for i in EXAMPLES],
    }
    write(recorded_name(result).replace(".json", "-alignment.json"), content)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path, nargs="?", default=Path("runs/alignment"))
    torch.set_num_threads(1)
    record(parser.parse_args().directory)
