"""One step of additive attention with draggable vectors: energies, weights and context follow."""

from typing import Any, ClassVar

import numpy as np
import traitlets
from numpy.typing import NDArray

from course_lib.widgets.modules import MovingFigure, module

START: dict[str, Any] = {
    "state": [0.5, 0.5],
    "annotations": [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]],
    "W_a": [[1.0, 0.0], [0.0, 1.0]],
    "U_a": [[1.0, 0.0], [0.0, 1.0]],
    "v": [1.0, 1.0],
}
"""The example of chapter 2, with which the assignment begins as well."""


def _numbers(*shape: int) -> Any:
    """A trait that holds nested lists of numbers of this shape."""

    class Numbers(traitlets.List):
        def validate(self, obj: Any, value: Any) -> Any:
            array = np.asarray(value, dtype=np.float64)
            if array.shape != shape or not np.isfinite(array).all():
                raise traitlets.TraitError(f"{self.name} needs {shape} finite numbers.")
            return array.tolist()

    return Numbers()


class AttentionByHand(MovingFigure):
    """Three annotations and a state of two numbers each, and the paper's three lines on them.

    Attributes:
        state: (2,), s_{i-1}.
        annotations: (3, 2), the h_j.
        W_a, U_a: (2, 2), as the paper calls them.
        v: (2,), the paper's v_a.

    What a hand moves in the figure is read here, and what is set here moves the figure.
    """

    _esm = module("attention_by_hand")
    inputs: ClassVar = tuple(START)

    state = _numbers(2).tag(sync=True)
    annotations = _numbers(3, 2).tag(sync=True)
    W_a = _numbers(2, 2).tag(sync=True)
    U_a = _numbers(2, 2).tag(sync=True)
    v = _numbers(2).tag(sync=True)

    def __init__(self, **values: Any) -> None:
        super().__init__(**{**START, **values})

    @property
    def energies(self) -> NDArray[np.float64]:
        """(3,), e_j = v · tanh(W_a s + U_a h_j)."""
        sums = np.array(self.annotations) @ np.array(self.U_a).T + np.array(self.W_a) @ self.state
        return np.tanh(sums) @ np.array(self.v)

    @property
    def weights(self) -> NDArray[np.float64]:
        """(3,), the softmax of the energies."""
        powers = np.exp(self.energies - self.energies.max())
        return powers / powers.sum()

    @property
    def context(self) -> NDArray[np.float64]:
        """(2,), the annotations' average under the weights."""
        return self.weights @ np.array(self.annotations)
