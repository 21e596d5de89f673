"""The random generators that dropout draws from."""

import torch
from torch import Tensor


def generators_state() -> dict[str, Tensor]:
    """The state of this process's generators by device, as bytes."""
    state = {"cpu": torch.get_rng_state()}
    if torch.cuda.is_available():
        state["cuda"] = torch.cuda.get_rng_state()
    return state


def set_generators_state(state: dict[str, Tensor]) -> None:
    """Put the generators back; one that is not here is left out."""
    torch.set_rng_state(state["cpu"])
    if "cuda" in state and torch.cuda.is_available():
        torch.cuda.set_rng_state(state["cuda"])
