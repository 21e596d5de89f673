"""The text format of gold links, sure and possible: what is read, what is written, what is not."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.errors import CourseError
from course_lib.evaluation.links import (
    GoldLinks,
    check_links,
    counted_from_one,
    parse_links,
    read_links,
)

link_sets = st.frozensets(st.tuples(st.integers(0, 120), st.integers(0, 120)), max_size=12)
golds = st.builds(GoldLinks, link_sets, link_sets)


def line(gold: GoldLinks) -> str:
    """The links as the published format writes them."""
    return " ".join(f"{i}{'-' if (i, j) in gold.sure else 'p'}{j}" for i, j in gold.possible)


def test_a_line_in_each_notation() -> None:
    """The same links as the two published conventions write them."""
    wanted = GoldLinks(frozenset({(0, 0), (10, 9)}), frozenset({(11, 42), (1, 2)}))
    assert parse_links("0-0 10-9 11p42 1p2") == wanted
    assert parse_links("10-9 0-0 1?2 11?42\n") == wanted


@pytest.mark.parametrize("line", ["2-3 2p3", "2p3 2-3", "2-3 2-3 2?3"])
def test_a_link_given_twice_counts_once_and_as_sure(line: str) -> None:
    assert parse_links(line) == GoldLinks(frozenset({(2, 3)}))


@pytest.mark.parametrize("line", ["", "   ", "\t"])
def test_a_line_without_links_is_a_sentence_without_links(line: str) -> None:
    assert parse_links(line) == GoldLinks(frozenset())


@given(st.lists(golds, max_size=5))
def test_what_is_written_is_what_is_read(
    tmp_path_factory: pytest.TempPathFactory, sentences: list[GoldLinks]
) -> None:
    path = tmp_path_factory.mktemp("links") / "gold.txt"
    every = [*sentences, GoldLinks(frozenset())]
    path.write_text("".join(line(gold) + "\n" for gold in every))
    assert read_links(path) == every


@pytest.mark.parametrize(
    "word", ["2_1", "2--1", "-2-1", "2-", "p3", "2-1-0", "2p1.0", "²-1", "٣-1", "S"]
)
def test_what_is_no_link_is_named_with_its_line(tmp_path: Path, word: str) -> None:
    path = tmp_path / "gold.txt"
    path.write_text(f"0-0\n1-1 {word}\n", encoding="utf-8")
    with pytest.raises(CourseError) as caught:
        read_links(path)
    message = str(caught.value)
    assert message.startswith(f"{path} line 2: {word!r} is not a link.")
    assert "3p4" in message
    assert "\n" not in message


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "gold.txt"
    path.write_bytes(b"0-0 \xff\n")
    with pytest.raises(CourseError, match="not a text file of links"):
        read_links(path)


def test_links_must_belong_to_their_sentences() -> None:
    source, target = [["a", "b"], ["a"]], [["x"], ["x", "y", "z"]]
    gold = [GoldLinks(frozenset({(1, 0)})), GoldLinks(frozenset(), frozenset({(0, 2)}))]
    check_links(gold, source, target, "gold.txt")
    with pytest.raises(CourseError, match="links for 1 sentences, but there are 2"):
        check_links(gold[:1], source, target, "gold.txt")
    with pytest.raises(CourseError, match="line 2: a link from word 0 to word 2"):
        check_links(gold, source, [["x"], ["x", "y"]], "gold.txt")
    with pytest.raises(CourseError, match="line 1: a link from word 1 to word 0"):
        check_links(gold, [["a"], ["a"]], target, "gold.txt")


def test_links_that_touch_no_first_word_are_asked_about() -> None:
    from_one = [GoldLinks(frozenset({(1, 1), (2, 2)}))] * 12
    assert "counted from 1" in (counted_from_one(from_one) or "")
    assert counted_from_one([*from_one, GoldLinks(frozenset({(0, 3)}))]) is None
    assert counted_from_one(from_one[:3]) is None


def test_a_byte_order_mark_is_no_part_of_a_link(tmp_path: Path) -> None:
    (tmp_path / "test.links").write_text("\ufeff0-0\n", encoding="utf-8")
    assert read_links(tmp_path / "test.links") == [GoldLinks(frozenset({(0, 0)}))]
