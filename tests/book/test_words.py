"""Words that are not English carry their language (WCAG 2.1, criterion 3.1.2)."""

import re
from functools import cache
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, NavigableString
from course_book.source import parts_of_the_book

from tests.conftest import ROOT

FOREIGN = re.compile(r"[A-Za-z]*[äöüßéèêàâçñëïôûœÄÖÜ][A-Za-zäöüßéèêàâçñëïôûœÄÖÜ]*")
"""Letters that English does not use."""
NAMES = {"José", "Montréal", "Université", "Ré", "Rücklé", "São", "café", "naïve", "Gülçehre"}
"""Names, and words that English has taken in."""
READ = "article p, article li, article td, article figcaption, article .output pre"


@cache
def pages(site: Path) -> dict[str, BeautifulSoup]:
    """The built pages of the chapters and the workshop, by name."""
    sources = [source for _, part in parts_of_the_book(ROOT) for source in part]
    chosen = [s for s in sources if s.name[:2].isdigit() or s.parent.name == "workshop"]
    found = {}
    for source in chosen:
        text = (site / source.relative_to(ROOT).with_suffix(".html")).read_text("utf-8")
        found[source.stem] = BeautifulSoup(text, "html.parser")
    return found


def without_language(page: BeautifulSoup) -> list[str]:
    """Words that look foreign and stand in text that is said in English."""
    found = []
    for block in page.select(READ):
        for text in block.find_all(string=True):
            if not isinstance(text, NavigableString) or text.find_parent(lang=True).name != "html":
                continue
            if text.find_parent(class_=["citation", "math"]) or text.find_parent("code"):
                continue
            if text.find_parent("pre") and not text.find_parent(class_="output"):
                continue
            if text.find_parent("a", class_="reference") is not None:
                continue
            found += [word for word in FOREIGN.findall(text) if word not in NAMES]
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<p>The word <span lang=de>Bär</span> is a bear.</p>", []),
        ("<p>The word Bär is a bear.</p>", ["Bär"]),
        ("<p>In Montréal</p>", []),
    ],
)
def test_a_foreign_word_without_its_language_is_noticed(text: str, expected: list[str]) -> None:
    page = BeautifulSoup(f"<html lang=en><article>{text}</article></html>", "html.parser")
    assert without_language(page) == expected


def test_words_that_are_not_english_carry_their_language(site: Path) -> None:
    missing = {name: without_language(page) for name, page in pages(site).items()}
    assert {name: words for name, words in missing.items() if words} == {}


def test_there_are_such_words_in_three_languages(site: Path) -> None:
    spoken = {tag["lang"] for page in pages(site).values() for tag in page.select("article [lang]")}
    assert {"de", "fr", "es"} <= spoken
