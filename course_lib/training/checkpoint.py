"""The state of a training run in one file, written in one step, read back without unpickling."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from course_lib.errors import CourseError
from course_lib.files import write_atomically
from course_lib.training.averaging import Average
from course_lib.training.randomness import set_generators_state


def save_weights(path: Path, model: nn.Module) -> None:
    """The model's weights alone, as a safetensors file."""
    write_atomically(path, save({k: v.contiguous() for k, v in model.state_dict().items()}))


def load_weights(path: Path, model: nn.Module) -> None:
    """Fill the model with a file's weights; a damaged or foreign file is refused in one line."""
    tensors, _ = _read(path)
    try:
        model.load_state_dict(tensors)
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
    scaler: dict[str, Any] | None = None,
    average: Average | None = None,
) -> None:
    """Everything needed to go on as if never stopped.

    Weights and their moving average, the optimiser's moments, the state of each process's random
    generators, what fp16's gradients are scaled by, and `progress`, a dictionary of plain values
    that says where training stands.
    """
    tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
    for number, moments in optimiser.state_dict()["state"].items():
        for name, value in moments.items():
            tensors[f"optimiser.{number}.{name}"] = torch.as_tensor(value)
    if average is not None:
        tensors |= {f"average.{name}": value for name, value in average.weights.items()}
    for rank, state in enumerate(generators):
        tensors |= {f"random.{rank}.{device}": value for device, value in state.items()}
    payload = save(
        {name: value.contiguous() for name, value in tensors.items()},
        metadata={"progress": json.dumps(progress), "scaler": json.dumps(scaler)},
    )
    write_atomically(path, payload)


def load_state(
    path: Path,
    model: nn.Module,
    optimiser: torch.optim.Optimizer,
    rank: int = 0,
    scaler: torch.amp.GradScaler | None = None,
    average: Average | None = None,
) -> dict[str, Any]:
    """Restore what `save_state` wrote and return its `progress`.

    A process that was not there when it was written keeps its generators as they are.
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
    model.load_state_dict(weights)
    if average is not None:
        average.load(averaged)
    optimiser.load_state_dict(
        {"state": moments, "param_groups": optimiser.state_dict()["param_groups"]}
    )
    if generators:
        set_generators_state(generators)
    if scaler is not None and (state := json.loads(metadata["scaler"])):
        scaler.load_state_dict(state)
    progress: dict[str, Any] = json.loads(metadata["progress"])
    return progress


def _read(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    if not path.exists():
        raise CourseError(f"{path} is missing. Train the run first, or name another run directory.")
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.offset_keys()}
            return tensors, file.metadata() or {}
    except SafetensorError as error:
        raise CourseError(
            f"{path} is damaged. Delete it and train again, or restore it from a copy."
        ) from error
