"""Tokens right, position by position: for tasks in which exactly one translation is right."""

from collections.abc import Sequence

Tokens = Sequence[str]


def tokens_right(hypothesis: Tokens, reference: Tokens) -> int:
    """At how many of the reference's positions the hypothesis has the same token.

    A missing token is wrong, and so is all that stands behind a missing or an
    additional one, since it has moved by a position. What goes on past the
    reference's end is not counted.
    """
    pairs = zip(hypothesis, reference, strict=False)
    return sum(word == wanted for word, wanted in pairs)


def accuracy_by_length(
    hypotheses: Sequence[Tokens], references: Sequence[Tokens], source_lengths: Sequence[int]
) -> list[dict[str, float | int]]:
    """Accuracy for each source length, shortest first, as `figures.lengths` draws it.

    One row a length that occurs, under `lower` and `upper` alike: its number of `sentences`;
    `tokens`, the percentage of all their target positions at which the right token stands; and
    `exact`, the percentage of sentences without any mistake, a wrong length included. Where all
    references are empty there is no token to be right, and `tokens` is 0.
    """
    rows: list[dict[str, float | int]] = []
    for length in sorted(set(source_lengths)):
        pairs = [
            (list(hypothesis), list(reference))
            for hypothesis, reference, source_length in zip(
                hypotheses, references, source_lengths, strict=True
            )
            if source_length == length
        ]
        right = sum(tokens_right(hypothesis, reference) for hypothesis, reference in pairs)
        positions = sum(len(reference) for _, reference in pairs)
        exact = sum(hypothesis == reference for hypothesis, reference in pairs)
        rows.append(
            {
                "lower": length,
                "upper": length,
                "sentences": len(pairs),
                "tokens": 100 * right / positions if positions else 0.0,
                "exact": 100 * exact / len(pairs),
            }
        )
    return rows
