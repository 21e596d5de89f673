"""Text to tokens, and tokens back to text for people, in any language that can be written.

Text is made uniform before it is split, by whichever rules: letters and their marks composed
(NFC), characters that cannot be seen taken out.

The plain rules, of every text of one's own, know no language. A word is letters, their marks and
digits, with an apostrophe, hyphen, point or colon inside it; every other sign stands alone, an
emoji whole; and where a script puts no spaces between words, every character does. Where a space is
usual between two tokens is a rule, and a token with another space before it says so itself, by
`OTHERWISE` at its front. So `detokenize` gives back every text that `tokenize` splits.

Moses' rules are those of the published figures: the protocol `lc.norm.tok` of Multi30k's published
files is a pipe of three Moses scripts: `lowercase.perl`, `normalize-punctuation.perl -l LANG`,
`tokenizer.perl -l LANG`, in this order and with their default options. So hyphenated words stay
whole (no `-a`) and `& | < > ' " [ ]` come out escaped (`&apos;`, `&quot;`, ...): BLEU counts
`&apos;s` as one token, as the published figures do. sacremoses is the Python port; `perl_parity`
makes its normaliser treat the typographic apostrophe and guillemets as the Perl script does. With
it the word counts of train, val and test_2016_flickr in English, German and French equal those that
the data set's README states, all nine to the word. They do not give every text back, so no other
text is split by them.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING

import regex

if TYPE_CHECKING:
    import sacremoses

MOSES = ("en", "de", "fr", "es")
"""The languages that Moses' rules split, in a corpus that asks for them."""
PLAIN = "und"
"""Instead of a language: the plain rules."""
OTHERWISE = "‿"
"""At the front of a token: here is a space where none is usual, or none where one is."""

PROTOCOL = (
    "NFC, nothing unseen, lower-cased, normalize-punctuation (perl_parity), tokenizer (escaped), "
    f"sacremoses {version('sacremoses')}; plain rules 2"
)
"""Everything but the language that decides the tokens of a text; part of every cache key."""

# Patterns that mean the same to JavaScript, whose regular expressions with the flag v they are too.
_SCRIPTS = (
    r"[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}"
    r"\p{sc=Tibetan}]"
)
_IN_WORDS = rf"[[\p{{L}}\p{{M}}\p{{N}}\u200c\u200d]--{_SCRIPTS}]+"
_MARKS = r"[\p{M}\u0e33\u0eb3\u200c\u200d]*"
_INSIDE = (
    r"(?:[\-'’‘ʼ·.:\u2010\u2011\u05be\u05f3\u05f4]"
    r"|(?<=\p{N}),(?=\p{N})"
    r'|(?<=[\u05d0-\u05ea])"(?=[\u05d0-\u05ea]))'
)
_DRAWN = r"\p{Extended_Pictographic}(?:[\ufe0f\p{EMod}]|[\U000e0020-\U000e007f]+)*"
_EMOJI = rf"\p{{RI}}\p{{RI}}|[#*0-9]\ufe0f?\u20e3|{_DRAWN}(?:\u200d{_DRAWN})*"
_TOKEN = (
    rf"{_EMOJI}|{_SCRIPTS}{_MARKS}|{_IN_WORDS}(?:{_INSIDE}{_IN_WORDS})*"
    rf"|{OTHERWISE}|\S\p{{M}}*"
)
_UNSEEN = (
    r"[[\p{Cc}\p{Cf}\p{DI}]--[\t-\r\u001c-\u001f\u0085\u200c\u200d\p{VS}\U000e0020-\U000e007f"
    r"\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd]]"
    r"|(?<!\S)[\u200c\u200d\p{VS}]+|[\u200c\u200d]+(?!\S)"
)
_OPENS = r"[\p{Ps}\p{Pi}¿¡]"
_CLOSES = r"[\p{Pe}\p{Pf}\p{Terminal_Punctuation}…%]+"
PATTERNS = {
    "token": _TOKEN,
    "unseen": _UNSEEN,
    "opens": _OPENS,
    "closes": _CLOSES,
    "alone": rf"{_SCRIPTS}{_MARKS}",
}
"""The plain rules; `alone` is a character of a script without spaces."""
CLUSTER = rf"({_EMOJI})|(?<=\S)\p{{M}}+"
"""What Moses would tear apart: an emoji, or marks on a letter."""

_FIND = {name: regex.compile(f"(?V1){pattern}") for name, pattern in PATTERNS.items()}
_UNSPACED = regex.compile(rf"(?V1){OTHERWISE}?{PATTERNS['alone']}")
_CLUSTER = regex.compile(f"(?V1){CLUSTER}")
_HELD = regex.compile("ǂ((?:[0-9a-f]+g)+)ǂ")
_QUOTES = ('"', "'")


def clean(text: str) -> str:
    """A text composed (NFC), without characters that cannot be seen."""
    return _FIND["unseen"].sub("", unicodedata.normalize("NFC", text))


def uniform(text: str) -> str:
    """A line as it is read everywhere: composed, without what cannot be seen, one space a gap."""
    return " ".join(clean(text).split())


def tokenize(text: str, language: str, lowercase: bool = True) -> list[str]:
    """The tokens of one line of text, lower-cased first as published.

    By Moses' rules for a language of `MOSES`, by the plain ones for any other.
    """
    text = clean(text)
    if lowercase:
        text = text.lower()
    if language in MOSES:
        return _by_moses(text, language)
    text = " ".join(text.split())
    found = list(_FIND["token"].finditer(text))
    tokens = [match[0] for match in found]
    spaces = [text[match.start() - 1 : match.start()] == " " for match in found]
    return [
        token if usual == space else OTHERWISE + token
        for token, space, usual in zip(tokens, spaces, _spaced(tokens), strict=True)
    ]


def detokenize(tokens: Sequence[str], language: str) -> str:
    """The tokens as text for people; the case stays as it is.

    With Moses' rules escapes are undone and punctuation is attached; the plain ones give back what
    was split.
    """
    if language in MOSES:
        text: str = _tools(language)[2].detokenize(list(tokens), unescape=True)
        return text
    other = [len(token) > 1 and token.startswith(OTHERWISE) for token in tokens]
    words = [token[1:] if turned else token for token, turned in zip(tokens, other, strict=True)]
    return "".join(
        " " * (usual != turned) + word
        for word, turned, usual in zip(words, other, _spaced(words), strict=True)
    )


def is_unspaced(token: str) -> bool:
    """Whether a token is one character of a script that puts no spaces between words."""
    return _UNSPACED.fullmatch(token) is not None


def characters_of(text: str, mark: str) -> list[str]:
    """A text without spaces as the tokens it came from, where a script is split into characters.

    What `mark` stands for is a token of its own among them. A text in another script is one token.
    """
    if not _FIND["alone"].search(text):
        return [text]
    parts: list[str] = regex.split(f"({_UNSPACED.pattern}|{regex.escape(mark)})", text)
    return [part for part in parts if part]


def _spaced(tokens: Sequence[str]) -> Iterator[bool]:
    """For each token whether a space is usual before it: not before signs that close, and so on."""
    after_open, open_quotes = True, set[str]()
    for token in tokens:
        opens = _FIND["opens"].fullmatch(token) is not None
        closes = _FIND["closes"].fullmatch(token) is not None
        if token in _QUOTES:
            opens, closes = token not in open_quotes, token in open_quotes
            open_quotes ^= {token}
        alone = is_unspaced(token)
        yield not (closes or alone or after_open)
        after_open = opens or alone


def _by_moses(text: str, language: str) -> list[str]:
    """Moses' tokens, with marks that have no composed letter on theirs, and emoji whole.

    Moses would tear both apart, so it is given letters in their place.
    """
    normalizer, tokenizer, _ = _tools(language)
    if held := "ǂ" not in text:
        text = _CLUSTER.sub(_hold, text)
    tokens: list[str] = tokenizer.tokenize(normalizer.normalize(text), escape=True)
    return [_HELD.sub(_give_back, token) for token in tokens] if held else tokens


def _hold(match: "regex.Match[str]") -> str:
    if len(match[0]) == 1 and match[1]:
        return match[0]
    space = " " * bool(match[1])
    return f"{space}ǂ{''.join(f'{ord(one):x}g' for one in match[0])}ǂ{space}"


def _give_back(match: "regex.Match[str]") -> str:
    return "".join(chr(int(code, 16)) for code in match[1].split("g")[:-1])


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
