"""How the judge of a class and a student's kernel talk: data that cannot carry code.

A message is a table, written by msgpack behind its length. Only kinds that are named here arrive,
within bounds, whoever sends: whatever else comes is `Broken`. Functions stay where they are: the
other side gets a number, and asks for calls. A gradient is asked for likewise, by value: a vector
goes over and is pulled back there.
"""

import array
import math
import socket
import struct
import sys
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import msgpack
import numpy as np

LARGEST = 64 * 1024**2
"""Bytes of a message."""
DEEPEST = 32
"""How far lists may be nested, and calls that answer calls."""
LENGTH = struct.Struct("!I")

TENSORS = {
    **{"bool": 1, "uint8": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8},
    **{"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "complex64": 8, "complex128": 16},
}
"""Bytes of a number of each dtype of PyTorch's that goes over."""

Entry = Any
"""A value as msgpack has it; what that lacks is a list that begins with its kind."""


class Broken(Exception):
    """The other side is gone, or has sent what is no message."""


class Foreign:
    """What stands for a thing that cannot go over: its kind's name is all there is of it."""


class Parcel:
    """Values on their way out.

    Attributes:
        flow: tensors through which gradients flow, which go in a list of their own.
    """

    def __init__(self, other: Callable[[Any], Entry], grad: bool = False) -> None:
        """Pack with `other` what has no kind here; tensors with a gradient flow if `grad`."""
        self.flow: list[Any] = []
        self._other, self._grad = other, grad

    def pack(self, value: Any, depth: int = 0) -> Entry:
        """A value as an entry.

        Raises:
            ValueError: it is nested too deep.
        """
        if depth > DEEPEST:
            raise ValueError("it is nested too deep")
        torch = sys.modules.get("torch")
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, np.ndarray | np.generic):
            return self._array(value, depth)
        if torch is not None and isinstance(value, torch.Tensor):
            return self._tensor(value)
        if torch is not None and isinstance(value, torch.Generator) and value.device.type == "cpu":
            return ["generator", numbers(value.get_state())]
        if isinstance(value, Fraction | Decimal):
            return float(value)
        if isinstance(value, int) and value.bit_length() > 63:
            return ["integer", str(value)]
        for kind in (int, float, str):
            if isinstance(value, kind):
                return kind(value)
        for name, kinds in (
            ("list", (list, array.array)),
            ("tuple", (tuple,)),
            ("set", (set, frozenset)),
        ):
            if isinstance(value, kinds):
                return [name, *(self.pack(part, depth + 1) for part in value)]
        if isinstance(value, dict):
            return [
                "dict",
                *([self.pack(x, depth + 1), self.pack(y, depth + 1)] for x, y in value.items()),
            ]
        return self._other(value)

    def _tensor(self, value: Any) -> Entry:
        if str(value.dtype).removeprefix("torch.") not in TENSORS or value.layout.__str__() != (
            "torch.strided"
        ):
            return self._other(value)
        if not (self._grad and value.requires_grad):
            return numbers(value)
        place = next((k for k, one in enumerate(self.flow) if one is value), len(self.flow))
        if place == len(self.flow):
            self.flow.append(value)
        return ["flow", place]

    def _array(self, value: Any, depth: int) -> Entry:
        plain = np.asarray(value)
        if plain.dtype.kind in "OU":
            return self.pack(plain.tolist(), depth + 1)
        if plain.dtype.kind not in "biufc":
            return self._other(value)
        if plain.dtype.itemsize > 8 and plain.dtype.kind != "c":
            plain = plain.astype(np.float64)
        raw = plain.astype(plain.dtype.newbyteorder("<")).tobytes()
        kind = "array" if isinstance(value, np.ndarray) else "scalar"
        return [kind, f"{plain.dtype.kind}{plain.dtype.itemsize}", list(plain.shape), raw]


def numbers(tensor: Any) -> Entry:
    """A tensor by its numbers alone."""
    plain = tensor.detach().cpu().resolve_conj().resolve_neg()
    raw = plain.contiguous().reshape(-1).view(sys.modules["torch"].uint8).numpy().tobytes()
    steps = None if plain.is_contiguous() else list(plain.stride())
    return ["tensor", str(plain.dtype).removeprefix("torch."), list(plain.shape), raw, steps]


class Content:
    """Values that have come in; every claim about them is checked."""

    def __init__(self, other: Callable[[list[Any]], Any], flow: Sequence[Any] = ()) -> None:
        """Unpack with `other` what has no kind here."""
        self._other, self._flow = other, flow

    def unpack(self, entry: Entry, depth: int = 0) -> Any:
        """The value of an entry.

        Raises:
            Exception: of whatever kind; it is none.
        """
        if depth > DEEPEST:
            raise ValueError("it is nested too deep")
        if entry is None or isinstance(entry, bool | int | float | str):
            return entry
        if not isinstance(entry, list):
            raise TypeError("no entry")
        kind, *rest = entry
        if kind in ("list", "tuple", "set"):
            parts = [self.unpack(part, depth + 1) for part in rest]
            return {"list": list, "tuple": tuple, "set": set}[kind](parts)
        if kind == "dict":
            return {self.unpack(x, depth + 1): self.unpack(y, depth + 1) for x, y in rest}
        if kind == "integer":
            return int(rest[0])
        if kind == "flow":
            return self._flow[_whole(rest[0])]
        if kind == "tensor":
            return _tensor(*rest)
        if kind in ("array", "scalar"):
            dtype = np.dtype(f"<{rest[0]}")
            if dtype.kind not in "biufc":
                raise TypeError("no numbers")
            found = np.frombuffer(_all_of(rest[2], rest[1], dtype.itemsize), dtype)
            found = found.reshape(rest[1]).copy()
            return found if kind == "array" else found[()]
        if kind == "generator":
            import torch

            return torch.Generator().set_state(self.unpack(rest[0], depth + 1))
        return self._other(entry)


def _tensor(dtype: str, shape: list[int], raw: bytes, steps: list[int] | None) -> Any:
    import torch

    kind = getattr(torch, dtype)
    if not _all_of(raw, shape, TENSORS[dtype]):
        return torch.empty(shape, dtype=kind)
    found = torch.frombuffer(bytearray(raw), dtype=kind).reshape(shape)
    if steps is None or not all(steps):
        return found
    extent = sum((n - 1) * _whole(step) for n, step in zip(shape, steps, strict=True))
    if extent * TENSORS[dtype] > LARGEST:
        raise ValueError("no steps")
    return torch.empty_strided(shape, steps, dtype=kind).copy_(found)


def _all_of(raw: bytes, shape: list[int], size: int) -> bytes:
    if len(shape) > 16 or any(_whole(length) >= 2**31 for length in shape):
        raise ValueError("no shape")
    if not isinstance(raw, bytes) or len(raw) != size * math.prod(shape):
        raise ValueError("numbers are missing")
    return raw


def _whole(number: Any) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise ValueError("no place")
    return number


def listen() -> socket.socket:
    """A door on this machine alone, where no other system's kind of socket is asked for."""
    door = socket.create_server(("127.0.0.1", 0))
    door.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # who comes in takes it over
    return door


def port(door: socket.socket) -> str:
    """Where somebody on this machine calls at a door that `listen` has made."""
    return str(door.getsockname()[1])


def call(place: str) -> socket.socket:
    """A connection to a port of this machine, or to a socket in a folder, which only POSIX has."""
    if place.isdecimal():
        channel = socket.create_connection(("127.0.0.1", int(place)))
        channel.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return channel
    channel = socket.socket(socket.AF_UNIX)
    channel.connect(place)
    return channel


def send(channel: socket.socket, message: dict[str, Any]) -> None:
    """Send one message.

    Raises:
        Broken: nobody is there.
        ValueError: it is too large.
    """
    raw = msgpack.packb(message, unicode_errors="replace")
    if len(raw) > LARGEST:
        raise ValueError("it is too large")
    try:
        channel.sendall(LENGTH.pack(len(raw)) + raw)
    except OSError as error:
        raise Broken("the other side is gone") from error


def receive(channel: socket.socket, ready: Callable[[], None] = lambda: None) -> dict[str, Any]:
    """One message.

    Args:
        channel: where it comes from.
        ready: returns when there is something to read, or raises.

    Raises:
        Broken: nobody is there, or what came is no message.
    """
    try:
        (length,) = LENGTH.unpack(_read(channel, LENGTH.size, ready))
        if length > LARGEST:
            raise Broken("the message is too large")
        message = msgpack.unpackb(_read(channel, length, ready), unicode_errors="replace")
    except (OSError, ValueError) as error:
        raise Broken("what came is no message") from error
    if not isinstance(message, dict):
        raise Broken("what came is no message")
    return message


def _read(channel: socket.socket, count: int, ready: Callable[[], None]) -> bytes:
    parts = bytearray()
    while len(parts) < count:
        ready()
        part = channel.recv(min(count - len(parts), 2**20))
        if not part:
            raise Broken("the other side is gone")
        parts += part
    return bytes(parts)


def snapshot(value: Any) -> bytes:
    """What a value holds, to be compared with what it holds later; functions and chance left out.

    Raises:
        ValueError: it is nested too deep.
    """
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Generator):
        return b""
    raw: bytes = msgpack.packb(Parcel(lambda other: "").pack(value), unicode_errors="replace")
    return raw


def overwrite(old: Any, new: Any) -> None:
    """Change `old` in place so that it holds what `new` holds.

    Raises:
        ValueError: this kind cannot be changed, or not like that.
    """
    torch = sys.modules.get("torch")
    if isinstance(old, list) and isinstance(new, list):
        old[:] = new
    elif isinstance(old, dict) and isinstance(new, dict):
        old.clear()
        old.update(new)
    elif isinstance(old, set) and isinstance(new, set):
        old.clear()
        old |= new
    elif isinstance(old, np.ndarray) and isinstance(new, np.ndarray) and old.shape == new.shape:
        old[...] = new
    elif torch is not None and isinstance(old, torch.Generator):
        old.set_state(new.get_state())
    elif torch is not None and isinstance(old, torch.Tensor) and isinstance(new, torch.Tensor):
        if old.shape != new.shape:
            old.data = new.to(old.dtype)
        else:
            old.data.copy_(new)
    else:
        raise ValueError("this cannot be changed in place")
