"""A graphics card that is not there: the device "card", whose numbers lie in main memory.

It refuses what a card refuses: its tensors beside those of the CPU, a generator of the CPU, and, as
Apple's do, double precision. Its random numbers are its own. Every operation, transfer and wait is
counted. It shows code that fails on a card and places where the CPU waits for one; it cannot show
speed, memory, rounding, or what a card's own kernels do otherwise.

Written on PyTorch's backends in Python, which are experimental; a process that has imported this
has the card until it ends.
"""

from collections import Counter
from contextlib import contextmanager, nullcontext
from functools import cache
from types import SimpleNamespace
from typing import Any

import torch
from accelerate.state import PartialState
from torch import Tensor
from torch._decomp import decompositions
from torch.utils import backend_registration

CPU = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
VIEWS = ("as_strided", "view", "_reshape_alias", "unfold")  # which look at no number
INDEXED = ("index", "index_put_", "_index_put_impl_")  # which take indices of any device
WAITED = ("_local_scalar_dense", "nonzero", "masked_select", "equal", "_unique2")
LAYERS = {
    "gru.data": decompositions.gru_impl_data,
    "lstm.data": decompositions.lstm_data_impl,
    "rnn_tanh.data": decompositions.rnn_tanh_data,
}

count: Counter[str] = Counter()
"""How many `operations`, `transfers` and `waits` there were."""

random_state = torch.Generator().manual_seed(0).get_state()


def on_card(x: Any) -> bool:
    return isinstance(x, Tensor) and not x.is_cpu


def lent(x: Tensor) -> Tensor:
    """A tensor of the card as one of the CPU, in the same memory."""
    place = x.storage_offset(), x.shape, x.stride()
    return torch.empty(0, dtype=x.dtype).set_(x.untyped_storage().memory, *place)


def owned(x: Any, lenders: dict[int, Tensor]) -> Any:
    """A result of the CPU as one of the card, in the same memory; all else as it is.

    Where the operation wrote into a tensor of the card, it is that one.
    """
    if not isinstance(x, Tensor):
        return [owned(one, lenders) for one in x] if isinstance(x, list | tuple) else x
    before = lenders.get(id(x))
    if before is not None and before.shape == x.shape:
        return before
    if x.dtype == torch.float64:
        raise TypeError("The card has no double precision.")
    memory = x.untyped_storage()
    storage = torch._C._construct_storage_from_data_pointer(
        memory.data_ptr(), torch.device("card:0"), memory.nbytes()
    )
    storage.memory = memory  # which lives as long as the storage
    if before is None:
        before = torch._C._acc.create_empty_tensor((0,), x.dtype)
    set_to = torch.ops.aten.set_.source_Storage_storage_offset
    return set_to.redispatch(CPU, before, storage, x.storage_offset(), x.shape, x.stride())


@contextmanager
def own_random_numbers():
    """Within it the CPU's generator is the card's."""
    global random_state
    others = torch.get_rng_state()
    torch.set_rng_state(random_state)
    yield
    random_state = torch.get_rng_state()
    torch.set_rng_state(others)


@cache
def of(op: Any) -> tuple[str, bool, list[int]]:
    """An operation's name, whether it draws numbers, and which of its arguments are tensors."""
    arguments = enumerate(op._schema.arguments)
    tensors = [i for i, x in arguments if str(x.type) == "Tensor"]
    name = op._schema.name.removeprefix("aten::")
    return name, torch.Tag.nondeterministic_seeded in op.tags, tensors


def compute(op: Any, *args: Any, **kwargs: Any) -> Any:
    """Any operation that PyTorch does not make of others: the CPU does it, in the card's memory."""
    name, draws, tensors = of(op)
    if name in VIEWS:
        return op.redispatch(CPU, *args, **kwargs)
    if name in ("copy_", "_copy_from"):
        return copy(*args[:2]) if name == "copy_" else copy(args[1], args[0])
    by_index = name in INDEXED and on_card(args[0])
    lenders: dict[int, Tensor] = {}

    def lend(x: Any) -> Any:
        if isinstance(x, Tensor):
            if not x.is_cpu:
                mine = lent(x)
                lenders[id(mine)] = x
                return mine
            if x.dim() and not by_index:
                raise RuntimeError(f"Expected one device, found tensors of card and cpu: {name}")
        if isinstance(x, list | tuple):
            return [lend(one) for one in x]
        if isinstance(x, torch.Generator):
            raise RuntimeError(f"Expected a generator of the card, found one of the CPU: {name}")
        return torch.device("cpu") if isinstance(x, torch.device) else x

    masked = by_index and any(x is not None and x.dtype == torch.bool for x in args[1])
    count["operations"] += not name.startswith("empty") and name != "_local_scalar_dense"
    count["waits"] += masked or name in WAITED
    given = [lend(x) for x in args]
    named = {key: lend(x) for key, x in kwargs.items() if key != "pin_memory"}
    # A number where the schema has a tensor belongs to another overload.
    if any(isinstance(given[i], int | float) for i in tensors if i < len(given)):
        op = op.overloadpacket
    with own_random_numbers() if draws else nullcontext():
        return owned(op(*given, **named), lenders)


def copy(target: Tensor, source: Tensor) -> Tensor:
    """Numbers within the card, to it, or from it, which waits until they are computed."""
    moved = on_card(source) != on_card(target)
    count["transfers" if moved else "operations"] += 1
    count["waits"] += moved and on_card(source)
    to, numbers = (lent(x) if on_card(x) else x for x in (target, source))
    to.copy_(numbers)
    return target


def set_random_state(state: Tensor, device: Any = None) -> None:
    global random_state
    random_state = state.clone()


def seed(number: int) -> None:
    set_random_state(torch.Generator().manual_seed(number).get_state())


def moved(
    module: torch.nn.Module, *given: Any, _apply: Any = torch.nn.Module._apply, **how: Any
) -> Any:
    """Weights that move stay the same objects, as with any other card, so that tied ones stay."""
    before = torch.__future__.get_swap_module_params_on_conversion()
    moves = any(x is not None and x.is_cpu for x in module._parameters.values())
    torch.__future__.set_swap_module_params_on_conversion(moves)
    try:
        return _apply(module, *given, **how)
    finally:
        torch.__future__.set_swap_module_params_on_conversion(before)


def install() -> list[torch.library.Library]:
    """Make PyTorch and accelerate know the card; what has to be kept for it to stay."""
    module = SimpleNamespace(
        is_available=lambda: True,
        is_initialized=lambda: True,
        _is_in_bad_fork=lambda: False,
        device_count=lambda: 1,
        current_device=lambda: 0,
        set_device=lambda device: None,
        synchronize=lambda device=None: None,
        empty_cache=lambda: None,
        get_amp_supported_dtype=lambda: [torch.bfloat16],
        get_rng_state=lambda device=None: random_state.clone(),
        set_rng_state=set_random_state,
        manual_seed=seed,
        manual_seed_all=seed,
    )
    backend_registration._setup_privateuseone_for_python_backend("card", module)
    torch.nn.Module._apply = moved
    PartialState.default_device = property(lambda _: torch.device("card:0"))
    everything = torch.library.Library("_", "IMPL")
    everything.fallback(compute, "PrivateUse1")
    everything.fallback(torch.library.fallthrough_kernel, "AutocastPrivateUse1")
    # A card has each step of a recurrent layer in one kernel, which the CPU does not.
    layers = torch.library.Library("aten", "IMPL")
    for name, steps in LAYERS.items():
        for key in ("PrivateUse1", "AutogradPrivateUse1"):
            layers.impl(name, steps, key)
    return [everything, layers]


kept = install()
