"""What somebody else wrote, made fit for one line of a report."""

import unicodedata

LONGEST = 80
"""Characters of a foreign name or message that a remark repeats."""


def visible(text: str, longest: int = LONGEST) -> str:
    """`text` in one line with nothing hidden in it.

    Terminal sequences, line ends and characters that turn the direction of writing would let a
    file's name or an error's message write the grader's report; they become question marks.
    """
    hidden = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
    shown = "".join(
        "?" if unicodedata.category(character) in hidden else character
        for character in text[: longest + 1]
    )
    return shown if len(text) <= longest else shown[: longest - 1] + "…"
