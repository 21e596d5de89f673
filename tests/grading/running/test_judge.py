"""The seam between judge and kernel: what honest answers keep, and what no answer can do."""

import contextlib
import json
import socket
import struct
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest
import torch

from course_lib.assignments import wire
from course_lib.assignments.agent import Agent
from course_lib.grading.running import judge_process
from course_lib.grading.running.judge_process import LARGEST_FOLDER, sit

TOKEN = "the judge's own word"
IMPORTS = "from course_lib.assignments import checks\nimport torch\n"
Kernel = Callable[[socket.socket], None]


def verdict(
    source: str, kernel: Kernel, seconds: float = 20, endless: set[str] | None = None
) -> Any:
    """What the judge says of a test while this kernel answers."""
    listener, place = socket.socket(socket.AF_UNIX), f"\0judge-{threading.get_ident()}"
    grader, over = socket.socketpair()
    with listener, grader, over:
        listener.bind(place)
        listener.listen()

        def answer() -> None:
            with socket.socket(socket.AF_UNIX) as channel:
                channel.connect(place)
                with contextlib.suppress(wire.Broken, OSError):
                    kernel(channel)
            wire.send(over, {"over": True})

        thread = threading.Thread(target=answer)
        thread.start()
        test = {"source": source, "token": TOKEN, "seconds": seconds}
        found = sit(listener, grader, test, set() if endless is None else endless)
        thread.join()
    return found


def honest(names: dict[str, Any]) -> Kernel:
    """A kernel with these names."""

    def kernel(channel: socket.socket) -> None:
        wire.send(channel, {"hello": TOKEN})
        agent = Agent(channel, names)
        while True:
            message = wire.receive(channel)
            if message.get("ask") == "done":
                return
            agent.serve(message)

    return kernel


def judged(test: str, cell: str) -> Any:
    """What becomes of a student's cell in a test."""
    names: dict[str, Any] = {}
    exec(compile(cell, "<cell>", "exec"), names)
    return verdict(
        f"from course_lib.assignments import checks\nimport torch\n{test}", honest(names)
    )


DOUBLE = """
x = torch.tensor([1.0, 2.0], requires_grad=True)
(y,) = checks.results(double, ("y",), x)
checks.close(y, [2.0, 4.0], "y", hint="")
checks.gradient(y, x, [2.0, 2.0], "y")
"""

STYLES = {
    "tensors": "def double(x): return 2 * x",
    "a lambda": "double = lambda x: x + x",
    "a partial": "import functools, operator\ndouble = functools.partial(operator.mul, 2)",
    "a closure": "def made(n):\n    return lambda x: n * x\ndouble = made(2)",
    "a class with a call": "class A:\n    def __call__(self, x): return 2 * x\ndouble = A()",
    "a bound method": "class A:\n    def f(self, x): return 2 * x\ndouble = A().f",
    "a static method": "class A:\n    @staticmethod\n    def f(x): return 2 * x\ndouble = A.f",
    "a module": "import torch\nclass A(torch.nn.Module):\n    def forward(self, x): return 2 * x\n"
    "double = A()",
    "a module's weights": "import torch\nlayer = torch.nn.Linear(2, 2, bias=False)\n"
    "layer.weight.data = 2 * torch.eye(2)\ndouble = layer",
    "einsum": "import torch\ndef double(x): return torch.einsum('i,->i', x, torch.tensor(2.0))",
    "a loop": "import torch\ndef double(x): return torch.stack([2 * one for one in x])",
    "recursion": "def double(x, n=2): return x if n == 1 else x + double(x, n - 1)",
    "a decorator": "import functools\ndef plain(f):\n    @functools.wraps(f)\n"
    "    def g(*a): return f(*a)\n    return g\n@plain\ndef double(x): return 2 * x",
    "a cache": "known = {}\ndef double(x):\n    known[id(x)] = 2 * x\n    return known[id(x)]",
    "a named tuple": "import collections\nR = collections.namedtuple('R', 'y')\n"
    "def double(x): return R(2 * x).y",
    "a dataclass": "import dataclasses\n@dataclasses.dataclass\nclass R:\n    y: object\n"
    "def double(x): return R(2 * x).y",
    "numpy": "def double(x): return 2 * x.detach().numpy()",
    "numpy of what a gradient is asked of": "import numpy as np\n"
    "def double(x): return 2 * np.asarray(x)",
    "a list": "def double(x): return [2 * one for one in x.tolist()]",
    "a tuple": "def double(x): return tuple(2 * one for one in x.tolist())",
    "fractions": "import fractions\n"
    "def double(x): return [2 * fractions.Fraction(one) for one in x.tolist()]",
    "double precision": "def double(x): return 2 * x.double()",
    "another default dtype": "import torch\ndef double(x):\n"
    "    before = torch.get_default_dtype()\n    torch.set_default_dtype(torch.float64)\n"
    "    try: return x * torch.full((2,), 2.0)\n    finally: torch.set_default_dtype(before)",
    "gradients off outside": "import torch\ndef double(x):\n"
    "    with torch.no_grad(): torch.ones(1)\n    return 2 * x",
    "a step of Adam": "import torch\np = torch.nn.Parameter(torch.ones(1))\n"
    "p.sum().backward()\ntorch.optim.Adam([p]).step()\ndef double(x): return 2 * x",
    "a function of autograd": "import torch\nclass Twice(torch.autograd.Function):\n"
    "    @staticmethod\n    def forward(ctx, x): return 2 * x\n"
    "    @staticmethod\n    def backward(ctx, g): return 2 * g\ndouble = Twice.apply",
    "a thread": "import threading\ndef double(x):\n    found = []\n"
    "    t = threading.Thread(target=lambda: found.append(2 * x)); t.start(); t.join()\n"
    "    return found[0]",
    "a seed": "import torch\ndef double(x):\n    torch.manual_seed(1)\n    return 2 * x",
    "a clone first": "def double(x):\n    x = x.clone()\n    x += x\n    return x",
    "views": "def double(x): return 2 * x.view(1, 2).T.reshape(-1)",
    "keywords": "def double(x, *, factor=2): return factor * x",
    "any arguments": "def double(*arguments): return 2 * arguments[0]",
    "caught errors": "def double(x):\n    try: x[7]\n    except IndexError: return 2 * x",
    "hooks": "def double(x):\n    y = 2 * x\n    y.register_hook(lambda g: g)\n    return y",
    "own names": "list = tuple = len = range = None\ndef double(x): return 2 * x",
    "an assertion": "def double(x):\n    assert x.ndim == 1\n    return 2 * x",
    "a generator inside": "def double(x): return sum(one for one in (x, x))",
    "a subclass of tensors": "import torch\nclass T(torch.Tensor): pass\n"
    "def double(x): return (2 * x).as_subclass(T)",
    "an array of objects": "import numpy as np\n"
    "def double(x): return np.array([2 * one for one in x.tolist()], dtype=object)",
    "a function replaced later": "def double(x): return x\ndef double(x): return 2 * x",
    "vmap": "import torch\ndef double(x): return torch.vmap(lambda one: 2 * one)(x)",
}
"""Ways to write one function, all right."""


@pytest.mark.parametrize("style", STYLES)
def test_an_honest_style_keeps_its_points(style: str) -> None:
    assert judged(DOUBLE, STYLES[style]) == {"passed": True}


WRONG = {
    "half": ("def double(x): return x", "y is not right"),
    "cut gradient": ("def double(x): return (2 * x).detach()", "carries no gradient"),
    "wrong gradient": ("def double(x): return x + x.detach()", "its gradient is not"),
    "in place": ("def double(x):\n    x.data *= 2\n    return x", "changed its argument number 1"),
    "an error": (
        "def double(x): return 1 / 0",
        "stopped with ZeroDivisionError (line 1 of",
    ),
    "an exit": ("def double(x): exit()", "stopped with"),
    "an error that cannot be said": (
        "class E(Exception):\n    def __str__(self): raise self\ndef double(x): raise E()",
        "cannot be put into words",
    ),
    "no function": ("double = 3", "should be a function is none"),
    "no name": ("", "'double' is not defined"),
    "itself": ("def double(x): return double", "of the kind function"),
    "own kind": ("class Odd: pass\ndef double(x): return Odd()", "of the kind Odd"),
    "one that agrees": (
        "class Yes(float):\n    __eq__ = __le__ = lambda *a: True\n    __sub__ = lambda *a: 0.0\n"
        "def double(x): return [Yes(7), Yes(7)]",
        "y is not right",
    ),
    "a list in itself": ("def double(x):\n    y = []\n    y.append(y)\n    return y", "too deep"),
    "too much": ("import torch\ndef double(x): return torch.ones(2**25)", "too large"),
    "forged error": (
        "def double(x): raise type('Refused', (Exception,), {})('passed: 3.14159')",
        "stopped with Exception (line 1 of its cell): passed: …",
    ),
}


@pytest.mark.parametrize("way", WRONG)
def test_a_wrong_answer_is_refused_with_what_is_wrong(way: str) -> None:
    cell, said = WRONG[way]
    found = judged(DOUBLE, cell)
    assert found["passed"] is False
    assert said in found["said"]


def reply(**what: Any) -> Kernel:
    """A kernel that gives this answer to whatever it is asked."""

    def kernel(channel: socket.socket) -> None:
        wire.send(channel, {"hello": TOKEN})
        while True:
            message = wire.receive(channel)
            wire.send(channel, {"answer": message.get("number"), **what})

    return kernel


def raw(*blocks: bytes) -> Kernel:
    """A kernel that says hello and then sends these bytes, whatever it is asked."""

    def kernel(channel: socket.socket) -> None:
        wire.send(channel, {"hello": TOKEN})
        wire.receive(channel)
        for block in blocks:
            channel.sendall(block)
        channel.shutdown(socket.SHUT_WR)

    return kernel


def framed(message: Any) -> bytes:
    raw = message if isinstance(message, bytes) else msgpack.packb(message)
    return struct.pack("!I", len(raw)) + raw


def twice(channel: socket.socket) -> None:
    """Every answer comes twice."""
    wire.send(channel, {"hello": TOKEN})
    for _ in range(9):
        message = wire.receive(channel)
        for _ in range(2):
            wire.send(channel, {"answer": message.get("number"), "value": ["list", 1.0, 2.0, 0.5]})


def asking(channel: socket.socket) -> None:
    """Every question is answered by a question."""
    wire.send(channel, {"hello": TOKEN})
    while True:
        wire.receive(channel)
        wire.send(channel, {"ask": "call", "function": 0, "number": 1, "arguments": []})


def stranger(channel: socket.socket) -> None:
    """A kernel that does not know the word."""
    wire.send(channel, {"hello": "passed"})
    wire.send(channel, {"answer": 1, "value": ["list", 1.0, 2.0]})
    wire.receive(channel)


NOTHING = bytes(8)
TENSOR = ["tensor", "float32", [2], NOTHING, None]
ATTACKS: dict[str, Kernel] = {
    "says that it passed": reply(passed=True, value=None),
    "a verdict instead of an answer": raw(framed({"passed": True})),
    "nothing": raw(),
    "half a message": raw(framed({"answer": 1})[:9]),
    "noise": raw(bytes(range(256)) * 9),
    "a word": raw(framed("answer")),
    "two messages in one": raw(framed(msgpack.packb({"answer": 1}) * 2)),
    "a list": raw(framed([])),
    "numbers for keys": raw(framed({1: 2})),
    "lists in lists without end": raw(framed(b"\x91" * 200_000)),
    "a list of 4 billion": raw(framed(b"\xdd" + b"\xff" * 4)),
    "a kind of one's own": raw(framed({"answer": 1, "value": msgpack.ExtType(7, b"x")})),
    "a length of 4 GB": raw(b"\xff" * 8),
    "an answer to another question": reply(answer=99, value=["list", 1.0, 2.0]),
    "an answer to none": reply(answer=None, value=["list", 1.0, 2.0]),
    "every answer twice": twice,
    "questions for answers": asking,
    "a stranger": stranger,
    "no value": reply(),
    "an error that is none": reply(error=7),
    "a made-up kind": reply(value=["pickle", "gASV"]),
    "no kind": reply(value=[]),
    "an object": reply(value={"list": [1.0, 2.0]}),
    "a list too deep": reply(value=json.loads("[" * 50 + '"list"' + "]" * 50)),
    "a tensor of an unknown dtype": reply(value=["tensor", "object", [2], NOTHING, None]),
    "a tensor with too few bytes": reply(value=["tensor", "float64", [2**20], NOTHING, None]),
    "a tensor with a negative shape": reply(value=["tensor", "float32", [-2], NOTHING, None]),
    "a tensor of shape True": reply(value=["tensor", "float32", [True, 2], NOTHING, None]),
    "a tensor of immense shape": reply(value=["tensor", "float32", [0, 2**62], NOTHING, None]),
    "a tensor of many axes": reply(value=["tensor", "float32", [1] * 99, NOTHING, None]),
    "a tensor of text": reply(value=["tensor", "float32", [2], "x" * 8, None]),
    "a tensor with immense steps": reply(value=["tensor", "float32", [2], NOTHING, [2**40]]),
    "an array of objects": reply(value=["array", "O8", [2], NOTHING]),
    "an array of text": reply(value=["array", "U2", [2], NOTHING]),
    "a generator in no state": reply(value=["generator", TENSOR]),
    "a flow that is not there": reply(value=["flow", 0]),
    "a function of the judge's": reply(value=["yours", 0]),
    "a set of lists": reply(value=["set", ["list", 1.0]]),
    "a dictionary of lists": reply(value=["dict", [["list"], 1]]),
    "a plot of nothing": reply(value=["figure", [{"images": [["x"]]}]]),
    "a plot that is none": reply(value=["figure", 7]),
    "a folder": reply(value=["folder", [["../x", "x"]]]),
    "a thing with a hostile name": reply(value=["thing", "<script>\u202e\n"]),
    "a thing with a long name": reply(value=["thing", "x" * 10**6]),
    "half a letter": reply(value="\ud800"),
    "half a letter in bytes": raw(framed(b"\x82\xa6answer\x01\xa5value\xa3\xed\xa0\x80")),
    "a number of 4,000 digits": reply(value=["integer", "1" + "0" * 4000]),
    "a number of 5,000 digits": reply(value=["integer", "1" + "0" * 5000]),
    "NaN": reply(value=["list", float("nan"), float("nan")]),
    "infinity": reply(value=["list", float("inf"), -float("inf")]),
    "True": reply(value=["list", True, True]),
}


ASKED = (
    "from course_lib.assignments import checks\n"
    "found = checks.numbers(answer, (2,), 'answer')\n"
    "checks.close(found, [1.0, 2.0], 'answer', hint='')\n"
)


@pytest.mark.parametrize("way", ATTACKS)
def test_no_answer_passes_by_its_form(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge_process, "GRACE", 1)
    found = verdict(ASKED, ATTACKS[way], seconds=2)
    assert found["passed"] is False
    assert len(found["said"]) < 4500
    json.dumps(found).encode("ascii")


def test_the_right_answer_passes() -> None:
    assert verdict(ASKED, honest({"answer": [1.0, 2.0]})) == {"passed": True}


CALLED: dict[str, dict[str, Any]] = {
    "no results": {},
    "a gradient from whole numbers": {"flow": [["tensor", "int64", [1], NOTHING, None]]},
    "more tensors than there are": {"flow": [TENSOR] * 2, "value": ["flow", 5], "changed": []},
    "a change of what is not there": {"flow": [], "value": TENSOR, "changed": [[7, TENSOR]]},
    "a change to another kind": {"flow": [], "value": TENSOR, "changed": [[0, "x"]]},
    "an error of no kind": {"error": ["exec", "x", 1]},
    "an error with a hostile text": {"error": ["ValueError", ["x"] * 9, "line"]},
    "nothing but a vector": {"vectors": [TENSOR]},
}


@pytest.mark.parametrize("way", CALLED)
def test_no_result_of_a_call_passes_by_its_form(way: str) -> None:
    def kernel(channel: socket.socket) -> None:
        wire.send(channel, {"hello": TOKEN})
        while True:
            message = wire.receive(channel)
            what = (
                {"value": ["function", 0, "double"]} if message.get("ask") == "get" else CALLED[way]
            )
            wire.send(channel, {"answer": message.get("number"), **what})

    found = verdict(IMPORTS + DOUBLE, kernel)
    assert found["passed"] is False


def test_a_gradient_of_another_shape_is_refused() -> None:
    class Liar(Agent):
        def _pulled(self, message: Any) -> Any:
            return {"vectors": [wire.numbers(torch.ones(7))]}

    def kernel(channel: socket.socket) -> None:
        wire.send(channel, {"hello": TOKEN})
        agent = Liar(channel, {"double": lambda x: 2 * x})
        while True:
            agent.serve(wire.receive(channel))

    found = verdict(IMPORTS + DOUBLE, kernel)
    assert found["passed"] is False


def test_an_endless_function_is_named_once_and_not_called_again() -> None:
    release, calls = threading.Event(), []

    def endless(x: Any) -> None:
        calls.append(x)
        release.wait(3)
        raise wire.Broken("the kernel was interrupted")

    known: set[str] = set()
    test = "from course_lib.assignments import checks\nchecks.results(slow, ('y',), 1)"
    names = {"slow": endless}
    endless.__name__ = "slow"
    first = verdict(test, honest(names), seconds=2, endless=known)
    again = verdict(test, honest(names), seconds=2, endless=known)
    assert "slow did not end within 2 seconds." in first["said"]
    assert "was not called again" in again["said"]
    assert len(calls) == 1
    other = test.replace("slow", "quick")
    assert verdict(other, honest({"quick": lambda x: x}), endless=known) == {"passed": True}


def test_functions_that_a_test_hands_over_are_called_back_with_gradients() -> None:
    test = """
calls = []
def inner(x, factor=1.0):
    calls.append(tuple(x.shape))
    return factor * x * x, [1, 2]
x = torch.tensor([[1.0, 2.0]], requires_grad=True)
(y,) = checks.results(outer, ("y",), inner, x)
checks.close(y, [[9.0, 24.0]], "y", hint="")
checks.gradient(y, x, [[12.0, 18.0]], "y")
assert calls == [(1, 2)], calls
"""
    right = """
def outer(inner, x):
    y, more = inner(x, factor=3.0)
    return y + 3 * x * more[1]
"""
    assert judged(test, right) == {"passed": True}
    cut = right.replace("return y", "return y.detach()")
    assert "its gradient is not" in judged(test, cut)["said"]


def test_chance_goes_over_by_its_state() -> None:
    test = """
one = torch.Generator().manual_seed(1)
first, second = (checks.results(draw, ("x",), one)[0].tolist() for _ in range(2))
other = torch.Generator().manual_seed(1)
assert first == checks.results(draw, ("x",), other)[0].tolist()
assert first != second
"""
    assert judged(test, "import torch\ndef draw(g): return torch.rand(3, generator=g)")["passed"]
    assert not judged(test, "import torch\ndef draw(g): return torch.rand(3)")["passed"]


def test_an_argument_arrives_as_it_lies_in_memory() -> None:
    test = "checks.results(view, ('y',), torch.ones(2, 3).T)"
    found = judged(test, "def view(x): return x.view(6)")
    assert "stopped with RuntimeError" in found["said"]
    assert judged(test, "def view(x): return x.reshape(6)") == {"passed": True}


def test_a_folder_goes_over_with_its_files(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("ä")
    test = f"""
from pathlib import Path
checks.that(checks.results(read, ("text",), Path({str(tmp_path)!r}))[0] == "ä", "another text")
"""
    assert judged(test, "def read(folder): return (folder / 'a.txt').read_text()") == {
        "passed": True
    }
    (tmp_path / "b.txt").write_text("x" * LARGEST_FOLDER)
    assert not judged(test, "def read(folder): return 'ä'")["passed"]


def test_a_plot_goes_over_by_what_it_shows() -> None:
    cell = """
from matplotlib.figure import Figure
figure = Figure()
axes = figure.subplots()
axes.imshow([[0.25, 0.75]])
axes.set_xticks([0, 1], ["a", "b"])
"""
    test = """
(axes,) = figure.axes
assert axes.images[0].get_array().tolist() == [[0.25, 0.75]]
assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "b"]
assert hasattr(figure, "savefig")
"""
    assert judged(test, cell) == {"passed": True}


DRAWN = {
    "an image": "axes.imshow(table)",
    "an image from below": "axes.imshow(table, origin='lower')",
    "an image of a given size": "axes.imshow(table, extent=(0, 30, 20, 0)); scale, start = 10, 5",
    "a mesh": "axes.pcolormesh(table); start = 0.5",
    "a mesh with its middles": "axes.pcolormesh([0, 1, 2], [0, 1], table)",
    "polygons": "axes.pcolor(table); axes.invert_yaxis(); start = 0.5",
}


@pytest.mark.parametrize("how", DRAWN)
@pytest.mark.parametrize("late", [0, 1])
def test_labels_keep_their_places_on_the_way_to_the_judge(how: str, late: int) -> None:
    cell = f"""
from matplotlib.figure import Figure
table, scale, start = [[0.0, 0.25, 0.5], [1.0, 0.75, 0.5]], 1, 0
figure = Figure()
axes = figure.subplots()
{DRAWN[how]}
axes.set_xticks([start + scale * (k + {late}) for k in range(2)], ["a", "b"])
axes.set_yticks([start + scale * (k + {late}) for k in range(2)], ["c", "d"])
"""
    test = f"""
from course_lib.assignments.pictures import shown
(one,) = shown(figure)
assert one.values.tolist() == [[0.0, 0.25, 0.5], [1.0, 0.75, 0.5]]
for labels in (one.rows, one.columns):
    assert all(abs(place - k - {late}) < 1e-6 for k, (place, _) in enumerate(labels)), labels
assert [text for _, text in [*one.columns, *one.rows]] == ["a", "b", "c", "d"]
"""
    names: dict[str, Any] = {}
    exec(cell, names)
    exec(test, names)  # as in the student's own notebook
    assert judged(test, cell) == {"passed": True}


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, 3, 10**30, -0.5, "ä", [1, [2.5]], (1, "b"), {1, 2}, {"a": [1]}),
        *(np.arange(6.0).reshape(2, 3), np.float32(0.5), np.array([True]), np.array(7)),
        *(torch.arange(3), torch.ones(2, 0), torch.tensor(True), torch.ones(2).bfloat16()),
    ],
    ids=str,
)
def test_data_comes_over_as_it_is(value: Any) -> None:
    entry = msgpack.unpackb(msgpack.packb(wire.pack(value, lambda _: None)))
    found = wire.unpack(entry, lambda _: None)
    assert type(found) is type(value)
    assert wire.snapshot(found) == wire.snapshot(value)
    assert getattr(found, "dtype", None) == getattr(value, "dtype", None)


def test_the_names_that_a_test_asks_for_are_those_it_does_not_define() -> None:
    cell = "given, other, answer, json, len = 1, True, 7, None, None"
    test = (
        "import json\ndef f(a, c=given):\n    return [answer for e in a if other]\n"
        "answer = 9\nassert f([1]) == [9] and len(json.dumps(given)) == 1\nassert missing\n"
    )
    assert judged(test, cell)["said"] == "name 'missing' is not defined"
