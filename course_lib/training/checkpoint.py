"""The state of a training run in one file, written in one step, read back without unpickling."""

import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel

from course_lib.errors import CourseError
from course_lib.files import write_atomically
from course_lib.models.quantised import dequantised
from course_lib.training.averaging import go_on
from course_lib.training.device import best_device

CHECKSUM = "crc32"


def save_weights(path: Path, model: nn.Module) -> None:
    """The model's weights alone, as a safetensors file."""
    write_atomically(path, serialised(model.state_dict(), {}))


def load_weights(path: Path, model: nn.Module) -> None:
    """Fill the model with a file's weights, of whatever precision.

    A damaged or foreign file is refused in one line.
    """
    tensors, _ = _read(path)
    try:
        model.load_state_dict(dequantised(tensors))
    except RuntimeError as error:
        raise CourseError(
            f"{path} holds the weights of another model. Use the run directory that it came from."
        ) from error


def save_state(
    path: Path,
    model: nn.Module,
    optimiser: torch.optim.Optimizer,
    progress: dict[str, Any],
    generators: list[dict[str, Tensor]],
    average: AveragedModel | None = None,
    previous: Path | None = None,
) -> None:
    """Everything needed to go on as if never stopped; the state before it becomes `previous`.

    Weights and their moving average, the optimiser's moments, the state of each process's random
    generators, and `progress`, a dictionary of plain values that says where training stands.
    """
    tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
    for number, moments in optimiser.state_dict()["state"].items():
        for name, value in moments.items():
            tensors[f"optimiser.{number}.{name}"] = torch.as_tensor(value)
    if average is not None:
        weights = average.module.named_parameters()
        tensors |= {f"average.{name}": value.detach() for name, value in weights}
    for rank, state in enumerate(generators):
        tensors |= {f"random.{rank}.{device}": value for device, value in state.items()}
    write_atomically(path, serialised(tensors, {"progress": json.dumps(progress)}), previous)


def load_state(
    path: Path,
    model: nn.Module,
    optimiser: torch.optim.Optimizer,
    rank: int = 0,
    average: AveragedModel | None = None,
) -> dict[str, Any]:
    """Restore what `save_state` wrote and return its `progress`.

    A process that was not there when it was written keeps its generators as they are.

    Raises:
        CourseError: the file is damaged, or another model's. What has been restored by then is
            undefined.
    """
    tensors, metadata = _read(path)
    moments: dict[int, dict[str, Tensor]] = {}
    weights, averaged, generators = {}, {}, {}
    for name, value in tensors.items():
        kind, _, rest = name.partition(".")
        if kind == "model":
            weights[rest] = value
        elif kind == "average":
            averaged[rest] = value
        elif kind == "optimiser":
            number, _, moment = rest.partition(".")
            moments.setdefault(int(number), {})[moment] = value
        elif kind == "random" and rest.startswith(f"{rank}."):
            generators[rest.removeprefix(f"{rank}.")] = value
    try:
        model.load_state_dict(weights)
    except RuntimeError as error:
        raise CourseError(f"{path} is the state of another model.") from error
    optimiser.load_state_dict(
        {"state": moments, "param_groups": optimiser.state_dict()["param_groups"]}
    )
    if generators:
        set_generators_state(generators)
    progress: dict[str, Any] = json.loads(metadata["progress"])
    if average is not None:
        go_on(average, averaged, progress["step"])
    return progress


def generators_state() -> dict[str, Tensor]:
    """The state of this process's generators, which dropout draws from, by device, as bytes."""
    state = {"cpu": torch.get_rng_state()}
    if (card := best_device()).type != "cpu":
        state[card.type] = torch.get_device_module(card).get_rng_state()
    return state


def set_generators_state(state: dict[str, Tensor]) -> None:
    """Put the generators back; one that is not here is left out."""
    torch.set_rng_state(state["cpu"])
    if (card := best_device()).type != "cpu" and card.type in state:
        torch.get_device_module(card).set_rng_state(state[card.type])


def serialised(tensors: Mapping[str, Tensor], plain: dict[str, str]) -> bytes:
    """A safetensors file with a checksum, which the format itself does without.

    `plain` are texts that go into its header.
    """
    # Once for the checksum and the file both, where they are on a graphics card.
    whole = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    return save(whole, metadata={**plain, CHECKSUM: _checksum(whole)})


def _checksum(tensors: Mapping[str, Tensor]) -> str:
    """CRC-32 over every tensor's name and bytes, in the order of their names."""
    checksum = 0
    for name in sorted(tensors):
        checksum = zlib.crc32(name.encode(), checksum)
        flat = tensors[name].reshape(-1).view(torch.uint8)
        checksum = zlib.crc32(flat.numpy().data, checksum)
    return f"{checksum:08x}"


def _read(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    if not path.exists():
        raise CourseError(
            f"{path} is missing. Restore it from a copy, or train into a new directory."
        )
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.offset_keys()}
            metadata = file.metadata() or {}
        damaged = CHECKSUM in metadata and metadata[CHECKSUM] != _checksum(tensors)
    except SafetensorError:
        damaged = True
    if damaged:
        raise CourseError(
            f"{path} is damaged. Restore it from a copy, or train into a new directory."
        )
    return tensors, metadata
