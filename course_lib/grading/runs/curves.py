"""The curves of a submitted run: whether a training can have written them.

The best validation is computed again from the submitted weights. The others were made by weights
that nobody kept: they can be checked for sense, but not for truth.
"""

import math

from course_lib.corpora.corpus import Corpus
from course_lib.corpora.vocabulary import Vocabulary
from course_lib.evaluation.bleu import bleu_tok
from course_lib.grading.runs.submitted_run import Fault, Submitted, is_near
from course_lib.models import EncoderDecoder
from course_lib.search import translate
from course_lib.training import encode_pairs, mean_loss

LOSS_TOLERANCE = 0.002
"""Nats a word. Noise of 1% on every weight moves the loss by 0.0005, bfloat16 by 0.00004."""
BLEU_TOLERANCE = 0.5


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
    run: Submitted, model: EncoderDecoder, words: tuple[Vocabulary, Vocabulary], corpus: Corpus
) -> None:
    """Whether the submitted weights have the best validation's loss and BLEU."""
    best = min(curve_of(run), key=lambda row: row["val_loss"])
    pairs = encode_pairs(corpus.splits["val"], words)
    loss = mean_loss(model, pairs)
    said = f"{run.record.name}: the best validation"
    if not is_near(best["val_loss"], loss, LOSS_TOLERANCE):
        off = best["val_loss"] - loss
        side = "above" if off > 0 else "below"
        raise Fault(
            f"{said} is written down with a loss {abs(off):.2g} nats {side} that of the weights"
            " that were handed in."
        )
    found = translate(model, [source for source, _ in pairs], k=1)
    translations = [words[1].decode(hypothesis.tokens) for hypothesis in found]
    score = bleu_tok(translations, corpus.splits["val"].target).score
    if not is_near(best["val_bleu"], score, BLEU_TOLERANCE):
        raise Fault(
            f"{said} is written down with BLEU {best['val_bleu']:.2f}; the weights that were"
            f" handed in have {score:.2f}."
        )
