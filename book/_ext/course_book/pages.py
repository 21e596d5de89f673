"""What is added to or mended in every page of the theme."""

from sphinx.application import Sphinx


def setup(app: Sphinx) -> None:
    app.add_css_file("book.css", priority=900)
    app.add_js_file("book.js", loading_method="defer", priority=900)
