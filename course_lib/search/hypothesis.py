"""What a search returns, and how long it may go on."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from torch import Tensor, nn

from course_lib.corpora.batches import make_source
from course_lib.errors import CourseError
from course_lib.models import RNNsearch, State


class Hypothesis(NamedTuple):
    """One finished translation.

    tokens: word numbers without the end mark.
    log_prob: log p(tokens, end mark | source) in nats.
    score: what hypotheses were ranked by: log_prob / length ** length_penalty.
    alpha: (T_y + 1, T_x) weights, a row for each word and the end mark and a column for each source
        word and its end mark; None for a model without attention.
    """

    tokens: list[int]
    log_prob: float
    score: float
    alpha: Tensor | None


def length_limit(source_lengths: Tensor) -> Tensor:
    """The most target words, end mark included, a search may write: twice the source and ten more.

    It depends on the sentence alone, never on its company in the batch. At the limit only the end
    mark may be chosen, so every hypothesis is a complete sentence with a probability.
    """
    return 2 * source_lengths + 10


def cut(
    tokens: Tensor,
    written: Tensor,
    log_probs: Tensor,
    scores: Tensor,
    alphas: Tensor | None,
    source_lengths: Tensor,
) -> list[Hypothesis]:
    """A batch of padded results, (S, steps) words and (S, steps, T_x) weights, as hypotheses.

    `written` counts each sentence's words, (S,), its end mark included.
    """
    lengths, widths = written.tolist(), source_lengths.tolist()
    return [
        Hypothesis(
            words[: length - 1],
            log_prob,
            score,
            # A copy, or one hypothesis would keep the weights of its whole batch alive.
            None if alphas is None else alphas[i, :length, :width].clone(),
        )
        for i, (words, length, log_prob, score, width) in enumerate(
            zip(tokens.tolist(), lengths, log_probs.tolist(), scores.tolist(), widths, strict=True)
        )
    ]


def sources_for(
    model: RNNsearch, sentences: Sequence[Sequence[int]]
) -> tuple[Tensor, Tensor, Tensor]:
    """Encoded sentences as a model takes them: words, lengths and mask, on its own device."""
    device = model.decoder.E.weight.device
    source, lengths, mask = make_source(sentences)
    return source.to(device), lengths, mask.to(device)


def check_numbers(nan: Tensor) -> None:
    """Refuse a model whose probabilities are not numbers: no word is the most probable.

    Args:
        nan: True where one is NaN, on the CPU.
    """
    if nan.any():
        raise CourseError(
            "The model's probabilities are not numbers (NaN), so no word is the most probable. Its "
            "weights are broken: take those of an earlier checkpoint, or train again with a "
            "smaller --set learning_rate=..."
        )


def look_back_of(state: State, sentences: Tensor | slice) -> State:
    """A state with what some of its sentences give to look back at; s stays as it is."""
    return State(state.s, *(values[sentences] for values in state[1:]))


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """A model without dropout for a while; afterwards it is in the mode it was in."""
    training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(training)
