"""Baselines: other libraries, each behind an adapter with the same interface.

A file of this folder holds the adapters of a library. Its BASELINES are collected in `registry`.
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
    """A library ready to solve one problem: its operands are in place, and it was called once."""

    @property
    def lesson(self) -> str:
        """What is measured: the library, its version and its settings."""

    def run(self) -> Times:
        """Solve the problem once, or several times back to back: the times of one solution."""

    def sustain(self, seconds: float) -> Work:
        """Solve it without a pause for at least `seconds`."""

    def result(self) -> np.ndarray:
        """The result of the last run, in the output's shape."""

    def close(self) -> None:
        """Release its resources."""


class Measurement(Enum):
    """What a baseline is compared with: the rungs of a ladder, the library, or the errors of each precision."""

    LADDER = auto()
    LIBRARY = auto()
    ACCURACY = auto()


@dataclass(frozen=True)
class Request:
    """A problem for baselines. `devices` are the measured one and then its CUDA counterparts."""

    measurement: Measurement
    problem: Problem
    devices: tuple[Device, ...]

    @property
    def device(self) -> Device:
        return self.devices[0]

    @property
    def precision(self) -> str:
        """The precision of a product; "" for other problems."""
        return self.problem.precision if isinstance(self.problem, Gemm) else ""


@dataclass(frozen=True)
class Baseline:
    """A library as a baseline. Its rows show its `name` and its `backend`: "opencl", "cuda" or "host".

    `is_for` says whether it is measured for a request. `make` makes it ready, and raises Unsupported if it has no routine for
    the problem. Ratios are taken against the first baseline of a request.
    """

    name: str
    backend: str
    is_for: Callable[[Request], bool]
    make: Callable[[Request, Arrays], ReadyBaseline]
