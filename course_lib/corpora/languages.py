"""Languages by their codes, in any usual form: en, zho_Hans, pt-BR, ES, sr@latin, de_DE.UTF-8."""

import re
from collections.abc import Iterable
from functools import cache

import regex
from langcodes import Language
from langcodes.data_dicts import LIKELY_SUBTAGS
from langcodes.tag_parser import LanguageTagError

from course_lib.errors import CourseError

LANGUAGE_CODE = re.compile(r"[A-Za-z]{2,3}([_@-][A-Za-z0-9]+)*(\.[Uu][Tt][Ff]-?8)?")
UNSPACED = frozenset(
    ("Hani", "Hans", "Hant", "Jpan", "Hira", "Kana", "Thai", "Laoo", "Khmr", "Mymr", "Tibt")
)
"""Scripts without spaces between words, by ISO 15924."""
_MODIFIERS = {"latin": "Latn", "cyrillic": "Cyrl", "devanagari": "Deva", "valencia": "valencia"}
_LETTER = regex.compile(r"\p{L}")
_UNSPACED_LETTER = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]"
)


@cache
def language_of(code: str) -> Language:
    """The language that a code names.

    Raises:
        CourseError: there is no such language.
    """
    base, _, modifier = re.sub(r"(?i)\.utf-?8$", "", code).partition("@")
    parts = [base, _MODIFIERS.get(modifier.lower(), "")]
    try:
        language = Language.get("-".join(part for part in parts if part))
        known = language.is_valid()
    except LanguageTagError:
        known = False
    if not known:
        raise CourseError(
            f"{code!r} names no language. Give its code of ISO 639, with a script or region if you "
            "like: en, es, zh, jpn, pt_BR, sr_Latn."
        )
    return language


def is_language(code: str) -> bool:
    """Whether a code has the form of one and names a language."""
    if not LANGUAGE_CODE.fullmatch(code):
        return False
    try:
        language_of(code)
    except CourseError:
        return False
    return True


def unspaced(code: str, lines: Iterable[str] = ()) -> bool:
    """Whether a text has no spaces between words: as its code says or, where the code names no
    script and no language of a usual one, as most letters of `lines` are."""
    language = language_of(code) if is_language(code) else Language.get("und")
    if language.script or language.language in LIKELY_SUBTAGS:
        return language.maximize().script in UNSPACED
    without = letters = 0
    for line in lines:
        without += len(_UNSPACED_LETTER.findall(line))
        letters += len(_LETTER.findall(line))
    return 2 * without > letters


def is_chinese(code: str) -> bool:
    """Whether a code names Chinese or a language under that name, as cmn and wuu are."""
    if not is_language(code):
        return False
    return (
        Language.get(str(language_of(code)), normalize=True).prefer_macrolanguage().language == "zh"
    )
