"""How maps of attention weights are read and compared: what chapter 8 records of them."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import version
from math import isclose
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

from course_lib.corpora import Corpus
from course_lib.corpora.batches import make_batch
from course_lib.corpora.corpus import Link, Split
from course_lib.corpora.vocabulary import Vocabulary
from course_lib.evaluation.accuracy import tokens_right
from course_lib.evaluation.align import Alignments, saved_weights
from course_lib.evaluation.alignment import alignment_error_rate, argmax_links, threshold_links
from course_lib.evaluation.diagnostics import diagnose, entropy, summarise
from course_lib.evaluation.faithfulness import erased_words, left_out_words, rank_correlation
from course_lib.evaluation.forced import forced_alpha, forced_weights
from course_lib.evaluation.links import read_links
from course_lib.evaluation.weights import Weights
from course_lib.models import RNNsearch
from course_lib.training import Run, encode_pairs, read_result
from experiments.two_directions import combined, grow_diag, model1_both_ways, scored, transposed

THRESHOLDS = (
    *(0.02, 0.05, 0.075, 0.1, 0.125, 0.15, 0.2, 0.25, 0.3),
    *(0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9),
)
BANDS = (0.0, 0.1, 0.6, 1.0)
"""Lower ends of the entropies, in nats, in which words are counted together."""
PUNCTUATION = {".", ","}
FARTHEST = 4
"""Offsets from the right word are counted one by one up to here."""
SURE = 0.5
"""A crossing of two words counts where both have at least this weight."""


def weights_of(run: Run, corpus: Corpus, split: str) -> list[Weights]:
    """The run's weights on a split, by forced decoding."""
    return forced_weights(run.model, *run.words, corpus.splits[split])


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
        **{key: scores[key] for key in ("beam", "bleu_tok", "bleu_tok_signature")},
    }


def threshold_curve(weights: list[Weights], corpus: Corpus) -> list[dict[str, Any]]:
    """Scores on the validation split for each threshold, the end mark left out."""
    rows = []
    for threshold in THRESHOLDS:
        found = [threshold_links(alpha, threshold, end_mark=False) for alpha in weights]
        rows.append({"threshold": threshold, **scored(found, corpus, "val")})
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
    forward, backward = model1_both_ways(corpus, "test")
    classical = {"forward": forward, "reverse": backward}
    attention = {
        "argmax": [argmax_links(alpha) for alpha in weights],
        "reverse": [transposed(argmax_links(alpha)) for alpha in reverse],
    }

    def words_only(alignments: Alignments) -> Alignments:
        return [
            frozenset((i, j) for i, j in links if {x[i], y[j]}.isdisjoint(PUNCTUATION))
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


def eflomal_scores(corpus: Corpus, split: str) -> dict[str, Any]:
    """Both directions of eflomal (Östling and Tiedemann, 2016), as it comes, and combined.

    Of one run: eflomal draws at random and takes no seed.
    """
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
    ways = {"forward": forward, "reverse": backward, **combined(forward, backward)}
    return {
        "name": "eflomal",
        "version": version("eflomal"),
        "given": f"the training pairs and those of {split}, without links",
        "alignments": {way: scored(links, corpus, split) for way, links in ways.items()},
    }


def ordered_alike(
    model: RNNsearch, words: tuple[Vocabulary, Vocabulary], part: Split, sentences: int
) -> dict[str, float]:
    """Of the pairs of source words, the share that weight and move of the output order alike.

    From Kendall's tau, averaged over the steps of the first sentences. Words are `erased` from the
    memory, or `left_out` of the sentence; `shuffled`: erased, each row's weights dealt out to its
    words at random before. The end mark does not take part.
    """
    batch = make_batch(encode_pairs(part, words), range(sentences))
    alpha = forced_alpha(model, batch)
    assert alpha is not None
    order = torch.rand(alpha.shape, generator=torch.Generator().manual_seed(0))
    order = order.masked_fill(~batch.source_mask[:, None], torch.inf).argsort(dim=2)
    shuffled = alpha.gather(2, order)
    left_out = left_out_words(model, batch)
    ways = {
        "erased": (alpha, erased_words(model, batch)),
        "shuffled": (shuffled, erased_words(model, batch, shuffled)),
        "left_out": (alpha, left_out),
    }
    alike = {}
    for name, (weights, moves) in ways.items():
        tau = rank_correlation(weights, moves.masked_fill(left_out.isnan(), torch.nan))
        alike[name] = (1 + float(tau.nanmean())) / 2
    return alike


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


def bands(weights: Sequence[Weights], part: Split) -> list[dict[str, Any]]:
    """By entropy, the target words with a gold link, punctuation left out, and how many of them
    have their largest weight on a word that they are not linked to.
    """
    assert part.links is not None
    counts = [[0, 0] for _ in BANDS]
    for alpha, gold, y in zip(weights, part.links, part.target, strict=True):
        nats = entropy(alpha[:-1])
        for i, word in enumerate(y):
            linked = {j for j, k in gold if k == i}
            if linked and word not in PUNCTUATION:
                band = counts[bisect_right(BANDS, nats[i]) - 1]
                band[0] += 1
                band[1] += int(alpha[i].argmax()) not in linked
    return [
        {"from": lower, "words": words, "wrong": wrong}
        for lower, (words, wrong) in zip(BANDS, counts, strict=True)
    ]


def flatness(weights: list[Weights], corpus: Corpus) -> dict[str, Any]:
    """How flat and how right weights are on the test split, with a sentence for each warning."""
    part = corpus.splits["test"]
    assert part.links is not None
    diagnoses = [diagnose(alpha) for alpha in weights]
    kept = saved_weights(weights, corpus, "test")["sentences"]
    summary = summarise(diagnoses)
    warned = {}
    for kind in summary["warnings"]:
        of_kind = [i for i, one in enumerate(diagnoses) if kind in one.warnings]
        if of_kind:
            warned[kind] = {"position": of_kind[0], **kept[of_kind[0]]}
    return {
        "aer": alignment_error_rate([argmax_links(alpha) for alpha in weights], part.links).aer,
        "warnings": summary["warnings"],
        "warned": warned,
    }


def agreement(
    one: list[Weights], other: list[Weights], target: Sequence[Sequence[str]]
) -> dict[str, float]:
    """Two models' maps of the same `target`, word by word, end marks and punctuation left out.

    `same_place`: the share of rows whose largest weights stand at the same source word.
    `distance`: the mean total variation distance of the rows, 0 for equal and 1 for disjoint ones.
    """
    rows = [
        (a, b)
        for alpha, beta, words in zip(one, other, target, strict=True)
        for a, b, word in zip(alpha[:-1], beta[:-1], words, strict=True)
        if word not in PUNCTUATION
    ]
    return {
        "rows": len(rows),
        "same_place": float(np.mean([a.argmax() == b.argmax() for a, b in rows])),
        "distance": float(np.mean([float(abs(a - b).sum()) / 2 for a, b in rows])),
    }


def crosses(alpha: Sequence[Sequence[float]]) -> bool:
    """Whether two words in a row look, surely, at two source words in a row in the other order."""
    weights = np.array(alpha)
    best, sure = weights.argmax(axis=1), weights.max(axis=1) >= SURE
    return bool(((best[:-1] == best[1:] + 1) & sure[:-1] & sure[1:]).any())


def check_counts(record: dict[str, Any], corpus: Corpus) -> None:
    """Every score follows from its counts; the examples are those sentences with their weights."""
    test = corpus.splits["test"]
    assert test.links is not None
    everything = sum(map(len, test.links))
    of_words = sum(
        PUNCTUATION.isdisjoint({test.source[k][i], test.target[k][j]})
        for k, links in enumerate(test.links)
        for i, j in links
    )
    for alignments, sure in (
        (record["alignments"], everything),
        (record["without_punctuation"]["alignments"], of_words),
    ):
        for score in (score for found in alignments.values() for score in found.values()):
            assert score["sure"] == score["possible"] == sure
            right = score["precision"] * score["links"]
            assert isclose(right, score["recall"] * sure, rel_tol=1e-6)
            assert isclose(right, round(right), rel_tol=1e-6)
            assert isclose(score["aer"], 1 - 2 * right / (score["links"] + sure), rel_tol=1e-6)
    for who in ("attention", "ibm1"):
        ways = [record["alignments"][who][n] for n in ("intersection", "grow-diag", "union")]
        assert ways[0]["links"] <= ways[1]["links"] <= ways[2]["links"]
    for example in record["examples"]:
        i = example["position"]
        assert example["source"] == [*test.source[i], "</s>"]
        assert example["target"] == [*test.target[i], "</s>"]
        assert {tuple(link) for link in example["gold"]} == test.links[i]
        check_map(example)
        assert diagnose(np.array(example["alpha"])).warnings == {}


def check_map(example: dict[str, Any]) -> None:
    """Rows add up to one, and the links are those of their largest weights."""
    alpha = np.array(example["alpha"])
    assert alpha.shape == (len(example["target"]), len(example["source"]))
    assert np.allclose(alpha.sum(axis=1), 1, atol=0.002)
    assert {tuple(link) for link in example["links"]} == argmax_links(alpha)


def check_offsets(counts: dict[str, Any]) -> None:
    """Offsets hold every word once, and most words look at the right place."""
    assert sum(counts["offsets"].values()) + counts["on_end_mark"] == counts["words"]
    assert max(counts["offsets"].values()) == counts["offsets"]["0"]
