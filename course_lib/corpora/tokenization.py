"""Text to tokens as Multi30k's published files have it, and tokens back to text for people.

The data set's own protocol, `lc.norm.tok`, is a pipe of three Moses scripts: `lowercase.perl`,
`normalize-punctuation.perl -l LANG`, `tokenizer.perl -l LANG`, in this order and with their default
options. So hyphenated words stay whole (no `-a`) and `& | < > ' " [ ]` come out escaped (`&apos;`,
`&quot;`, ...): BLEU counts `&apos;s` as one token, as the published figures do. sacremoses is the
Python port; `perl_parity` makes its normaliser treat the typographic apostrophe and guillemets as
the Perl script does. With it the word counts of train, val and test_2016_flickr in English, German
and French equal those that the data set's README states, all nine to the word.
"""

from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING

from course_lib.errors import CourseError

if TYPE_CHECKING:
    import sacremoses

LANGUAGES = ("en", "de", "fr")

PROTOCOL = (
    "lower-cased, normalize-punctuation (perl_parity), tokenizer (escaped), "
    f"sacremoses {version('sacremoses')}"
)
"""Everything but the language that decides the tokens of a text; part of every cache key."""


def tokenize(text: str, language: str, lowercase: bool = True) -> list[str]:
    """The Moses tokens of one line of text, lower-cased first as published.

    Raises CourseError for a language other than those in `LANGUAGES`.
    """
    normalizer, tokenizer, _ = _tools(language)
    tokens: list[str] = tokenizer.tokenize(
        normalizer.normalize(text.lower() if lowercase else text), escape=True
    )
    return tokens


def detokenize(tokens: list[str], language: str) -> str:
    """The tokens as text for people: escapes undone, punctuation attached; the case stays as it is.

    Raises CourseError for a language other than those in `LANGUAGES`.
    """
    _, _, detokenizer = _tools(language)
    text: str = detokenizer.detokenize(tokens, unescape=True)
    return text


@cache
def _tools(
    language: str,
) -> tuple[
    "sacremoses.MosesPunctNormalizer", "sacremoses.MosesTokenizer", "sacremoses.MosesDetokenizer"
]:
    # sacremoses itself takes any language and falls back to English rules without a word.
    if language not in LANGUAGES:
        raise CourseError(
            f"There are no tokenisation rules for the language {language!r}. "
            f"Choose one of {', '.join(LANGUAGES)}."
        )
    # Here, because it takes a third of a second that most who import the corpora need not wait.
    import sacremoses

    return (
        sacremoses.MosesPunctNormalizer(lang=language, perl_parity=True),
        sacremoses.MosesTokenizer(lang=language),
        sacremoses.MosesDetokenizer(lang=language),
    )
