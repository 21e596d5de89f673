"""Why a dot product is divided by sqrt(d): in many dimensions its softmax saturates.

The components of a random query and random keys are independent with mean 0 and variance 1, so
q'k, a sum of d products, has standard deviation sqrt(d) (Vaswani et al., 2017, footnote 4).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

DIMENSIONS = (4, 8, 16, 32, 64, 128, 256, 512, 1024)

Array = NDArray[np.float64]


def saturation(
    dimensions: Sequence[int] = DIMENSIONS, *, keys: int = 20, draws: int = 400, seed: int = 0
) -> dict[str, list[dict[str, float]]]:
    """What the softmax makes of random dot products, as they are and divided by sqrt(d).

    Args:
        dimensions: the sizes d of queries and keys.
        keys: the keys of each query, which are the words of a sentence.
        draws: queries drawn for each d, each with keys of its own.
        seed: the same seed draws the same numbers, whatever the other dimensions.

    Returns:
        Under "dot" and "scaled-dot" a row for each `dimension`: `sd`, the standard deviation of the
        energies; the medians over the draws of `largest`, the largest weight, and of its `slope`.
        Medians, because the rare query whose two best keys are nearly equal keeps a large slope in
        any dimension and would decide the mean.
    """
    rows: dict[str, list[dict[str, float]]] = {"dot": [], "scaled-dot": []}
    for d in dimensions:
        draw = np.random.default_rng([seed, d])
        query = draw.standard_normal((draws, d))
        energies = np.stack(
            [np.einsum("bd,bd->b", query, draw.standard_normal((draws, d))) for _ in range(keys)],
            axis=1,
        )
        for name, scale in (("dot", 1.0), ("scaled-dot", 1 / np.sqrt(d))):
            rows[name].append({"dimension": d, **_measures(energies * scale)})
    return rows


def _measures(energies: Array) -> dict[str, float]:
    """Spread, largest weight and its slope, of (draws, keys) energies."""
    alpha = np.exp(energies - energies.max(axis=1, keepdims=True))
    alpha /= alpha.sum(axis=1, keepdims=True)
    return {
        "sd": float(energies.std()),
        "largest": float(np.median(alpha.max(axis=1))),
        "slope": float(np.median(softmax_slope(alpha))),
    }


def softmax_slope(alpha: Array) -> Array:
    """How much each row's largest weight moves with its own energy: (B, T) weights to (B,).

    d alpha_j / d e_j = alpha_j (1 - alpha_j): at most 1/4, and 0 where one word takes all.
    """
    largest = alpha.max(axis=1)
    return largest * (1 - largest)
