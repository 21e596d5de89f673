"""Weights in 8 bits: a whole number from -127 to 127 each, and one scale a row.

A weight is its whole number times the scale of its row. A row is what makes one number of a product
(or one word's embedding), so that one large weight costs only its own row its precision.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

LARGEST_INT8 = 127
SCALE = ".scale"
"""What is added to a matrix's name for the scales of its rows."""
_FRACTION = 2**12


def quantised(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Every (R, C) matrix as 8-bit numbers with its (R,) scales; vectors in single precision.

    The scales have 12 binary digits, so that a weight is its product without any rounding: every
    machine reads the same weights, and to store these again changes none.
    """
    stored = {}
    for name, values in tensors.items():
        exact = values.detach().float().cpu()
        if values.ndim != 2:
            stored[name] = exact
            continue
        largest = exact.abs().amax(dim=1)
        digits, exponent = torch.frexp(largest / LARGEST_INT8)
        scale = torch.ldexp(torch.ceil(digits * _FRACTION) / _FRACTION, exponent)
        # A row of zeros has the scale 0, and is divided by 1.
        whole = torch.round(exact / torch.where(scale > 0, scale, 1)[:, None])
        stored[name], stored[name + SCALE] = whole.to(torch.int8), scale
    return stored


def dequantised(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights that `quantised` stored; what is not in 8 bits stays as it is."""
    return {
        name: values.float() * tensors[name + SCALE][:, None]
        if values.dtype == torch.int8
        else values
        for name, values in tensors.items()
        if not name.endswith(SCALE)
    }
