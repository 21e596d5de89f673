"""The book as one PDF: every page as Chromium prints it, with outline, page numbers and links.

    make pdf

Reads the built site and writes book/_build/looking-back.pdf. Formulas, figures and drawings are
the page's own; folds are printed open, so a reader on paper has every answer.
"""

import io
import os
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

from playwright.sync_api import Browser, sync_playwright
from pypdf import PageObject, PdfReader, PdfWriter
from pypdf.generic import (
    ArrayObject,
    DictionaryObject,
    FloatObject,
    NameObject,
    NullObject,
    TextStringObject,
)
from tqdm import tqdm

from course_lib.errors import CourseError
from course_lib.files import write_atomically

from .source import parts_of_the_book, read, title

ROOT = Path(__file__).resolve().parents[3]
SITE = ROOT / "book" / "_build" / "html"
EDITION = ROOT / "book" / "_build" / "looking-back.pdf"

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

MARGINS = {"top": "18mm", "bottom": "20mm", "left": "17mm", "right": "17mm"}


def built_page(source: Path, root: Path = ROOT, site: Path = SITE) -> Path:
    """The built page of a source."""
    return site / source.relative_to(root).with_suffix(".html")


def printed(browser: Browser, page_file: Path) -> PdfReader:
    """One page on paper, A4, in the light theme, with its formulas set and its folds open."""
    page = browser.new_page(color_scheme="light", reduced_motion="reduce")
    page.add_init_script("for (const key of ['mode', 'theme']) localStorage.setItem(key, 'light')")
    page.goto(page_file.as_uri(), wait_until="load")
    page.evaluate("() => window.MathJax?.startup?.promise")
    data = page.pdf(format="A4", margin=MARGINS, print_background=True, tagged=True)
    page.close()
    return PdfReader(io.BytesIO(data))


def destination(page: PageObject, top: float | None = None) -> ArrayObject:
    """A place to jump to: this page, from the top or from a height in points."""
    height = NullObject() if top is None else FloatObject(top)
    reference = page.indirect_reference
    return ArrayObject([reference, NameObject("/XYZ"), NullObject(), height, NullObject()])


class Edition:
    """The growing PDF, and where each page of the site begins in it."""

    def __init__(self) -> None:
        self.writer = PdfWriter()
        self.starts: dict[Path, int] = {}
        self.anchors: dict[tuple[Path, str], tuple[int, float | None]] = {}

    def add(self, page_file: Path, reader: PdfReader) -> int:
        """Append one page of the site; gives the number of its first sheet, from 0."""
        start = len(self.writer.pages)
        self.starts[page_file] = start
        for name, place in reader.named_destinations.items():
            sheet = reader.get_destination_page_number(place)
            if sheet is not None:
                top = float(place.top) if place.top is not None else None
                self.anchors[page_file, name.lstrip("/")] = (start + sheet, top)
        for sheet in reader.pages:
            self.writer.add_page(sheet)
        return start

    def file_of(self, number: int) -> Path:
        """The page of the site that this sheet belongs to."""
        return max((start, file) for file, start in self.starts.items() if start <= number)[1]

    def target(self, file: Path, anchor: str) -> ArrayObject | None:
        """Where a link to a page of the site, or to an anchor in it, leads in the edition."""
        if file not in self.starts:
            return None
        number, top = self.anchors.get((file, anchor), (self.starts[file], None))
        return destination(self.writer.pages[number], top)

    def mend_links(self) -> None:
        """Links between pages of the site become jumps; none names a file of this machine."""
        for number, sheet in enumerate(self.writer.pages):
            here = self.file_of(number)
            for reference in sheet.get("/Annots", []):
                note = reference.get_object()
                action = note.get("/A", DictionaryObject())
                address = str(action.get("/URI", ""))
                if "/Dest" in note:
                    place = self.target(here, str(note["/Dest"]).lstrip("/"))
                elif address.startswith("file:"):
                    parts = urlsplit(address)
                    place = self.target(Path(unquote(parts.path)), unquote(parts.fragment))
                else:
                    continue
                note.pop("/A", None)
                note.pop("/Dest", None)
                if place is not None:
                    note[NameObject("/Dest")] = place


def number_sheets(writer: PdfWriter, browser: Browser) -> None:
    """Print a number at the foot of every sheet."""
    count = len(writer.pages)
    style = (
        "@page { size: A4; margin: 0 } body { margin: 0; font: 9pt sans-serif; color: #444 }"
        "div { height: 297mm; position: relative; break-after: page }"
        "span { position: absolute; bottom: 9mm; width: 100%; text-align: center }"
    )
    sheets = "".join(f"<div><span>{n}</span></div>" for n in range(1, count + 1))
    page = browser.new_page()
    page.set_content(f"<style>{style}</style>{sheets}")
    numbers = PdfReader(io.BytesIO(page.pdf(format="A4")))
    page.close()
    for sheet, number in zip(writer.pages, numbers.pages, strict=True):
        sheet.merge_page(number)


def make_edition(
    browser: Browser, target: Path = EDITION, root: Path = ROOT, site: Path = SITE
) -> int:
    """Write the PDF; gives its number of sheets.

    Raises:
        CourseError: a page is not built.
    """
    parts = list(parts_of_the_book(root))
    sources = [source for _, files in parts for source in files]
    missing = [s.name for s in sources if not built_page(s, root, site).is_file()]
    if missing:
        raise CourseError(f"Not built: {', '.join(missing)}. Run: make book")
    edition = Edition()
    bar = tqdm(total=len(sources), unit="page")
    for caption, files in parts:
        above = None
        for source in files:
            page_file = built_page(source, root, site)
            start = edition.add(page_file, printed(browser, page_file))
            if caption and above is None:
                above = edition.writer.add_outline_item(title=caption, page_number=start)
            heading = title(read(source)[1])
            edition.writer.add_outline_item(title=heading, page_number=start, parent=above)
            bar.update()
    bar.close()
    edition.mend_links()
    number_sheets(edition.writer, browser)
    edition.writer.add_metadata({NameObject("/Title"): TextStringObject("Looking Back")})
    with io.BytesIO() as buffer:
        edition.writer.write(buffer)
        write_atomically(target, buffer.getvalue())
    return len(edition.writer.pages)


def main() -> int:
    if not Path(CHROMIUM).exists():
        print(f"make pdf: {CHROMIUM} is missing. Install it, or set CHROMIUM.", file=sys.stderr)
        return 2
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_FLAGS)
        try:
            sheets = make_edition(browser)
        except CourseError as error:
            print(f"make pdf: {error}", file=sys.stderr)
            return 2
        finally:
            browser.close()
    print(f"make pdf: {sheets} sheets in {EDITION.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
