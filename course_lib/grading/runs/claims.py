"""What a submitted run claims, held against what it can be computed from.

Scores are computed again from the translations, the translations and the best validation from the
submitted weights. The other validations were made by weights that nobody kept.

Two machines, and a processor and a graphics card, round differently, and where a model hardly
prefers one word that decides. Weights rounded to bfloat16 change 2 of 600 translations of the
recorded runs of chapter 7 (beam 12), and up to 8 of 60 of a model that has learned next to nothing
(BLEU 1.5). Of 600 paragraphs of up to 60 words they change 52 of RNNsearch's and 181 of
RNNencdec's, which soon writes what no source holds, and BLEU by 0.03 at most. So a share of the
lines may differ, as long as they are worth what the model's are.
"""

import math
from typing import Any

from course_lib.corpora.corpus import Split
from course_lib.evaluation.bleu import bleu_tok
from course_lib.grading.runs.submitted_run import Fault, SubmittedRun
from course_lib.search import translate
from course_lib.training import encode_pairs, mean_loss

TOLERANCES = {"bleu_tok": 0.01, "bleu_detok": 0.1}
"""Of scores. Another version of the detokeniser may join a word differently."""
LEAST_EQUAL = 0.5
"""Share of the translations that must come out word for word."""
WORTH_TOLERANCE = 0.5
"""Points of BLEU between what is handed in and what the model writes here."""
LOSS_TOLERANCE = 0.002
"""Nats a word. Noise of 1% on every weight moves the loss by 0.0005, bfloat16 by 0.00004."""
LEAST_GAIN = 0.05
"""Nats a word that a trained model gains over one that knows nothing: weights as they are drawn are
within 0.005 of that, and five updates are well beyond."""


def check_scores(run: SubmittedRun, score: dict[str, Any], split: str) -> None:
    """Whether result.json reports what the translations score.

    Raises:
        Fault: a BLEU in it, of all sentences or of the short or long ones, is another.
    """
    reported = run.result["scores"][split]
    for kind, where in (
        *((kind, "") for kind in TOLERANCES),
        *(("bleu_tok", length) for length in ("short", "long")),
    ):
        said, found = ((one[where] if where else one)[kind] for one in (reported, score))
        # `not <=` and never `>`: NaN compares as false with everything
        if said != found and not abs(said - found) <= TOLERANCES[kind]:
            raise Fault(
                f"{run.name}/result.json reports {kind}{' of ' * bool(where)}{where} ="
                f" {said:.2f}; its translations give {found:.2f}."
            )


def check_translations(
    run: SubmittedRun, translations: list[list[str]], test: Split, split: str
) -> None:
    """Whether the translations are what the submitted model writes, with the run's beam.

    Raises:
        Fault: too many are others, or they score otherwise.
    """
    source_words, target_words = run.trained.words
    sources = [source_words.encode(source) for source in test.source]
    beam, penalty = run.result["scores"][split]["beam"], run.config.recipe.length_penalty
    hypotheses = translate(run.trained.model, sources, beam, penalty)
    own = [target_words.decode(one.tokens) for one in hypotheses]
    equal = sum(a == b for a, b in zip(own, translations, strict=True)) / len(own)
    score, here = (bleu_tok(lines, test.target).score for lines in (translations, own))
    if equal < LEAST_EQUAL or abs(score - here) > WORTH_TOLERANCE:
        raise Fault(
            f"{run.name}: the translations are not what the submitted model writes."
            f" {100 * equal:.0f} % of the lines are the model's, and they score {score:.2f} where"
            f" the model has {here:.2f}."
        )


def check_best(run: SubmittedRun, validation: Split) -> None:
    """Whether the submitted weights were trained, and have the best validation's loss.

    Raises:
        Fault: every word is about equally likely to them, or their loss is another.
    """
    loss = mean_loss(run.trained.model, encode_pairs(validation, run.trained.words))
    by_chance = math.log(len(run.trained.target_vocabulary))
    if not loss < by_chance - LEAST_GAIN:
        raise Fault(
            f"{run.name} is not trained: its validation loss is {loss:.2f} nats a word, and taking"
            f" every word for equally likely gives {by_chance:.2f}."
        )
    best = min(row["val_loss"] for row in run.curve)
    if not abs(best - loss) <= LOSS_TOLERANCE:
        raise Fault(
            f"{run.name}: the best validation is written down with a loss that is"
            f" {abs(best - loss):.2g} nats beside that of the weights that were handed in."
        )
