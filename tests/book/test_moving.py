"""Moving figures in the sources of pages; their built pages are opened in test_browser.py."""

from itertools import takewhile

from course_book.source import Block, read

from tests.book.conftest import moving_sources


def is_asking(item: str | Block) -> bool:
    """Text, or a prediction: both may stand between a figure and the answer."""
    return isinstance(item, str) or item.name == "predict"


def test_each_is_followed_by_a_question() -> None:
    assert moving_sources()
    for source in moving_sources():
        items = read(source)[1].items
        for at, item in enumerate(items):
            if not isinstance(item, str) and item.name == "moving":
                asked = list(takewhile(is_asking, items[at + 1 :]))
                assert "?" in " ".join(map(str, asked)), source.stem
