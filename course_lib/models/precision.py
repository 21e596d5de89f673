"""Numbers in a precision that sums can be trusted in, whatever a model computes in."""

import torch
from torch import Tensor


def at_least_single(numbers: Tensor) -> Tensor:
    """Half precision as single: sums over a vocabulary would lose their small terms in it."""
    return numbers.to(torch.promote_types(numbers.dtype, torch.float32))
