"""The kernel's end of a test: what it prints is bounded."""

import io

from course_lib.assignments.agent import Bounded


def test_what_is_printed_beyond_the_bound_is_dropped() -> None:
    behind = io.StringIO()
    stream = Bounded(behind, room=5)
    assert [stream.write(text) for text in ("abc", "defg", "h")] == [3, 4, 1]
    print("more", file=stream, flush=True)
    assert behind.getvalue() == "abcde"
