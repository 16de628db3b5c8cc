"""Kernels that read the device's own clock, for timing what is launched between them."""

from dataclasses import dataclass
from pathlib import Path

from ...core.kernel import Config, Kernel, NDRange
from ...core.problem import Problem

HERE = Path(__file__).parent
NEEDS = (("nvidia", "the device's clock is read by an instruction of NVIDIA's"),)


@dataclass(frozen=True)
class OneItem(Config):
    """A single work-item."""

    def ndrange(self, problem: Problem) -> NDRange:
        return NDRange((1,), (1,))


GATE = Kernel(HERE / "gate.cl", OneItem(), "copy", requires=NEEDS)
STAMP = Kernel(HERE / "stamp.cl", OneItem(), "copy", requires=NEEDS)
