"""One end of the way between the judge of a class and a student's kernel: asks, and answers.

Both ends are alike: each may ask the other to call a function, and to pull a gradient back through
a call, while it is being asked itself. What the judge asks for beyond that stands in `agent`.
"""

import builtins
import re
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor

from course_lib.assignments import wire
from course_lib.assignments.checks import describe_error
from course_lib.assignments.wire import Broken, Foreign

Message = dict[str, Any]


class Stopped(Exception):
    """A function on the other side raised.

    Attributes:
        kind: the name of a kind of error that Python itself has.
        text: what it said.
        line: the line of the cell, if it was a cell's.
    """

    def __init__(self, kind: str, text: str, line: int | None) -> None:
        super().__init__(text)
        self.kind, self.text, self.line = kind, text, line


class Remote:
    """A function of the other side's, which can be called here."""

    def __init__(self, connection: "Connection", number: int, name: str) -> None:
        self.connection, self.number, self.__name__ = connection, number, name

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """What it returns there, for copies of these; what it changes in them is changed here."""
        return self.connection.call(self, arguments, keywords)


Remote.__name__ = "function"  # what messages about an answer's kind call it


class _Flow(torch.autograd.Function):
    """The results of a call on the other side; their gradient is worked out there."""

    @staticmethod
    def forward(ctx: Any, pull: Callable[..., Any], values: list[Tensor], *_: Tensor) -> Any:
        ctx.pull = pull
        ctx.set_materialize_grads(False)
        return tuple(values)

    @staticmethod
    def backward(ctx: Any, *vectors: Tensor | None) -> Any:
        return (None, None, *ctx.pull(vectors))


class Connection:
    """One end of a connection."""

    def __init__(self, channel: socket.socket, ready: Callable[[], None] = lambda: None) -> None:
        """Talk on `channel`; `ready` waits until there is something to read, or raises."""
        self.channel, self._ready = channel, ready
        self._functions: list[Callable[..., Any]] = []
        self._flows: dict[int, tuple[list[Tensor], list[Tensor]]] = {}
        self._asked = self._depth = 0

    def ask(self, request: Message) -> Message:
        """Ask, and answer what the other side asks meanwhile.

        Raises:
            Broken: there is no answer, or none to this question.
        """
        self._asked += 1
        number = self._asked
        wire.send(self.channel, {**request, "number": number})
        while True:
            message = wire.receive(self.channel, self._ready)
            if "answer" in message:
                if message["answer"] != number:
                    raise Broken("this answers another question")
                return message
            self.serve(message)

    def serve(self, message: Message) -> None:
        """Answer one question.

        Raises:
            Broken: it is none, or the other side is gone.
        """
        if self._depth > wire.DEEPEST:
            raise Broken("questions are nested too deep")
        self._depth += 1
        number = {"answer": message.get("number")}
        try:
            wire.send(self.channel, {**self.answer(message), **number})
        except (Broken, KeyboardInterrupt):
            raise
        except BaseException as error:
            wire.send(self.channel, {"error": describe_error(error), **number})
        finally:
            self._depth -= 1

    def answer(self, message: Message) -> Message:
        """The answer to a question."""
        if message.get("ask") == "call":
            return self._called(message)
        if message.get("ask") == "pull":
            return self._pulled(message)
        raise Broken("this is no question")

    def call(self, function: Remote, arguments: tuple, keywords: Mapping[str, Any]) -> Any:
        """What a function of the other side's returns.

        Raises:
            Stopped: it raised.
            Broken: no usable answer came.
        """
        grad = torch.is_grad_enabled()
        inputs: list[Tensor] = []
        pack = partial(wire.pack, other=self.pack_other, flow=inputs if grad else None)
        request = {
            "ask": "call",
            "function": function.number,
            "arguments": [pack(one) for one in arguments],
            "keywords": {name: pack(one) for name, one in keywords.items()},
            "grad": grad,
        }
        request["flow"] = [wire.numbers(one) for one in inputs]
        reply = self.ask(request)
        with _to_be_read():
            if "error" in reply:
                raise stopped(reply["error"])
            flow = self._values(reply["flow"])
            if flow and inputs:
                pull = partial(self._pull, reply["answer"], inputs)
                flow = list(_Flow.apply(pull, flow, *inputs))
            else:
                flow = [one.requires_grad_() for one in flow]
            for place, new in reply["changed"]:
                wire.overwrite(arguments[place], wire.unpack(new, self.unpack_other, flow))
            return wire.unpack(reply["value"], self.unpack_other, flow)

    def _pull(
        self, number: int, inputs: list[Tensor], vectors: Sequence[Tensor | None]
    ) -> list[Tensor | None]:
        """The gradients of a call's inputs, for these of its outputs."""
        sent = [None if one is None else wire.numbers(one) for one in vectors]
        reply = self.ask({"ask": "pull", "call": number, "vectors": sent})
        with _to_be_read():
            if "error" in reply:
                raise stopped(reply["error"])
            gradients = self._values(reply["vectors"])
            for one, given in zip(gradients, inputs, strict=True):
                if one is not None and (one.shape, one.dtype) != (given.shape, given.dtype):
                    raise Broken("a gradient has another shape than what it is of")
            return gradients

    def _called(self, message: Message) -> Message:
        function = self._functions[message["function"]]
        flow = [one.requires_grad_() for one in self._values(message["flow"])]
        unpack = partial(wire.unpack, other=self.unpack_other, flow=flow)
        arguments = [unpack(one) for one in message["arguments"]]
        keywords = {name: unpack(one) for name, one in message["keywords"].items()}
        before = [wire.snapshot(one) for one in arguments]
        with torch.set_grad_enabled(bool(message["grad"])):
            value = function(*arguments, **keywords)
        outputs: list[Tensor] = []
        packed = wire.pack(value, self.pack_other, outputs)
        if flow and outputs:
            self._flows[message["number"]] = flow, outputs
        changed = [
            [place, wire.pack(one, self.pack_other)]
            for place, one in enumerate(arguments)
            if isinstance(one, torch.Generator) or wire.snapshot(one) != before[place]
        ]
        flowing = [wire.numbers(one) for one in outputs]
        return {"value": packed, "flow": flowing, "changed": changed}

    def _pulled(self, message: Message) -> Message:
        inputs, outputs = self._flows[message["call"]]
        vectors = self._values(message["vectors"])
        pairs = [pair for pair in zip(outputs, vectors, strict=True) if pair[1] is not None]
        slopes = torch.autograd.grad(
            [output for output, _ in pairs],
            inputs,
            [vector for _, vector in pairs],
            retain_graph=True,
            allow_unused=True,
        )
        return {"vectors": [None if one is None else wire.numbers(one) for one in slopes]}

    def _values(self, entries: list[wire.Encoded]) -> list[Any]:
        return [wire.unpack(one, self.unpack_other) for one in entries]

    def pack_other(self, value: Any) -> wire.Encoded:
        """An entry for what is no data: a function's number, or a thing's kind."""
        if isinstance(value, Remote) and value.connection is self:
            return ["yours", value.number]
        if callable(value):
            self._functions.append(value)
            name = getattr(value, "__name__", type(value).__name__)
            return ["function", len(self._functions) - 1, str(name)]
        return ["thing", type(value).__name__]

    def unpack_other(self, entry: list[Any]) -> Any:
        """What an entry that is no data stands for."""
        kind, *rest = entry
        if kind == "yours":
            return self._functions[rest[0]]
        if kind == "function":
            number, name = rest
            return Remote(self, int(number), word(name))
        if kind == "thing":
            return type(word(rest[0]), (Foreign,), {})()
        raise Broken("this is of no kind that goes over")


@contextmanager
def _to_be_read() -> Iterator[None]:
    """Whatever else is wrong with an answer than that a function raised, it is none."""
    try:
        yield
    except (Stopped, Broken):
        raise
    except Exception as error:
        raise Broken("the answer is of no form that could be read") from error


def word(name: Any) -> str:
    """A name that somebody else has chosen, as an identifier."""
    letters = re.sub(r"\W", "", str(name)[:60])
    return letters if letters.isidentifier() else "thing"


def stopped(description: Any) -> Stopped:
    """The error that `checks.describe_error` has described."""
    kind, text, line = description
    named = getattr(builtins, word(kind), None)
    is_error = isinstance(named, type) and issubclass(named, BaseException)
    number = line if isinstance(line, int) else None
    return Stopped(word(kind) if is_error else "Exception", str(text)[:200], number)
