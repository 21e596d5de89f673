"""[UNK] put right afterwards: the source word that it was looked up from."""

from collections.abc import Sequence

from course_lib.corpora.vocabulary import UNK, Vocabulary
from course_lib.errors import CourseError
from course_lib.search.hypothesis import Hypothesis


def replace_unknown(
    hypothesis: Hypothesis, vocabulary: Vocabulary, source: Sequence[str]
) -> list[str]:
    """The words of a translation, each [UNK] the source word with most weight at its step.

    The source word is copied as it is, which is right for names and numbers (Jean et al., 2015,
    Section 3.3, "identity"). The source's end mark, which has weight too, is never copied.

    Args:
        hypothesis: what a search found.
        vocabulary: of the target side.
        source: the T_x - 1 source words as they were written, unknown ones included, without the
            end mark.

    Raises:
        CourseError: the model has no attention, so there is nowhere to look; or `source` is not
            the sentence that was translated.
    """
    if hypothesis.alpha is None:
        raise CourseError(
            "Without attention nothing says which source word [UNK] stands for. "
            "Use a model with attention, or leave --replace-unk out."
        )
    if hypothesis.alpha.shape[1] != len(source) + 1:
        raise CourseError(
            f"{len(source)} source words do not fit weights for {hypothesis.alpha.shape[1]}. "
            "Give the words that were translated, without the end mark."
        )
    words: list[str] = []
    for token, weights in zip(hypothesis.tokens, hypothesis.alpha, strict=False):
        if token == UNK and source:
            words.append(source[int(weights[:-1].argmax())])
        else:
            words += vocabulary.decode([token])
    return words
