"""Paragraphs in reStructuredText become words and signs for code, and the code can be put back."""

import pytest

from course_lib.corpora.restructured_text import CODE_SIGN, plain_text, restored

CASES = {
    # literals: one word stays, all other code becomes the sign
    "``None`` or ``utf-8``": ("None or utf-8", []),
    "call ``f(x, *y)`` now": ("call □ now", ["f(x, *y)"]),
    "``a  +\nb``": ("□", ["a + b"]),
    # roles that name code, with and without a title
    ":class:`dict`, :func:`!open`": ("dict, open", []),
    ":meth:`~os.path.join` of :mod:`os.path`": ("join of □", ["os.path"]),
    ":meth:`Path.samefile() <pathlib.Path.samefile>`": ("□", ["Path.samefile()"]),
    ":class:`the class of all <object>`": ("the class of all", []),
    ":c:func:`PyErr_Print` and :py:func:`f`": ("□ and f", ["PyErr_Print"]),
    # roles in words
    ":term:`file object`": ("file object", []),
    ":term:`iterables <iterable>`": ("iterables", []),
    ":kbd:`Ctrl-C`": ("Ctrl-C", []),
    "the *self* :term:`*new* file <file>`": ("the self new file", []),
    # places and numbers
    "see :ref:`tut-files`.": ("see □.", ["tut-files"]),
    "see :ref:`Files <tut-files>`.": ("see Files.", []),
    ":pep:`8`, :rfc:`2822`, :PEP:`20`": ("PEP 8, RFC 2822, PEP 20", []),
    ":pep:`the style guide <8>`": ("the style guide", []),
    ":issue:`123` and :gh:`45`": ("bpo-123 and gh-45", []),
    # links, emphasis, substitutions, addresses
    "a `C11 <https://a.b/c_(d)>`_ compiler": ("a C11 compiler", []),
    "`text`_ and `more`__": ("text and more", []),
    "*key* and **very** *two words*": ("key and very two words", []),
    "2 * 3 * 4 and *args": ("2 * 3 * 4 and *args", []),
    "on |platform|": ("on □", ["platform"]),
    "see https://www.python.org/a_b.": ("see □.", ["https://www.python.org/a_b"]),
    # footnotes, escapes, announced blocks
    "so [#]_ and [2]_ it is": ("so and it is", []),
    r":class:`TestCase`\ -derived, \*args": ("TestCase-derived, *args", []),
    "as follows::": ("as follows:", []),
    "a::b": ("a::b", []),
    # as one line, composed, without what cannot be seen
    "two\n  lines ": ("two lines", []),
    "co\u0301mo in\u200bvisible soft\u00ad": ("cómo invisible soft", []),
}


@pytest.mark.parametrize(("markup", "expected"), CASES.items())
def test_rules(markup: str, expected: tuple[str, list[str]]) -> None:
    assert plain_text(markup) == expected


def test_code_is_put_back_in_order() -> None:
    text, code = plain_text("``a.b`` if ``x == 1`` else ``None``")
    assert text == f"{CODE_SIGN} if {CODE_SIGN} else None"
    assert restored(text, code) == "a.b if x == 1 else None"


def test_a_translation_may_have_more_or_fewer_signs_than_there_is_code() -> None:
    assert restored("□, □ y □.", ["a.b"]) == "a.b, □ y □."
    assert restored("sin nada", ["a.b"]) == "sin nada"
