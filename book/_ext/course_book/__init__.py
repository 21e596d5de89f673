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
    offline,
    pages,
    quiz,
)


def setup(app: Sphinx) -> dict[str, bool]:
    for module in (
        folds,
        devices,
        quiz,
        drawings,
        moving,
        citations,
        execution,
        formulas,
        offline,
        pages,
        launch,
    ):
        module.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
