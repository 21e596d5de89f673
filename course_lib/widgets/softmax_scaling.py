"""The softmax of random dot products, plain and divided by sqrt(d), at any temperature."""

from functools import cache
from typing import Any

import numpy as np
import traitlets
from numpy.typing import NDArray

from course_lib.evaluation.saturation import DIMENSIONS
from course_lib.widgets.modules import MovingFigure, module

DRAWS, KEYS = 5, 20


@cache
def start() -> dict[str, Any]:
    """What the figure starts with: products q'k of `DRAWS` queries with `KEYS` keys for each d.

    Components are independent with mean 0 and variance 1, as in `evaluation.saturation`.
    """
    products = []
    for draw in range(DRAWS):
        numbers = np.random.default_rng([2017, draw])
        query = numbers.standard_normal(max(DIMENSIONS))
        keys = numbers.standard_normal((KEYS, max(DIMENSIONS)))
        products.append([(keys[:, :d] @ query[:d]).round(3).tolist() for d in DIMENSIONS])
    return {
        "dimensions": list(DIMENSIONS),
        "products": products,
        "dimension": 256,
        "temperature": 1.0,
        "draw": 0,
    }


class SoftmaxScaling(MovingFigure):
    """Twenty keys, one query: what is left of the weights, and of their slope, as d grows.

    Attributes:
        dimension: d, one of `dimensions`.
        temperature: what all energies are divided by.
        draw: which of the queries.
    """

    _esm = module("softmax_scaling")

    dimensions = traitlets.List(traitlets.Int()).tag(sync=True)
    products: Any = traitlets.List().tag(sync=True)
    dimension = traitlets.Int().tag(sync=True)
    temperature = traitlets.Float(min=1e-3).tag(sync=True)
    draw = traitlets.Int(min=0, max=DRAWS - 1).tag(sync=True)

    def __init__(self, **values: Any) -> None:
        super().__init__(**{**start(), **values})

    @traitlets.validate("dimension")
    def _known(self, proposal: Any) -> int:
        if proposal["value"] not in self.dimensions:
            raise traitlets.TraitError(f"dimension is one of {self.dimensions}.")
        return int(proposal["value"])

    def weights(self, scaled: bool) -> NDArray[np.float64]:
        """(KEYS,), the softmax of the products, divided by sqrt(d) or not, and by temperature."""
        at = self.dimensions.index(self.dimension)
        energies = np.array(self.products[self.draw][at]) / self.temperature
        if scaled:
            energies /= np.sqrt(self.dimension)
        powers = np.exp(energies - energies.max())
        return powers / powers.sum()
