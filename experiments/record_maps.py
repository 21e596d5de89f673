"""Record what the maps of single words show: sharp or flat, right or wrong, shifted or in place.

    python experiments/record_maps.py [RUN]

RUN is the recorded RNNsearch on Multi30k (runs/compare-cpu/rnnsearch unless given). Writes to


toy-en-de-rnnsearch-cpu-maps-seed0.json: a small RNNsearch on the toy corpus, about a minute of
    training in all: after 0, 1 and 4 epochs, each a run of its own, how flat the weights are;
    and, for the last of them, each target word's entropy beside whether its weights are right;
multi30k-en-de-rnnsearch-cpu-seed0-alignment.json: the weights of RUN on the test split: diagnosed,
    beside the links on which both directions of IBM Model 1 agree, and asked whether the output
    follows them.
"""

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from record_gradients import SETTINGS
from recording import absence, trained, write

from course_lib.corpora import Corpus, load_corpus
from course_lib.corpora.batches import make_batch
from course_lib.corpora.corpus import Link, Split
from course_lib.evaluation.align import forced_weights, model1_alignments, saved_weights
from course_lib.evaluation.alignment import alignment_error_rate, argmax_links
from course_lib.evaluation.diagnostics import crossings, diagnose, entropy, summarise
from course_lib.evaluation.faithfulness import permuted_weights
from course_lib.evaluation.weights import Weights
from course_lib.models import EncoderDecoder, build_model
from course_lib.training import (
    Run,
    RunConfig,
    encode_pairs,
    load_run,
    read_result,
    recorded_name,
)
from course_lib.training.provenance import git_commit

EPOCHS = (1, 4)
BANDS = (0.0, 0.02, 0.1, 0.3, 0.6, 1.0)
"""Lower ends of the entropies, in nats, in which words are counted together."""
PUNCTUATION = {".", ","}
FARTHEST = 4
"""Offsets from the right word are counted one by one up to here."""
SHORT = 14
"""The most words a side of the sentence shown for its crossing links: more would not fit a page."""
ASKED = 50
PERMUTATIONS = 10


def offsets(weights: Sequence[Weights], links: Sequence[frozenset[Link]], part: Split) -> Any:
    """How far the largest weight lies from the linked source word, in words; + is to the right.

    Counted are target words with exactly one link, without punctuation on either side; weights on
    the end mark have no place in the sentence and are counted by themselves.
    """
    found: Counter[int] = Counter()
    on_end_mark = 0
    for alpha, aligned, x, y in zip(weights, links, part.source, part.target, strict=True):
        of_target: dict[int, list[int]] = {}
        for j, i in aligned:
            if PUNCTUATION.isdisjoint({x[j], y[i]}):
                of_target.setdefault(i, []).append(j)
        for i, places in of_target.items():
            if len(places) == 1:
                best = int(alpha[i].argmax())
                if best == len(x):
                    on_end_mark += 1
                else:
                    found[max(-FARTHEST, min(FARTHEST, best - places[0]))] += 1
    return {
        "words": found.total() + on_end_mark,
        "on_end_mark": on_end_mark,
        "offsets": {str(k): found[k] for k in range(-FARTHEST, FARTHEST + 1)},
    }


def most_probable(run: Run, part: Split) -> list[list[str]]:
    """For each sentence, the word that the model finds most probable at each given position."""
    pairs = encode_pairs(part, (run.source_vocabulary, run.target_vocabulary))
    batch = make_batch(pairs, range(len(pairs)))
    steps = []
    run.model.eval()
    with torch.no_grad():
        state = run.model.start(batch.source, batch.source_lengths, batch.source_mask)
        for y in batch.target_in.unbind(dim=1):
            log_probs, _, state = run.model.step(y, state)
            steps.append(log_probs.argmax(dim=-1))
    best = torch.stack(steps, dim=1).tolist()
    return [
        [run.target_vocabulary.tokens[k] for k in row[: len(y)]]
        for row, (_, y) in zip(best, pairs, strict=True)
    ]


def words_of(weights: Sequence[Weights], guesses: Sequence[list[str]], part: Split) -> Any:
    """Every target word that has a gold link: its entropy, whether its largest weight is on a word
    it is linked to, and whether the model would have written it.

    `bands`: by entropy, all words and those without punctuation. `wrong_is_flatter`: how often a
    wrong word has the higher entropy, if one right and one wrong word are drawn. `sharp_and_wrong`:
    the words most often wrong in the two sharpest bands.
    """
    assert part.links is not None
    rows = []
    for alpha, gold, guess, y in zip(weights, part.links, guesses, part.target, strict=True):
        nats = entropy(alpha[:-1])
        for i, word in enumerate(y):
            linked = {j for j, k in gold if k == i}
            if linked:
                right = int(alpha[i].argmax()) in linked
                rows.append((word, float(nats[i]), right, guess[i] == word))
    without = [row for row in rows if row[0] not in PUNCTUATION]
    missed: Counter[str] = Counter(w for w, nats, right, _ in rows if not right and nats < BANDS[2])
    occurs = Counter(word for word, *_ in rows)
    wrong = [row for row in rows if not row[2]]
    wrong_words = [row for row in without if not row[2]]
    return {
        "words": len(rows),
        "unlinked": sum(map(len, part.target)) - len(rows),
        "bands": {"all": banded(rows), "without_punctuation": banded(without)},
        "wrong_is_flatter": {"all": flatter(rows), "without_punctuation": flatter(without)},
        "wrong": {
            "all": {"words": len(wrong), "written": sum(row[3] for row in wrong)},
            "without_punctuation": {
                "words": len(wrong_words),
                "written": sum(row[3] for row in wrong_words),
            },
        },
        "written": sum(row[3] for row in rows),
        "sharp_and_wrong": [
            {"word": word, "sharp_and_wrong": count, "occurs": occurs[word]}
            for word, count in missed.most_common(6)
        ],
    }


def banded(rows: Sequence[tuple[str, float, bool, bool]]) -> list[dict[str, Any]]:
    """How many words each band of entropy has, and how many of them look at the wrong word."""
    inside = [[row for row in rows if lower <= row[1]] for lower in BANDS]
    found = []
    for k, lower in enumerate(BANDS):
        upper = BANDS[k + 1] if k + 1 < len(BANDS) else None
        chosen = [row for row in inside[k] if upper is None or row[1] < upper]
        wrong = sum(not right for _, _, right, _ in chosen)
        found.append({"from": lower, "below": upper, "words": len(chosen), "wrong": wrong})
    return found


def flatter(rows: Sequence[tuple[str, float, bool, bool]]) -> float:
    """The chance that of a right and a wrong word the wrong one has the higher entropy."""
    right = np.array([nats for _, nats, is_right, _ in rows if is_right])
    wrong = np.array([nats for _, nats, is_right, _ in rows if not is_right])
    return float((wrong[:, None] > right).mean() + (wrong[:, None] == right).mean() / 2)


def stage(model: EncoderDecoder, run: Run, corpus: Corpus, epochs: int) -> dict[str, Any]:
    """How flat and how right a model's weights are on the test split, with one warned sentence."""
    part = corpus.splits["test"]
    assert part.links is not None
    weights = forced_weights(model, run.source_vocabulary, run.target_vocabulary, part)
    diagnoses = [diagnose(alpha) for alpha in weights]
    kept = saved_weights(weights, corpus, "test")["sentences"]
    summary = summarise(diagnoses)
    warned = {}
    for kind in summary["warnings"]:
        of_kind = [i for i, one in enumerate(diagnoses) if kind in one.warnings]
        if of_kind:
            warned[kind] = {"position": of_kind[0], **kept[of_kind[0]]}
    return {
        "epochs": epochs,
        "aer": alignment_error_rate([argmax_links(alpha) for alpha in weights], part.links).aer,
        "normalised_entropy": summary["normalised_entropy"],
        "end_weight": summary["end_weight"],
        "warnings": summary["warnings"],
        "sentences": len(part),
        "warned": warned,
    }


def small(epochs: int) -> RunConfig:
    """The run on the toy corpus that ends after so many epochs."""
    changes = {**SETTINGS, "encoder": "bidirectional", "epochs": epochs}
    return RunConfig("rnnsearch", "toy", changes=changes)


def record_toy() -> None:
    """Train the small models one after the other and write what their weights are like."""
    stages: list[dict[str, Any]] = []
    for epochs in EPOCHS:
        config = small(epochs)
        run, corpus, result, *_ = trained(config)
        if not stages:
            stages.append(stage(build_model(run.model.config, config.seed), run, corpus, 0))
        stages.append(stage(run.model, run, corpus, epochs))
    part = corpus.splits["test"]
    assert part.links is not None
    weights = forced_weights(run.model, run.source_vocabulary, run.target_vocabulary, part)
    result["maps"] = {
        "stages": stages,
        "words": words_of(weights, most_probable(run, part), part),
        "offsets": offsets(weights, part.links, part),
    }
    write(recorded_name(result, "maps"), result)


def record_multi30k(path: Path) -> None:
    """Look at the weights of a finished run and write what was found."""
    run, result = load_run(path, "cpu"), read_result(path)
    corpus = load_corpus(run.config.corpus, run.config.pair, **run.config.corpus_options)
    split = next(iter(result["scores"]))
    part = corpus.splits[split]
    weights = forced_weights(run.model, run.source_vocabulary, run.target_vocabulary, part)
    diagnoses = [diagnose(alpha) for alpha in weights]
    kept = saved_weights(weights, corpus, split)["sentences"]
    forward, backward = model1_alignments(corpus, split, both_ways=True).values()
    agreed = [one & other for one, other in zip(forward, backward, strict=True)]
    warned = [
        {"position": i, "warnings": one.warnings, **kept[i]}
        for i, one in enumerate(diagnoses)
        if one.warnings
    ]
    content = {
        **{key: result[key] for key in ("model", "corpus", "pair", "git_commit", "corpus_sha256")},
        "versions": result["versions"],
        "aligned_by": git_commit(),
        "split": split,
        "sentences": len(part),
        "diagnostics": summarise(diagnoses),
        "against_model1": {
            "links": sum(map(len, agreed)),
            **offsets(weights, agreed, part),
        },
        "faithfulness": asked(run, part),
        "crossed": most_crossed(kept, agreed),
        "warned": warned[:3],
    }
    write(recorded_name(result).replace(".json", "-alignment.json"), content)


def most_crossed(
    kept: Sequence[dict[str, Any]], agreed: Sequence[frozenset[Link]]
) -> dict[str, Any]:
    """The short sentence with most crossings among links that weights and Model 1 both found."""
    short = [
        i for i, one in enumerate(kept) if max(map(len, (one["source"], one["target"]))) <= SHORT
    ]
    i = max(short, key=lambda i: crossings(agreed[i] & set(kept[i]["links"])))
    return {"position": i, "agreed": sorted(agreed[i]), **kept[i]}


def asked(run: Run, part: Split) -> dict[str, Any]:
    """How far the output follows the weights, on the first sentences; see faithfulness."""
    pairs = encode_pairs(part, (run.source_vocabulary, run.target_vocabulary))
    batch = make_batch(pairs, range(ASKED))
    alpha = run.model.alpha(batch)
    assert alpha is not None
    moved = permuted_weights(run.model, batch, PERMUTATIONS)
    return {
        "sentences": ASKED,
        "steps": int(batch.target_mask.sum()),
        "permuted": float(moved.nanmedian()),
        **absence(run.model, batch, alpha),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path, nargs="?", default=Path("runs/compare-cpu/rnnsearch"))
    torch.set_num_threads(1)
    record_multi30k(parser.parse_args().run)
    record_toy()
