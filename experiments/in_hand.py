"""The plainest beam search, one hypothesis after another, in which a hand may decide: what the page
of translators does, and what the library's search is timed against."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

import torch

from course_lib.corpora.batches import make_source
from course_lib.corpora.vocabulary import BOS, EOS
from course_lib.evaluation.faithfulness import edited_weights
from course_lib.models import RNNsearch, State
from course_lib.search import length_limit
from course_lib.search.hypothesis import evaluating
from course_lib.search.rules import no_marks

EVERY = "every"
"""In the place of a step's number: all steps that have no weights of their own."""


class _Beginning(NamedTuple):
    """A beginning of a translation: its words, their log p in nats, and the state after them."""

    words: tuple[int, ...]
    log_prob: float
    state: State


@torch.no_grad()
def translate_in_hand(
    model: RNNsearch,
    source: Sequence[int],
    prefix: Sequence[int] = (),
    weights: Mapping[int | str, Sequence[float]] | None = None,
    k: int = 1,
) -> list[int]:
    """Translate one encoded sentence by beam search, where the reader has not decided.

    What it finds, `beam_search` and the page's own search must find, too.

    Args:
        model: the trained model; one with attention, where there are weights.
        source: word numbers, without the end mark.
        prefix: words that the translation begins with.
        weights: rows over the T_x source words and their end mark, by the number of the step (from
            1) or `EVERY`, that stand in for the model's own.
        k: width of the beam; 1 is greedy. Finished translations are ranked by log p a word.

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
                    finished.append((one.log_prob / i, one.words))
            live = [one for one in best if one.words[-1] != EOS]
    return list(max(finished, key=lambda one: one[0])[1][1:-1])


def _continued(
    model: RNNsearch,
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
    no_marks(log_probs)
    if forced is None:
        best, words = (each.tolist() for each in log_probs[0].topk(k))
    else:
        best, words = [float(log_probs[0, forced])], [forced]
    return [
        _Beginning((*one.words, y), one.log_prob + log_p, state)
        for y, log_p in zip(words, best, strict=True)
    ]
