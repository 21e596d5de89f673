"""Words that stand in pieces, as a byte-pair encoding cuts them: what to write, what to join."""

from collections.abc import Sequence

from course_lib.corpora.subwords import WORD_START
from course_lib.corpora.vocabulary import MARKS

GOES_ON = "·"  # shown in front of a piece that goes on with the word before it


def labelled(tokens: Sequence[str]) -> tuple[list[str], list[tuple[int, int]]]:
    """Labels for a sentence's tokens, and the first and last place of each word in several pieces.

    Tokens without `WORD_START` anywhere are whole words and stay as they are.
    """
    if not any(token.startswith(WORD_START) for token in tokens):
        return list(tokens), []
    labels: list[str] = []
    words: list[tuple[int, int]] = []
    for k, token in enumerate(tokens):
        if token.startswith(WORD_START) or token in MARKS or k == 0:
            labels.append(token.removeprefix(WORD_START) or token)
            words.append((k, k))
        else:
            labels.append(GOES_ON + token)
            words[-1] = (words[-1][0], k)
    return labels, [(first, last) for first, last in words if last > first]
