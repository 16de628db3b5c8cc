"""Which kernels of other families a product of 8-bit floats may run, with what launches around them."""

from collections.abc import Iterator, Sequence
from itertools import takewhile

from ....core.device import DeviceInfo
from ....core.kernel import Kernel
from ..call import GemmCall, call_of
from ..family import Family, ranked
from .config import core
from .cost import worth_converting
from .kernels import wrapped


def candidates(
    call: GemmCall, device: DeviceInfo, vendor: Sequence[Family], portable: Sequence[Family]
) -> Iterator[Kernel]:
    """Kernels of the type's own instruction, then those of fp16 if they beat the `portable` ones, then the portable ones.

    Each list is sorted by cost. `vendor` are the families for the instructions of one vendor.
    """
    yield from (each.configured for each in ranked(vendor, call, device))
    if worth_converting(call):
        fp16 = _as_fp16(call)
        limit = next(ranked(portable, fp16, device)).rank
        cheaper = takewhile(lambda each: each.rank < limit, ranked(vendor, fp16, device))
        yield from (wrapped(each.configured, converts=True) for each in cheaper)
    own = call_of(core(call, converted=False, bare=bool(call.scale_a)))
    yield from (each.configured for each in ranked(portable, own, device))


def converted(call: GemmCall, device: DeviceInfo, families: Sequence[Family]) -> Iterator[Kernel]:
    """The families' kernels for fp16, with launches around them that convert the operands."""
    return (wrapped(each.configured, converts=True) for each in ranked(families, _as_fp16(call), device))


def _as_fp16(call: GemmCall) -> GemmCall:
    return call_of(core(call, converted=True, bare=bool(call.scale_a)))
