"""Baselines to measure against, each behind one small adapter of the same shape.

A file of this folder holds the adapter of a library and ends in BASELINES, which `registry` gathers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol

import numpy as np

from ...core.problem import Arrays, Gemm, Problem
from ...runtime.device import Device
from ...runtime.run import Times, Work


class ReadyBaseline(Protocol):
    """A library made ready to solve one problem: its operands are in place, and it has been called once."""

    @property
    def lesson(self) -> str:
        """What is measured: library, version, how it was set up."""

    def run(self) -> Times:
        """Solve the problem once, or several times back to back: the seconds of one."""

    def sustain(self, seconds: float) -> Work:
        """Solve it without pause for at least `seconds`."""

    def result(self) -> np.ndarray:
        """What the last run gave, as an array of the output's shape."""

    def close(self) -> None:
        """Give back what it holds."""


class Measurement(Enum):
    """What is measured beside a baseline: a ladder's rungs, the library, or the errors of each precision."""

    LADDER = auto()
    LIBRARY = auto()
    ACCURACY = auto()


@dataclass(frozen=True)
class Request:
    """A problem that baselines are asked for. `devices` are the one that is measured and then its counterparts."""

    measurement: Measurement
    problem: Problem
    devices: tuple[Device, ...]

    @property
    def device(self) -> Device:
        return self.devices[0]

    @property
    def precision(self) -> str:
        """What is asked of a product; "" for all other problems."""
        return self.problem.precision if isinstance(self.problem, Gemm) else ""


@dataclass(frozen=True)
class Baseline:
    """A library as a baseline. `name` stands in its rows, and so does `backend`: "opencl", "cuda", or "host".

    `is_for` says whether it is measured in a request; `make` makes it ready, and raises Unsupported for what it has no routine
    for. The first of the baselines of a request is the one that the library is compared with.
    """

    name: str
    backend: str
    is_for: Callable[[Request], bool]
    make: Callable[[Request, Arrays], ReadyBaseline]
