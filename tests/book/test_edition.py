"""The book on paper: in order, with an outline, and with links that stay inside."""

from pathlib import Path

import pytest
from course_book.edition import make_edition
from playwright.sync_api import Browser
from pypdf import PdfReader

from course_lib.errors import CourseError

TOC = """\
format: jb-book
root: book/index
parts:
  - caption: Chapters
    chapters:
      - file: book/01-one
      - file: book/02-two
"""
PAGES = {
    "index": '<h1>Welcome</h1><p><a href="02-two.html#far">far</a></p>',
    "01-one": '<h1>One</h1><p><a href="#low">below</a></p>'
    '<p style="margin-top:1500px" id="low">the end of one</p>',
    "02-two": '<h1>Two</h1><p><a href="#far">further</a> <a href="elsewhere.html">out</a>'
    ' <a href="https://example.org/">away</a></p>'
    '<p style="margin-top:1500px" id="far">the end of two</p>'
    "<details><summary>Fold</summary>inside the fold</details>"
    "<script>addEventListener('beforeprint', () => document.querySelector('details').open = true)"
    "</script>",
}


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A book of three small pages, built."""
    (tmp_path / "_toc.yml").write_text(TOC)
    for folder in ("book", "site/book"):
        (tmp_path / folder).mkdir(parents=True)
    for name, body in PAGES.items():
        (tmp_path / "book" / f"{name}.md").write_text(f"# {name} title\n")
        page = f"<!doctype html><html lang=en><title>{name}</title><body>{body}</body></html>"
        (tmp_path / "site" / "book" / f"{name}.html").write_text(page)
    return tmp_path


def test_every_page_is_printed_in_order_and_no_link_leads_to_this_machine(
    browser: Browser, book: Path
) -> None:
    target = book / "out" / "book.pdf"
    sheets = make_edition(browser, target, book, book / "site")
    pdf = PdfReader(target)
    assert len(pdf.pages) == sheets == 5

    text = [sheet.extract_text() for sheet in pdf.pages]
    assert ["Welcome" in text[0], "One" in text[1], "Two" in text[3]] == [True] * 3
    assert "inside the fold" in text[4]
    assert all(page.rstrip().endswith(str(n)) for n, page in enumerate(text, start=1))

    welcome, caption, inner = pdf.outline
    assert [welcome.title, caption.title] == ["index title", "Chapters"]
    starts = [pdf.get_destination_page_number(item) for item in inner]
    assert starts == [1, 3]

    jumps, addresses = [], []
    for sheet in pdf.pages:
        for note in (reference.get_object() for reference in sheet.get("/Annots", [])):
            if "/Dest" in note:
                jumps.append(pdf.get_page_number(note["/Dest"][0].get_object()))
            elif "/A" in note:
                addresses.append(note["/A"]["/URI"])
    assert jumps == [4, 2, 4]
    assert addresses == ["https://example.org/"]


def test_what_is_not_built_is_named_and_nothing_is_written(browser: Browser, book: Path) -> None:
    (book / "site" / "book" / "02-two.html").unlink()
    with pytest.raises(CourseError, match=r"02-two\.md.*make book"):
        make_edition(browser, book / "book.pdf", book, book / "site")
    assert not (book / "book.pdf").exists()
