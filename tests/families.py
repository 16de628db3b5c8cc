"""What the families of products offer, as kernels ready to plan with."""

from tilewright.core.device import DeviceInfo
from tilewright.core.kernel import Kernel
from tilewright.core.problem import Gemm
from tilewright.kernels.product.call import call_of
from tilewright.kernels.product.family import Family, cheapest_first


def kernels_of(family: Family, problem: Gemm, device: DeviceInfo) -> tuple[Kernel, ...]:
    """All candidates of a family for a problem, the cheapest first."""
    return tuple(each.configured for each in cheapest_first(family.offers(call_of(problem), device)))
