"""Baselines to measure against, each behind one small adapter of the same shape."""

from typing import Protocol

import numpy as np

from ..run import Times


class Rival(Protocol):
    """A library made ready to solve one problem: its operands are in place, and it has been called once."""

    @property
    def lesson(self) -> str:
        """What is measured: library, version, how it was set up."""

    def run(self) -> Times:
        """Solve the problem once, or several times back to back: the seconds of one."""

    def result(self) -> np.ndarray:
        """What the last run gave, as an array of the output's shape."""

    def close(self) -> None:
        """Give back what it holds."""
