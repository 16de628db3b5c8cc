"""What the families of products offer, as kernels ready to plan with."""

from collections.abc import Iterator

from tilewright.core.device import DeviceInfo
from tilewright.core.kernel import Kernel
from tilewright.core.problem import Gemm
from tilewright.kernels.product.call import GemmCall, call_of
from tilewright.kernels.product.family import Family, cheapest_first
from tilewright.kernels.product.mma.config import MmaConfig
from tilewright.kernels.product.mma.search import configurations


def kernels_of(family: Family, problem: Gemm, device: DeviceInfo) -> tuple[Kernel, ...]:
    """All candidates of a family for a problem, the cheapest first."""
    return tuple(each.configured for each in cheapest_first(family.offers(call_of(problem), device)))


def fitting_mma(kernel: Kernel, call: GemmCall, device: DeviceInfo) -> Iterator[MmaConfig]:
    """The configurations of a kernel of mma/ that nothing speaks against."""
    return (each for each in configurations(kernel, call, device) if not any(each.violations(call, device)))
