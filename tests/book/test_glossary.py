"""The glossary: terms in order, each taught somewhere."""

import re
from pathlib import Path

BOOK = Path(__file__).parents[2] / "book"
ENTRY = re.compile(r"^(?P<term>\S.*)\n {2}(?P<text>.+)$", re.MULTILINE)
CHAPTER = re.compile(r"\[Chapter (\d+)b?\]\((\d\d)-[\w-]+\.md\)$")


def entries() -> dict[str, str]:
    page = (BOOK / "glossary.md").read_text(encoding="utf-8")
    body = page.split(":::{glossary}\n", 1)[1].rsplit("\n:::", 1)[0]
    return {match["term"]: match["text"] for match in ENTRY.finditer(body)}


def test_terms_are_in_order() -> None:
    terms = [term.lower() for term in entries()]
    assert len(terms) >= 50
    assert terms == sorted(terms)


def test_every_term_ends_in_the_chapter_that_teaches_it() -> None:
    for term, text in entries().items():
        found = CHAPTER.search(text)
        assert found, term
        assert int(found[1]) == int(found[2]), term
