"""reStructuredText as people read it: words without markup, and one sign for each piece of code.

The rules, in the order in which they are tried at each place of a text:

* a literal (two backquotes) is code;
* an interpreted text is its title where it has one, else what it names: of a role in `TEXT_ROLES`
  words, of one in `NUMBERED_ROLES` its number ("PEP 8"), of every other role code (of `~a.b.c` its
  last part);
  a title of several words that is not code is words in any role;
* a reference without a title, whose words stand on another page, and a substitution, whose words
  stand elsewhere, are the sign `CODE`;
* of a link its text stays, of emphasis the emphasised; a bare address is code;
* a footnote's mark goes; so do a backslash, and the space after it that it takes away;
* a colon doubled to announce a block of code is one colon.

Code that is one word or number (None, list, utf-8) is written as that word. All other code is the
sign, and `Plain.code` keeps what it stands for, so that `restored` can put it back.
"""

import unicodedata
from typing import NamedTuple

import regex

CODE_SIGN = "□"
"""Stands for a piece of code that is not one word."""

# fmt: off
TEXT_ROLES = frozenset((
    "abbr", "command", "dfn", "doc", "guilabel", "index", "kbd", "mailheader", "menuselection",
    "newsgroup", "program", "ref", "sub", "sup", "term",
))
# fmt: on
"""Roles whose title is in words, which are translated."""
LABEL_ROLES = frozenset(("ref", "doc"))
"""Roles that name a place: without a title the words are on that page."""
NUMBERED_ROLES = {"pep": "PEP ", "rfc": "RFC ", "issue": "bpo-", "gh": "gh-"}
"""What the documentation prints before a number."""

_MARKUP = regex.compile(
    r"""(?xs)
    ``(?P<literal>.+?)``
    | :(?P<role>[A-Za-z][\w:+.-]*):`(?P<interpreted>[^`]+)`
    | `(?P<link>[^`]+?)\s*(?:<(?P<address>[^<>`]*)>)?`(?:__?)?
    | \[(?:\#[\w-]*|\d+|\*)\]_
    | \|(?P<substitution>[\w.-]+)\|_{0,2}
    | (?<![\w*])\*\*(?P<strong>[^*\s](?:[^*]*[^*\s])?)\*\*(?!\w)
    | (?<![\w*])\*(?P<emphasis>[^*\s](?:[^*]*[^*\s])?)\*(?![\w*])
    | (?P<url>\b(?:https?|ftp)://[^\s<>()]*[\w/])
    | \\(?P<escaped>\S|\s+|$)
    | (?P<block>::)(?=\s*$)
    """
)
_WORD = regex.compile(r"[^\W_]+(?:-[^\W_]+)*")
_TITLED = regex.compile(r"(?s)(.*\S)\s*<[^<>]*>")
_INVISIBLE = regex.compile(r"(?V1)[[\p{Cf}\p{Cc}]--\s]")


class Plain(NamedTuple):
    """A text without markup, and the code that each of its signs stands for, in their order."""

    text: str
    code: list[str]


def plain_text(markup: str) -> Plain:
    """The words of a paragraph in reStructuredText, on one line."""
    code: list[str] = []

    def as_code(text: str) -> str:
        text = " ".join(text.split())
        return text if _WORD.fullmatch(text) else kept(text)

    def kept(text: str) -> str:
        code.append(text)
        return CODE_SIGN

    def replaced(match: regex.Match[str]) -> str:
        kind = match.lastgroup
        if match["role"]:
            return interpreted(match["role"].lower().split(":")[-1], match["interpreted"])
        if kind in ("link", "address"):
            return nested(match["link"])
        if kind == "escaped":
            return match["escaped"].strip()
        if kind == "block":
            return ":"
        if kind in ("strong", "emphasis"):
            return nested(match[kind])
        if kind == "substitution":
            return kept(match[kind])
        return as_code(match[kind]) if kind else ""

    def interpreted(role: str, text: str) -> str:
        titled = _TITLED.fullmatch(text)
        title = titled[1] if titled else text.removeprefix("!")
        if role in NUMBERED_ROLES and not titled:
            return NUMBERED_ROLES[role] + title
        if role in LABEL_ROLES and not titled:
            return kept(title)
        if role in TEXT_ROLES:
            return nested(title)
        if titled and " " in title and not regex.search(r"[()=_]", title):
            return title
        if title.startswith("~"):
            title = title.rpartition(".")[2].removeprefix("~")
        return as_code(title)

    def nested(text: str) -> str:
        return _MARKUP.sub(replaced, text)

    text = _INVISIBLE.sub("", unicodedata.normalize("NFC", markup))
    return Plain(" ".join(_MARKUP.sub(replaced, text).split()), code)


def restored(text: str, code: list[str]) -> str:
    """A text with code in the place of its signs, in order; signs beyond those stay signs."""
    parts = text.split(CODE_SIGN)
    fill = [*code, *[CODE_SIGN] * len(parts)]
    return "".join(part + (fill[i] if i < len(parts) - 1 else "") for i, part in enumerate(parts))
