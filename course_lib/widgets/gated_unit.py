"""One step of the paper's gated unit, and the factor by which it multiplies a gradient."""

from typing import Any

import numpy as np
import traitlets
from matplotlib.figure import Figure
from numpy.typing import NDArray

from course_lib.figures.gated_unit import gated_unit
from course_lib.widgets.modules import MovingFigure, module

W = np.array([[1.0, 0.5], [0.0, 1.0]])
U = np.array([[0.5, 0.5], [-0.5, 0.5]])
DOG, THE = np.eye(2)
OLD = np.tanh(W @ THE)
START = {"z": 0.25, "r": 1.0}


class GatesByHand(MovingFigure):
    """Chapter 4's unit at the word "dog", with gates that are the same for both numbers.

    Attributes:
        z: the update gate.
        r: the reset gate.
    """

    _esm = module("gated_unit")

    z = traitlets.Float(START["z"], min=0, max=1).tag(sync=True)
    r = traitlets.Float(START["r"], min=0, max=1).tag(sync=True)

    @property
    def proposal(self) -> NDArray[np.float64]:
        """(2,)"""
        return np.tanh(W @ DOG + U @ (self.r * OLD))

    @property
    def state(self) -> NDArray[np.float64]:
        """(2,), the new one."""
        return (1 - self.z) * OLD + self.z * self.proposal

    @property
    def factor(self) -> float:
        """The first number's derivative by its old value, all else held, the gates too."""
        slope = 1 - self.proposal[0] ** 2
        return float(1 - self.z + self.z * slope * U[0, 0] * self.r)


def unit_drawn(**start: Any) -> Figure:
    """The step and the gradient with the gates that the figure starts with."""
    unit = GatesByHand(**start)
    return gated_unit(OLD.tolist(), unit.proposal.tolist(), unit.z, unit.r, unit.factor)
