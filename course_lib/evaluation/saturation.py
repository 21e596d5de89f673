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
        energies; the medians over the draws of `largest`, the largest weight, of `entropy`, in bits
        (log2(keys) for equal weights), and of `gradient`, the Frobenius norm of the softmax's
        Jacobian d alpha / d e = diag(alpha) - alpha alpha', through which every gradient passes on
        its way to query and keys. Medians, because the rare query whose two best keys are nearly
        equal keeps a large gradient in any dimension and would decide the mean.
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
    """Spread, largest weight, entropy and gradient of (draws, keys) energies."""
    alpha = np.exp(energies - energies.max(axis=1, keepdims=True))
    alpha /= alpha.sum(axis=1, keepdims=True)
    # 0 log 0 is 0, and the smallest weights are 0.
    bits = -np.where(alpha > 0, alpha * np.log2(np.where(alpha > 0, alpha, 1.0)), 0.0)
    return {
        "sd": float(energies.std()),
        "largest": float(np.median(alpha.max(axis=1))),
        "entropy": float(np.median(bits.sum(axis=1))),
        "gradient": float(np.median(jacobian_norm(alpha))),
    }


def jacobian_norm(alpha: Array) -> Array:
    """The Frobenius norm of diag(alpha) - alpha alpha' for each row of weights: (B, T) to (B,).

    Never above 1/2, which it is with all weight on two words in equal parts; it falls to 0 as one
    word takes all.
    """
    jacobian = alpha[:, :, None] * (np.eye(alpha.shape[1]) - alpha[:, None])
    return np.linalg.norm(jacobian, axis=(1, 2))
