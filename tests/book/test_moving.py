"""Moving figures in the sources of pages; their built pages are opened in test_browser.py."""

from itertools import takewhile

from course_book.source import read

from tests.book.conftest import moving_sources


def test_each_is_followed_by_a_question_to_answer_with_it() -> None:
    assert moving_sources()
    for source in moving_sources():
        items = read(source)[1].items
        for at, item in enumerate(items):
            if not isinstance(item, str) and item.name == "moving":
                text = list(takewhile(lambda line: isinstance(line, str), items[at + 1 :]))
                assert "?" in " ".join(map(str, text)), source.stem
                follows = items[at + 1 + len(text)]
                assert not isinstance(follows, str), source.stem
                assert follows.name == "answer", source.stem
