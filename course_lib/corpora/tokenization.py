"""Text to tokens, and tokens back to text for people, in any language that can be written.

Where Moses has rules for a language, its rules: the protocol `lc.norm.tok` of Multi30k's published
files is a pipe of three Moses scripts: `lowercase.perl`, `normalize-punctuation.perl -l LANG`,
`tokenizer.perl -l LANG`, in this order and with their default options. So hyphenated words stay
whole (no `-a`) and `& | < > ' " [ ]` come out escaped (`&apos;`, `&quot;`, ...): BLEU counts
`&apos;s` as one token, as the published figures do. sacremoses is the Python port; `perl_parity`
makes its normaliser treat the typographic apostrophe and guillemets as the Perl script does. With
it the word counts of train, val and test_2016_flickr in English, German and French equal those that
the data set's README states, all nine to the word.

Elsewhere plain ones, by what Unicode knows of each character: a word is letters, their marks and
digits, every other sign stands alone, and where a script puts no spaces between words, every
character does (the vowel and tone marks on it included).
"""

import re
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING

import regex

if TYPE_CHECKING:
    import sacremoses

LANGUAGES = ("en", "de", "fr")
"""The languages of the published corpora."""

# fmt: off
MOSES = frozenset((
    "ca", "cs", "de", "el", "en", "es", "et", "fi", "fr", "ga", "hu", "is",
    "it", "lt", "lv", "nl", "pl", "pt", "ro", "ru", "sk", "sl", "sv", "tdt",
))
# fmt: on
"""The languages that Moses has rules for.

Without those of India, whose full stop its detokeniser does not know, and Chinese, which it does
not split.
"""

UNSPACED = frozenset(("zh", "yue", "ja", "th", "lo", "km", "my", "bo", "dz"))
"""Languages written without spaces between words."""

PROTOCOL = (
    "lower-cased, normalize-punctuation (perl_parity), tokenizer (escaped), "
    f"sacremoses {version('sacremoses')}"
)
"""Everything but the language that decides the tokens of a text; part of every cache key."""

_SCRIPTS = r"[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]"
_IN_WORDS = rf"[[\p{{L}}\p{{M}}\p{{N}}\u200c\u200d]--{_SCRIPTS}]+"
_TOKEN = regex.compile(
    rf"(?V1)(?={_SCRIPTS})\X|{_IN_WORDS}(?:(?:[-'’]|(?<=\p{{N}})[.,](?=\p{{N}})){_IN_WORDS})*|\S\p{{M}}*"
)
_UNSPACED_TOKEN = regex.compile(rf"(?V1){_SCRIPTS}\X*")
_UNSPACED_CHARACTER = regex.compile(rf"(?V1){_SCRIPTS}")
_INVISIBLE = regex.compile(r"(?V1)[[\p{Cf}\p{Cc}]--[\u200c\u200d]]")
_OPENS = regex.compile(r"[\p{Ps}\p{Pi}¿¡]")
_CLOSES = regex.compile(r"[\p{Pe}\p{Pf}\p{Terminal_Punctuation}…]+")
_QUOTES = ('"', "'")


def rules_of(language: str) -> str:
    """The language whose rules split a text: of pt_BR and sr@latin those of pt and sr."""
    return re.split("[_@]", language)[0]


def tokenize(text: str, language: str, lowercase: bool = True) -> list[str]:
    """The tokens of one line of text, lower-cased first as published."""
    if lowercase:
        text = text.lower()
    if (language := rules_of(language)) not in MOSES:
        return _TOKEN.findall(_INVISIBLE.sub("", " ".join(text.split())))
    normalizer, tokenizer, _ = _tools(language)
    tokens: list[str] = tokenizer.tokenize(normalizer.normalize(text), escape=True)
    return tokens


def detokenize(tokens: list[str], language: str) -> str:
    """The tokens as text for people: escapes undone, punctuation attached; the case stays as it is.

    Spaces inside a text of a script that has none between words do not come back.
    """
    if (language := rules_of(language)) not in MOSES:
        return _joined(tokens)
    _, _, detokenizer = _tools(language)
    text: str = detokenizer.detokenize(tokens, unescape=True)
    return text


def is_unspaced(token: str) -> bool:
    """Whether a token is one character of a script that puts no spaces between words."""
    return _UNSPACED_TOKEN.fullmatch(token) is not None


def characters_of(text: str, mark: str) -> list[str]:
    """A text without spaces as the tokens it came from, where a script is split into characters.

    What `mark` stands for is a token of its own among them. A text in another script is one token.
    """
    if not _UNSPACED_CHARACTER.search(text):
        return [text]
    parts: list[str] = regex.split(rf"(?V1)({regex.escape(mark)}|(?={_SCRIPTS})\X)", text)
    return [part for part in parts if part]


def _joined(tokens: list[str]) -> str:
    """Plain tokens as text: signs that close stand close to what is before them, and so on."""
    text, after_open, open_quotes = "", False, set[str]()
    for token in tokens:
        opens = _OPENS.fullmatch(token) is not None
        closes = _CLOSES.fullmatch(token) is not None
        if token in _QUOTES:
            opens, closes = token not in open_quotes, token in open_quotes
            open_quotes ^= {token}
        close = closes or is_unspaced(token) or after_open
        text += ("" if close or not text else " ") + token
        after_open = opens or is_unspaced(token)
    return text


@cache
def _tools(
    language: str,
) -> tuple[
    "sacremoses.MosesPunctNormalizer", "sacremoses.MosesTokenizer", "sacremoses.MosesDetokenizer"
]:
    # Here, because it takes a third of a second that most who import the corpora need not wait.
    import sacremoses

    return (
        sacremoses.MosesPunctNormalizer(lang=language, perl_parity=True),
        sacremoses.MosesTokenizer(lang=language),
        sacremoses.MosesDetokenizer(lang=language),
    )
