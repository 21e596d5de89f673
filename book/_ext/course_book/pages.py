"""What is added to every page, and what of the theme's HTML is mended for assistive technology."""

import re
from typing import Any

from bs4 import BeautifulSoup
from docutils import nodes
from sphinx.application import Sphinx

# Each pair: what is written by docutils or myst-nb, and what is right.
MENDS = (
    # A fold's summary reads itself; this label hides the words that are visible.
    (re.compile(r'<summary aria-label="Toggle hidden content">'), "<summary>"),
    # A list whose items carry no list role, and a role that ARIA has given up.
    (re.compile(r'<div role="list" class="citation-list">'), '<div class="citation-list">'),
    (re.compile(r' role="doc-biblioentry"'), ""),
)

# On a first visit the theme has no choice to go by: it complains in the console, and a reader of
# dark pages first sees a light one. This comes before the theme's own scripts.
FIRST_VISIT = """<script>
try {
  if (!localStorage.getItem("mode")) {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    localStorage.setItem("mode", "auto");
    localStorage.setItem("theme", dark ? "dark" : "light");
  }
} catch { /* No storage: the theme then does what it can. */ }
</script>"""


def mend(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    for wrong, right in MENDS:
        context["body"] = wrong.sub(right, context.get("body", ""))
    # The side column has the book's title above it already; its first link is the welcome page.
    context["root_title"] = "0 · Why look back?"
    context["metatags"] = FIRST_VISIT + context.get("metatags", "")


TEACHING = "Teaching"
"""The part of the table of contents that has a sidebar of its own."""


def sidebar_of(page: str, html: str) -> str:
    """The side column's contents for a page: a reader sees the book and one way to the teachers'
    part, and a teacher that part and one way back."""
    column = BeautifulSoup(html, "html.parser")
    teaches = page.startswith("book/teaching/")
    for caption in column.select("p.caption"):
        pages, here = caption.find_next_sibling("ul"), caption.get_text().strip() == TEACHING
        if here and not teaches:
            for item in pages.find_all("li", recursive=False)[1:]:
                item.decompose()
        elif teaches and not here and caption.get_text().strip():
            caption.decompose()
            pages.decompose()
    return str(column)


def own_sidebar(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    whole = context.get("generate_toctree_html")
    if whole is None:
        return

    def part(kind: str, *arguments: Any, **options: Any) -> Any:
        made = whole(kind, *arguments, **options)
        return sidebar_of(page, str(made)) if kind == "sidebar" and made else made

    context["generate_toctree_html"] = part


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", own_sidebar, priority=950)
    app.add_css_file("book.css", priority=900)
    app.add_js_file("book.js", loading_method="defer", priority=900)
    app.connect("html-page-context", mend, priority=900)
