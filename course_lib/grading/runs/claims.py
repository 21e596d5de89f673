"""What the text files of a submitted run claim, held against what it can be computed from.

Scores are computed again from the translations, the translations and the best validation from the
submitted weights. The other validations were made by weights that nobody kept: they can be checked
for sense, but not for truth.

Two machines, and a processor and a graphics card, round differently, and where a model hardly
prefers one word that decides. Weights rounded to bfloat16 change 2 of 600 translations of the
recorded runs of chapter 7 (beam 12), and up to 8 of 60 of a model that has learned next to nothing
(BLEU 1.5). Of 600 paragraphs of up to 60 words they change 52 of RNNsearch's and 181 of
RNNencdec's, which soon writes what no source holds, and BLEU by 0.03 at most. So a share of the
lines may differ, as long as they are worth what the model's are.
"""

import math
from collections.abc import Iterator
from typing import Any

import torch

from course_lib.corpora.corpus import Corpus, Split
from course_lib.corpora.vocabulary import Vocabulary
from course_lib.evaluation.bleu import bleu_tok
from course_lib.grading.runs.submitted_run import (
    Fault,
    Submitted,
    expected_recipe,
    is_near,
    quoted,
)
from course_lib.models import RNNsearch, count_parameters
from course_lib.search import length_limit, translate
from course_lib.training import encode_pairs, mean_loss

TOLERANCES = {"bleu_tok": 0.01, "bleu_detok": 0.1, "unk_rate": 1e-6}
"""Of scores. Another version of the detokeniser may join a word differently."""
NOT_COMPARED = (
    *("bleu_tok_signature", "bleu_detok_signature"),
    *("chrf", "chrf_signature"),  # which runs of earlier years lack
)
LEAST_EQUAL = 0.5
"""Share of the translations that must come out word for word."""
WORTH_TOLERANCE = 0.5
"""Points of BLEU between what is handed in and what the model writes here."""
LOSS_TOLERANCE = 0.002
"""Nats a word. Noise of 1% on every weight moves the loss by 0.0005, bfloat16 by 0.00004."""
WIDEST_BEAM = 16
LEAST_GAIN = 0.05
"""Nats a word that a trained model gains over one that knows nothing."""


def check_scores(run: Submitted, scores: dict[str, Any], split: str) -> None:
    """Whether result.json reports what the translations score, of the run that config.yaml says."""
    record, result = run.record, run.result
    if result is None:
        return
    for key in ("model", "corpus", "pair", "preset", "seed", "changes", "model_config"):
        if result[key] != record.raw[key]:
            raise Fault(f"{record.name}: result.json and config.yaml do not agree on {key}.")
    if result["precision"] != expected_recipe(record)["precision"]:
        raise Fault(f"{record.name}: result.json and config.yaml do not agree on precision.")
    if run.model is not None and result["parameters"] != count_parameters(run.model):
        raise Fault(f"{record.name}/result.json: the number of parameters is not the model's.")
    for keys, reported, value in _numbers(result["scores"][split], scores):
        if reported is None and value is None:
            continue
        if not is_near(reported, value, TOLERANCES.get(keys[0], 0)):
            raise Fault(
                f"{record.name}/result.json reports {' of '.join(keys)} = {quoted(reported)}; its"
                f" translations give {quoted(value)}."
            )


def _numbers(
    reported: Any, computed: Any, keys: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    """Each number that was computed: its keys, the inmost first, what is reported, and itself."""
    if isinstance(computed, dict):
        for key in [key for key in computed if key not in NOT_COMPARED]:
            yield from _numbers(reported[key], computed[key], (key, *keys))
    elif isinstance(computed, list):
        if len(reported) != len(computed):
            raise Fault(f"result.json reports {len(reported)} ranges of length.")
        for one, other in zip(reported, computed, strict=True):
            yield from _numbers(one, other, keys)
    else:
        yield keys, reported, computed


def check_translations(
    run: Submitted,
    model: RNNsearch,
    words: tuple[Vocabulary, Vocabulary],
    translations: list[list[str]],
    test: Split,
    split: str,
) -> None:
    """Whether the translations are what the submitted model writes, with its beam and penalty.

    Raises:
        Fault: too many are others, or they score otherwise.
    """
    where = f"{run.record.name}/hypotheses.{split}.txt"
    beam = (run.result or {})["scores"][split]["beam"]
    if type(beam) is not int or not 1 <= beam <= WIDEST_BEAM:
        raise Fault(f"{run.record.name}/result.json: a beam of {quoted(beam)} cannot be checked.")
    sources = [words[0].encode(source) for source in test.source]
    most = length_limit(torch.tensor([len(source) + 1 for source in sources])).tolist()
    for place, line in enumerate(translations):
        if words[1].decode(words[1].encode(line)) != line or len(line) >= most[place]:
            raise Fault(
                f"{where}, line {place + 1}: a word is not the model's, or the line is longer than"
                " its search allows there. Are all lines in their places?"
            )
    hypotheses = translate(model, sources, beam, run.record.config.recipe.length_penalty)
    own = [words[1].decode(one.tokens) for one in hypotheses]
    equal = sum(a == b for a, b in zip(own, translations, strict=True)) / len(own)
    score, here = (bleu_tok(lines, test.target).score for lines in (translations, own))
    if equal < LEAST_EQUAL or abs(score - here) > WORTH_TOLERANCE:
        raise Fault(
            f"{where} is not what the submitted model translates: {100 * equal:.0f} % of its lines"
            f" are the model's, and they score {score:.2f} where the model has {here:.2f}."
        )


def check_curve(run: Submitted, corpus: Corpus) -> None:
    """Whether a training of this configuration can have written these validations."""
    record, recipe = run.record, run.record.config.recipe
    rows, where = curve_of(run), f"{record.name}/metrics.jsonl"
    train = corpus.splits["train"]
    pairs = sum(
        max(len(x), len(y)) <= recipe.max_length
        for x, y in zip(train.source, train.target, strict=True)
    )
    updates = math.ceil(pairs / recipe.batch_size)
    for place, row in enumerate(rows, start=1):
        if row["epoch"] != place or row["step"] != place * updates:
            raise Fault(f"{where}, line {place}: epoch or step is not what training counts there.")
        if min(row["train_loss"], row["val_loss"]) <= 0 or not 0 <= row["val_bleu"] <= 100:
            raise Fault(f"{where}, line {place}: a loss or a score is out of its range.")
    seconds = [0.0, *(row["seconds"] for row in rows)]
    if seconds != sorted(seconds):
        raise Fault(f"{where}: the seconds run backwards.")
    losses = [row["val_loss"] for row in rows]
    best = losses.index(min(losses)) + 1
    ended = len(rows) == recipe.epochs or len(rows) == best + recipe.patience
    if not ended or len(rows) > recipe.epochs:
        raise Fault(
            f"{where} has {len(rows)} validations; this recipe ends after {recipe.epochs}, or"
            f" {recipe.patience} after the best."
        )
    if run.result is None:
        return
    last = rows[-1]
    for key, value in (
        ("metrics", run.metrics),
        ("epochs", last["epoch"]),
        ("train_seconds", last["seconds"]),
        ("best_epoch", best),
        ("best_val_loss", losses[best - 1]),
    ):
        if run.result[key] != value:
            raise Fault(f"{record.name}: {key} in result.json is not what metrics.jsonl says.")


def curve_of(run: Submitted) -> list[dict[str, float]]:
    """The validations, each with its six numbers."""
    keys = ("epoch", "step", "seconds", "train_loss", "val_loss", "val_bleu")
    for place, row in enumerate(run.metrics or [], start=1):
        if row.keys() != set(keys) or not all(is_near(row[key], row[key], 0) for key in keys):
            raise Fault(
                f"{run.record.name}/metrics.jsonl, line {place}: these are not the six numbers of"
                " a validation."
            )
    return [{key: row[key] for key in keys} for row in run.metrics or []]


def check_best(
    run: Submitted, model: RNNsearch, words: tuple[Vocabulary, Vocabulary], corpus: Corpus
) -> None:
    """Whether the submitted weights have the best validation's loss and BLEU."""
    best = min(curve_of(run), key=lambda row: row["val_loss"])
    pairs = encode_pairs(corpus.splits["val"], words)
    loss = mean_loss(model, pairs)
    claim = f"{run.record.name}: the best validation"
    if not is_near(best["val_loss"], loss, LOSS_TOLERANCE):
        off = best["val_loss"] - loss
        side = "above" if off > 0 else "below"
        raise Fault(
            f"{claim} is written down with a loss {abs(off):.2g} nats {side} that of the weights"
            " that were handed in."
        )
    hypotheses = translate(model, [source for source, _ in pairs], k=1)
    translations = [words[1].decode(hypothesis.tokens) for hypothesis in hypotheses]
    score = bleu_tok(translations, corpus.splits["val"].target).score
    if not is_near(best["val_bleu"], score, WORTH_TOLERANCE):
        raise Fault(
            f"{claim} is written down with BLEU {best['val_bleu']:.2f}; the weights that were"
            f" handed in have {score:.2f}."
        )


def check_trained(
    run: Submitted, model: RNNsearch, words: tuple[Vocabulary, Vocabulary], corpus: Corpus
) -> None:
    """Whether the model does better than one that takes every word for equally likely.

    Weights as they are drawn are within 0.005 nats of that; five updates are well beyond.

    Raises:
        Fault: it does not.
    """
    loss = mean_loss(model, encode_pairs(corpus.splits["val"], words))
    by_chance = math.log(len(words[1]))
    if not loss < by_chance - LEAST_GAIN:
        raise Fault(
            f"{run.record.name} is not trained: its validation loss is {loss:.2f} nats a word, and"
            f" taking every word for equally likely gives {by_chance:.2f}."
        )
