"""Which configuration of main_loop.cl an "fp32_split" product may run."""

from collections.abc import Iterator
from dataclasses import replace

from ....core.device import DeviceInfo
from ..call import GemmCall
from ..family import Candidate
from .config import Fp16x3Config
from .kernels import PRODUCT


def offers(call: GemmCall, device: DeviceInfo) -> Iterator[Candidate]:
    """The kernel, for products that ask for it."""
    if call.precision == PRODUCT.precision:
        config = replace(Fp16x3Config(), groups=device.compute_units)
        yield Candidate(PRODUCT, config, config.cost(call.row_major))
