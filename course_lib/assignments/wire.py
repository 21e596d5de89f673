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
from functools import partial
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

Encoded = Any
"""A value as msgpack has it; what that lacks is a list that begins with its kind."""


class Broken(Exception):
    """The other side is gone, or has sent what is no message."""


class Foreign:
    """What stands for a thing that cannot go over: its kind's name is all there is of it."""


def pack(
    value: Any, other: Callable[[Any], Encoded], flow: list[Any] | None = None, depth: int = 0
) -> Encoded:
    """A value as an entry.

    Args:
        value: what is to go over.
        other: makes an entry of what has no kind here.
        flow: where tensors with a gradient are put; None where their numbers go over.
        depth: of the value in others.

    Raises:
        ValueError: it is nested too deep.
    """
    if depth > DEEPEST:
        raise ValueError("it is nested too deep")
    torch = sys.modules.get("torch")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, np.ndarray | np.generic):
        return _packed_array(value, other, flow, depth)
    if torch is not None and isinstance(value, torch.Tensor):
        return _packed_tensor(value, other, flow)
    if torch is not None and isinstance(value, torch.Generator) and value.device.type == "cpu":
        return ["generator", numbers(value.get_state())]
    if isinstance(value, Fraction | Decimal):
        return float(value)
    if isinstance(value, int) and value.bit_length() > 63:
        return ["integer", str(value)]
    for kind in (int, float, str):
        if isinstance(value, kind):
            return kind(value)
    inner = partial(pack, other=other, flow=flow, depth=depth + 1)
    for name, kinds in (
        ("list", (list, array.array)),
        ("tuple", (tuple,)),
        ("set", (set, frozenset)),
    ):
        if isinstance(value, kinds):
            return [name, *map(inner, value)]
    if isinstance(value, dict):
        return ["dict", *([inner(x), inner(y)] for x, y in value.items())]
    return other(value)


def _packed_tensor(value: Any, other: Callable[[Any], Encoded], flow: list[Any] | None) -> Encoded:
    dtype, layout = str(value.dtype).removeprefix("torch."), str(value.layout)
    if dtype not in TENSORS or layout != "torch.strided":
        return other(value)
    if flow is None or not value.requires_grad:
        return numbers(value)
    place = next((k for k, one in enumerate(flow) if one is value), len(flow))
    if place == len(flow):
        flow.append(value)
    return ["flow", place]


def _packed_array(
    value: Any, other: Callable[[Any], Encoded], flow: list[Any] | None, depth: int
) -> Encoded:
    plain = np.asarray(value)
    if plain.dtype.kind in "OU":
        return pack(plain.tolist(), other, flow, depth + 1)
    if plain.dtype.kind not in "biufc":
        return other(value)
    if plain.dtype.itemsize > 8 and plain.dtype.kind != "c":
        plain = plain.astype(np.float64)
    raw = plain.astype(plain.dtype.newbyteorder("<")).tobytes()
    kind = "array" if isinstance(value, np.ndarray) else "scalar"
    return [kind, f"{plain.dtype.kind}{plain.dtype.itemsize}", list(plain.shape), raw]


def numbers(tensor: Any) -> Encoded:
    """A tensor by its numbers alone."""
    plain = tensor.detach().cpu().resolve_conj().resolve_neg()
    torch = sys.modules["torch"]
    # A column of one row, `words[:, 1]`, passes for contiguous with any stride, and then cannot be
    # viewed as bytes. A clone has the strides that its shape asks for.
    packed = plain.clone(memory_format=torch.contiguous_format).reshape(-1)
    raw = packed.view(torch.uint8).numpy().tobytes()
    steps = None if plain.is_contiguous() else list(plain.stride())
    return ["tensor", str(plain.dtype).removeprefix("torch."), list(plain.shape), raw, steps]


def unpack(
    entry: Encoded, other: Callable[[list[Any]], Any], flow: Sequence[Any] = (), depth: int = 0
) -> Any:
    """The value of an entry that has come in; every claim about it is checked.

    Args:
        entry: as `pack` makes it, if the other side is honest.
        other: what entries stand for that have no kind here.
        flow: the tensors through which gradients flow.
        depth: of the entry in others.

    Raises:
        Exception: of whatever kind; it is none.
    """
    if depth > DEEPEST:
        raise ValueError("it is nested too deep")
    if entry is None or isinstance(entry, bool | int | float | str):
        return entry
    if not isinstance(entry, list):
        raise TypeError("no entry")
    inner = partial(unpack, other=other, flow=flow, depth=depth + 1)
    kind, *rest = entry
    if kind in ("list", "tuple", "set"):
        return {"list": list, "tuple": tuple, "set": set}[kind](map(inner, rest))
    if kind == "dict":
        return {inner(x): inner(y) for x, y in rest}
    if kind == "integer":
        return int(rest[0])
    if kind == "flow":
        return flow[_whole(rest[0])]
    if kind == "tensor":
        return _tensor(*rest)
    if kind in ("array", "scalar"):
        dtype = np.dtype(f"<{rest[0]}")
        if dtype.kind not in "biufc":
            raise TypeError("no numbers")
        values = np.frombuffer(_all_of(rest[2], rest[1], dtype.itemsize), dtype)
        values = values.reshape(rest[1]).copy()
        return values if kind == "array" else values[()]
    if kind == "generator":
        return _generator(inner(rest[0]))
    return other(entry)


def _generator(state: Any) -> Any:
    """PyTorch's generator of random numbers in a state that it can be in.

    It believes how many of its 624 numbers are left, and which is next, and would read beyond them.
    """
    import torch

    _seed, left, _seeded, following = struct.unpack_from("=QiiQ", bytes(state.tolist()))
    if not (1 <= left <= 624 and following + left <= 625):
        raise ValueError("no state")
    return torch.Generator().set_state(state)


def _tensor(dtype: str, shape: list[int], raw: bytes, steps: list[int] | None) -> Any:
    import torch

    kind = getattr(torch, dtype)
    if not _all_of(raw, shape, TENSORS[dtype]):
        return torch.empty(shape, dtype=kind)
    values = torch.frombuffer(bytearray(raw), dtype=kind).reshape(shape)
    if steps is None or not all(steps):
        return values
    extent = sum((n - 1) * _whole(step) for n, step in zip(shape, steps, strict=True))
    if extent * TENSORS[dtype] > LARGEST:
        raise ValueError("no steps")
    return torch.empty_strided(shape, steps, dtype=kind).copy_(values)


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
    raw: bytes = msgpack.packb(pack(value, lambda other: ""), unicode_errors="replace")
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
