"""Greedy translation with words and weights taken in hand: what the page of translators does."""

from collections.abc import Mapping, Sequence
from functools import partial

import torch
from torch import Tensor

from course_lib.corpora.batches import make_source
from course_lib.corpora.vocabulary import BOS, EOS
from course_lib.evaluation.faithfulness import edited_weights
from course_lib.models import EncoderDecoder
from course_lib.search import length_limit
from course_lib.search.hypothesis import evaluating

EVERY = "every"
"""In the place of a step's number: all steps that have no weights of their own."""


@torch.no_grad()
def translate_in_hand(
    model: EncoderDecoder,
    source: Sequence[int],
    prefix: Sequence[int] = (),
    weights: Mapping[int | str, Sequence[float]] | None = None,
) -> list[int]:
    """Translate one encoded sentence greedily, where the reader has not decided.

    Args:
        model: the trained model; one with attention, where there are weights.
        source: word numbers, without the end mark.
        prefix: words that the translation begins with.
        weights: rows over the T_x source words and their end mark, by the number of the step (from
            1) or `EVERY`, that stand in for the model's own.

    Returns:
        word numbers without the end mark.

    Raises:
        CourseError: the model has no weights to put others in the place of.
    """
    tensors = make_source([list(source)])
    limit = int(length_limit(tensors[1])[0])
    given, written, y = weights or {}, list[int](), BOS
    with evaluating(model):
        state = model.start(*tensors)
        for i in range(1, limit):
            row = given.get(i, given.get(EVERY))
            y_prev = torch.tensor([y])
            if row is None:
                log_probs, _, state = model.step(y_prev, state)
            else:
                with edited_weights(model, partial(_instead, torch.tensor([list(row)]))):
                    log_probs, _, state = model.step(y_prev, state)
            y = prefix[i - 1] if i <= len(prefix) else int(log_probs.argmax())
            if y == EOS:
                break
            written.append(y)
    return written


def _instead(row: Tensor, alpha: Tensor) -> Tensor:
    """The (1, T_x) row, whatever the model's own weights are."""
    return row
