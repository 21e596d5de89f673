"""Search by brute force: every target sequence there is, with its log probability."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Candidate(NamedTuple):
    tokens: tuple[int, ...]  # without the end mark
    log_prob: float  # with the end mark's, where it is finished
    finished: bool  # False: cut off at max_length, the end mark never came


def enumerate_targets(
    step_log_probs: Callable[[tuple[int, ...]], NDArray[np.float64]],
    *,
    eos: int,
    max_length: int,
    words: Iterable[int] | None = None,
) -> list[Candidate]:
    """All sequences of at most `max_length` predicted words, the end mark counted as one of them.

    `step_log_probs(prefix)` gives log p(y | prefix) for every y of the vocabulary (K_y,). Sequences
    are made of `words` (default: the whole vocabulary) and `eos`. Over the whole vocabulary the
    probabilities of all candidates, finished or cut off, sum to one. Best first; ties by tokens.
    """
    found: list[Candidate] = []
    vocabulary = None if words is None else [word for word in words if word != eos]

    def extend(prefix: tuple[int, ...], log_prob: float) -> None:
        if len(prefix) == max_length:
            found.append(Candidate(prefix, log_prob, False))
            return
        log_probs = step_log_probs(prefix)
        found.append(Candidate(prefix, log_prob + float(log_probs[eos]), True))
        for word in range(len(log_probs)) if vocabulary is None else vocabulary:
            if word != eos:
                extend((*prefix, word), log_prob + float(log_probs[word]))

    extend((), 0.0)
    return sorted(found, key=lambda candidate: (-candidate.log_prob, candidate.tokens))


def best(
    candidates: Sequence[Candidate], score: Callable[[Candidate], float] | None = None
) -> Candidate:
    """The best finished candidate by `score`, or by log probability."""
    finished = [candidate for candidate in candidates if candidate.finished]
    return max(finished, key=score or (lambda candidate: candidate.log_prob))
