"""Which kernels a product on a CPU device may run."""

from collections.abc import Iterator

from ....core.device import DeviceInfo
from ....core.precision import REPRODUCIBLE
from ..call import GemmCall
from ..family import Candidate
from .config import oriented
from .elements import takes_vectors
from .kernels import (
    bools_kernel,
    few_columns_down_kernel,
    few_columns_kernel,
    gemv_kernel,
    outer_kernel,
    piece_kernels,
    product_kernel,
    reproducible_kernels,
    symmetric_kernel,
)


def offers(call: GemmCall, device: DeviceInfo) -> Iterator[Candidate]:
    """The kernels for CPU devices, the most wanted first, which counts for their cost; none for other devices."""
    if not takes_vectors(device):
        return
    vector_bytes = max(16, min(64, device.native_widths.get("float32", 4) * 4))
    blocked = (
        *piece_kernels(call.dtype, device, vector_bytes),
        product_kernel(call.dtype, device, vector_bytes, oriented(call).n),
    )
    halved = map(symmetric_kernel, blocked) if call.symmetric else ()
    chained = reproducible_kernels(call.dtype, device, vector_bytes) if call.precision == REPRODUCIBLE else ()
    few = few_columns_kernel, few_columns_down_kernel
    thin = (each(call.dtype, device, vector_bytes) for each in (gemv_kernel, outer_kernel, *few))
    bits = (bools_kernel(device, vector_bytes),) if call.dtype == "bool" else ()
    kernels = (*chained, *bits, *thin, *halved, *blocked)
    for place, kernel in enumerate(kernels):
        yield Candidate(kernel, kernel.config, float(place))
