"""Translation with words and weights taken in hand: what the page of translators does."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

import torch

from course_lib.corpora.batches import make_source
from course_lib.corpora.vocabulary import BOS, EOS
from course_lib.evaluation.faithfulness import edited_weights
from course_lib.models import EncoderDecoder
from course_lib.models.decoder import DecoderState
from course_lib.search import length_limit
from course_lib.search.hypothesis import evaluating

EVERY = "every"
"""In the place of a step's number: all steps that have no weights of their own."""


class _Beginning(NamedTuple):
    """A beginning of a translation: its words, their log p in nats, and the state after them."""

    words: tuple[int, ...]
    log_prob: float
    state: DecoderState


@torch.no_grad()
def translate_in_hand(
    model: EncoderDecoder,
    source: Sequence[int],
    prefix: Sequence[int] = (),
    weights: Mapping[int | str, Sequence[float]] | None = None,
    k: int = 1,
    length_penalty: float = 1.0,
) -> list[int]:
    """Translate one encoded sentence by beam search, where the reader has not decided.

    A plain search, one beginning after another: what it finds, `beam_search` and the page's own
    search must find, too.

    Args:
        model: the trained model; one with attention, where there are weights.
        source: word numbers, without the end mark.
        prefix: words that the translation begins with.
        weights: rows over the T_x source words and their end mark, by the number of the step (from
            1) or `EVERY`, that stand in for the model's own.
        k: width of the beam; 1 is greedy.
        length_penalty: finished translations are ranked by log p / length ** length_penalty.

    Returns:
        word numbers without the end mark.

    Raises:
        CourseError: the model has no weights to put others in the place of.
    """
    tensors = make_source([list(source)])
    limit = int(length_limit(tensors[1])[0])
    given = weights or {}
    finished: list[tuple[float, tuple[int, ...]]] = []
    with evaluating(model):
        live, i = [_Beginning((BOS,), 0.0, model.start(*tensors))], 0
        while live:
            i += 1
            forced = EOS if i == limit else prefix[i - 1] if i <= len(prefix) else None
            row = given.get(i, given.get(EVERY))
            longer = [two for one in live for two in _continued(model, one, row, forced, k)]
            longer.sort(key=lambda one: -one.log_prob)
            best = longer[: k - len(finished)]
            for one in best:
                if one.words[-1] == EOS:
                    finished.append((one.log_prob / i**length_penalty, one.words))
            live = [one for one in best if one.words[-1] != EOS]
    return list(max(finished, key=lambda one: one[0])[1][1:-1])


def _continued(
    model: EncoderDecoder,
    one: _Beginning,
    row: Sequence[float] | None,
    forced: int | None,
    k: int,
) -> list[_Beginning]:
    """The k most probable continuations of a beginning by a word, or the forced one."""
    y_prev = torch.tensor([one.words[-1]])
    held: AbstractContextManager[None] = nullcontext()
    if row is not None:
        held = edited_weights(model, lambda alpha: torch.tensor([list(row)]))
    with held:
        log_probs, _, state = model.step(y_prev, one.state)
    words = log_probs[0].topk(k).indices.tolist() if forced is None else [forced]
    return [
        _Beginning((*one.words, y), one.log_prob + float(log_probs[0, y]), state) for y in words
    ]
