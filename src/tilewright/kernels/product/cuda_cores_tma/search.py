"""Which configurations of main_loop.cl a product may run, the cheapest first."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from ....core.device import DeviceInfo
from ....core.precision import REPRODUCIBLE
from ..call import GemmCall
from ..chain import form_of
from ..family import Group, once_checked
from .config import CudaCoresConfig, along_k, refusal
from .cost import cost
from .kernels import PRODUCT

# Tiles of C, and the SLICED_K of k that warps of a work-group divide among them.
SPACE = (
    CudaCoresConfig(256, 128),
    CudaCoresConfig(128, 256),
    CudaCoresConfig(64, 512),
    CudaCoresConfig(512, 64),
    CudaCoresConfig(128, 128, 2),
    CudaCoresConfig(128, 64, 4),
    CudaCoresConfig(64, 128, 4),
    CudaCoresConfig(128, 64, 4, 8),
    CudaCoresConfig(64, 128, 4, 8),
    CudaCoresConfig(64, 64, 8, 8),
)
PRECISIONS = ("", "fp32_split", REPRODUCIBLE)  # what is too small for fp32_split to gain is multiplied here


def offers(call: GemmCall, device: DeviceInfo) -> Iterator[Group]:
    """The kernel in every configuration that can solve the problem; none without TMA."""
    kernel = form_of(PRODUCT, call)
    features = {feature for feature, _ in kernel.requires}
    if not features <= device.features or call.dtype not in kernel.dtypes or call.precision not in PRECISIONS:
        return
    own = call.row_major
    for config in configurations(own, device):
        yield once_checked(kernel, config, cost(config, own, device), call, device)


def configurations(call: GemmCall, device: DeviceInfo) -> Iterator[CudaCoresConfig]:
    """Every tile, with and without stream-K, and with packing where it helps."""
    for base in SPACE:
        for stream_k in (False, True):
            for pack, transpose in _copies(call):
                yield _variant(base, device.compute_units, stream_k, pack, transpose)


def _copies(call: GemmCall) -> Iterator[tuple[bool, bool]]:
    """Ways to copy operands first: not at all, those that TMA cannot load, or those that lie along k, too."""
    unread = [name for name in ("A", "B") if refusal(call, name)]
    yield from [] if unread else [(False, False)]
    yield from [(True, False)] if unread else []
    yield from [(False, True)] if any(along_k(name, call) for name in ("A", "B") if name not in unread) else []


@cache
def _variant(base: CudaCoresConfig, groups: int, stream_k: bool, pack: bool, transpose: bool) -> CudaCoresConfig:
    return replace(base, groups=groups, stream_k=stream_k, pack=pack, transpose=transpose)
