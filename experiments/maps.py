"""How maps of attention weights are read and compared: what chapter 9 records of them."""

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
from course_lib.evaluation.accuracy import tokens_right
from course_lib.evaluation.align import Alignments, model1_alignments, saved_weights
from course_lib.evaluation.alignment import (
    COMBINATIONS,
    alignment_error_rate,
    argmax_links,
    grow_diag,
    threshold_links,
    transposed,
)
from course_lib.evaluation.diagnostics import diagnose, entropy, summarise
from course_lib.evaluation.faithfulness import erased_words, left_out_words, rank_correlation
from course_lib.evaluation.forced import forced_weights
from course_lib.evaluation.links import read_links
from course_lib.evaluation.weights import Weights
from course_lib.models import EncoderDecoder
from course_lib.training import Run, encode_pairs, read_result

THRESHOLDS = (
    *(0.02, 0.05, 0.075, 0.1, 0.125, 0.15, 0.2, 0.25, 0.3),
    *(0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9),
)
BANDS = (0.0, 0.02, 0.1, 0.3, 0.6, 1.0)
"""Lower ends of the entropies, in nats, in which words are counted together."""
PUNCTUATION = {".", ","}
FARTHEST = 4
"""Offsets from the right word are counted one by one up to here."""
SURE = 0.5
"""A crossing of two words counts where both have at least this weight."""


def weights_of(run: Run, corpus: Corpus, split: str) -> list[Weights]:
    """The run's weights on a split, by forced decoding."""
    return forced_weights(run.model, *run.words, corpus.splits[split])


def scored(found: Alignments, corpus: Corpus, split: str) -> dict[str, Any]:
    """Precision, recall and error rate against the corpus's links."""
    links = corpus.splits[split].links
    assert links is not None
    return alignment_error_rate(found, links)._asdict()


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
    classical = model1_alignments(corpus, "test", both_ways=True)
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
    combined = {
        name: [combine(one, other) for one, other in zip(forward, backward, strict=True)]
        for name, combine in COMBINATIONS.items()
    }
    ways = {"forward": forward, "reverse": backward, **combined}
    return {
        "name": "eflomal",
        "version": version("eflomal"),
        "given": f"the training pairs and those of {split}, without links",
        "alignments": {way: scored(links, corpus, split) for way, links in ways.items()},
    }


def followed(run: Run, part: Split, sentences: int) -> dict[str, Any]:
    """Kendall's tau between a step's weights and what each source word's absence changes.

    Averaged over the steps of the first sentences, for words `erased` from the memory and
    `left_out` of the sentence; the end mark does not take part.
    """
    batch = make_batch(encode_pairs(part, run.words), range(sentences))
    alpha = run.model.alpha(batch)
    assert alpha is not None
    left_out = left_out_words(run.model, batch)
    erased = erased_words(run.model, batch).masked_fill(left_out.isnan(), torch.nan)
    return {
        "sentences": sentences,
        **{
            name: float(rank_correlation(alpha, changes).nanmean())
            for name, changes in (("erased", erased), ("left_out", left_out))
        },
    }


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
    pairs = encode_pairs(part, run.words)
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

    `bands`: by entropy, all words and those without punctuation.
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
    kinds = {"all": rows, "without_punctuation": [r for r in rows if r[0] not in PUNCTUATION]}
    wrong = {kind: [row for row in chosen if not row[2]] for kind, chosen in kinds.items()}
    return {
        "words": len(rows),
        "bands": {kind: banded(chosen) for kind, chosen in kinds.items()},
        "wrong": {
            kind: {"words": len(found), "written": sum(row[3] for row in found)}
            for kind, found in wrong.items()
        },
        "written": sum(row[3] for row in rows),
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


def stage(model: EncoderDecoder, run: Run, corpus: Corpus, epochs: int) -> dict[str, Any]:
    """How flat and how right a model's weights are on the test split, with one warned sentence."""
    part = corpus.splits["test"]
    assert part.links is not None
    weights = forced_weights(model, *run.words, part)
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


def agreement(one: list[Weights], other: list[Weights]) -> dict[str, float]:
    """Two models' maps of the same translations, compared row by row, the end marks' left out.

    `same_place`: the share of rows whose largest weights stand at the same source word.
    `distance`: the mean total variation distance of the rows, 0 for equal and 1 for disjoint ones.
    """
    rows = [
        (a, b)
        for alpha, beta in zip(one, other, strict=True)
        for a, b in zip(alpha[:-1], beta[:-1], strict=True)
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


def check_words(words: dict[str, Any]) -> None:
    """Bands of entropy hold every word once."""
    for kind, bands in words["bands"].items():
        assert [band["below"] for band in bands[:-1]] == [band["from"] for band in bands[1:]]
        assert sum(band["wrong"] for band in bands) == words["wrong"][kind]["words"]
        assert all(0 <= band["wrong"] <= band["words"] for band in bands)
    assert sum(band["words"] for band in words["bands"]["all"]) == words["words"]
    assert all(0 <= wrong["written"] <= wrong["words"] for wrong in words["wrong"].values())
