"""What share of the previous words a decoder is given, over a training (scheduled sampling).

S. Bengio et al. (2015, Section 2.4) let the share of true words fall along one of three curves,
each with constants of its own. Here all three reach the same `end` at the last update, so that a
training of any length can use them and only the shape differs. Two of them start at 1; the inverse
sigmoid starts at k / (k + 1), which is near 1 from some hundreds of updates on.
"""

import math

TEACHER_FORCING = ("always", "linear", "exponential", "inverse-sigmoid", "never")


def given_share(schedule: str, step: int, last: int, end: float) -> float:
    """The probability that the decoder is given the true previous word at update `step`.

    It is 1 with always, 0 with never. The others fall to `end`:

        linear            1 - (1 - end) i / I
        exponential       k^i             with k = end^(1 / I)
        inverse-sigmoid   k / (k + exp(i / k))   with k so that the last is end

    Args:
        schedule: one of TEACHER_FORCING.
        step: the update i, from 0; `last` is the last one's number, I.
        end: the share at the last update, above 0 and below 1.
    """
    progress = step / max(last, 1)
    if schedule == "linear":
        return 1 - (1 - end) * progress
    if schedule == "exponential":
        return end**progress
    if schedule == "inverse-sigmoid":
        k = _sigmoid_constant(max(last, 1), end)
        return 1 / (1 + math.exp(step / k - math.log(k)))
    return 0.0 if schedule == "never" else 1.0


def _sigmoid_constant(last: int, end: float) -> float:
    """The k with k / (k + exp(I / k)) = end, by bisection.

    I / k - ln k falls as k grows, from above any number to below it, so there is one such k.
    """
    wanted = math.log(1 / end - 1)
    low, high = 1e-3, 1e3 + last
    while last / high - math.log(high) > wanted:
        high *= 2
    for _ in range(100):
        k = (low + high) / 2
        low, high = (k, high) if last / k - math.log(k) > wanted else (low, k)
    return high
