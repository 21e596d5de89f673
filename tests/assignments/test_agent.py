"""The kernel's end of a test: what it prints is bounded."""

import contextlib
import io
from types import SimpleNamespace

import IPython
import pytest

from course_lib.assignments import agent


def test_what_is_printed_beyond_the_bound_is_dropped() -> None:
    behind = io.StringIO()
    stream = agent.Bounded(behind, room=5)
    assert [stream.write(text) for text in ("abc", "defg", "h")] == [3, 4, 1]
    print("more", file=stream, flush=True)
    assert behind.getvalue() == "abcde"


def test_what_the_functions_of_a_test_print_is_bounded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    messages = iter([{"ask": "call"}, {"ask": "done"}])
    monkeypatch.setattr(IPython, "get_ipython", lambda: SimpleNamespace(user_ns={}))
    monkeypatch.setattr(agent.wire, "call", lambda place: contextlib.nullcontext())
    monkeypatch.setattr(agent.wire, "send", lambda *_: None)
    monkeypatch.setattr(agent.wire, "receive", lambda channel: next(messages))
    monkeypatch.setattr(agent, "Agent", lambda *_: SimpleNamespace(serve=speak))
    agent.serve("nowhere", "token")
    assert len(capsys.readouterr().out) == agent.MOST_PRINTED


def speak(message: dict[str, str]) -> None:
    """What a function does that prints too much."""
    print("y" * (agent.MOST_PRINTED + 100))
