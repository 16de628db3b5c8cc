"""Which configuration of main_loop.cl an "fp32_split" product may run."""

from dataclasses import replace

from ....core.device import DeviceInfo
from ....core.kernel import Kernel
from ....core.problem import Problem, precision_of
from .config import ProductConfig
from .kernels import PRODUCT


def candidates(problem: Problem, device: DeviceInfo) -> tuple[Kernel, ...]:
    """The kernel, for problems that ask for it."""
    if precision_of(problem) != PRODUCT.precision:
        return ()
    return (replace(PRODUCT, config=ProductConfig(groups=device.compute_units)),)
