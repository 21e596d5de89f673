"""The book's own Sphinx extension: teaching devices, offline pages, an honest execution cache."""

from sphinx.application import Sphinx

from . import (
    citations,
    devices,
    drawings,
    execution,
    folds,
    formulas,
    launch,
    moving,
    numbering,
    offline,
    pages,
    quiz,
    words,
)


def setup(app: Sphinx) -> dict[str, bool]:
    for module in (
        folds,
        devices,
        quiz,
        drawings,
        moving,
        numbering,
        words,
        citations,
        execution,
        formulas,
        offline,
        pages,
        launch,
    ):
        module.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
