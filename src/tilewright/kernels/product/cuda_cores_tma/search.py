"""Which configurations of main_loop.cl a product may run, the cheapest first."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from ....core.device import DeviceInfo
from ..call import GemmCall
from ..family import Group, once_checked
from .config import FmaConfig, refusal, turned
from .cost import cost
from .kernels import PRODUCT

# Tiles of C and the slices that share them.
SPACE = (
    FmaConfig(256, 128),
    FmaConfig(128, 256),
    FmaConfig(64, 512),
    FmaConfig(512, 64),
    FmaConfig(128, 128, 2),
    FmaConfig(128, 64, 4),
    FmaConfig(64, 128, 4),
    FmaConfig(128, 64, 4, 8),
    FmaConfig(64, 128, 4, 8),
    FmaConfig(64, 64, 8, 8),
)
PRECISIONS = ("", "fp32_split")  # what is too small for fp32_split to gain is multiplied here


def offers(call: GemmCall, device: DeviceInfo) -> Iterator[Group]:
    """The kernel in every configuration that can solve the problem; none without TMA."""
    features = {feature for feature, _ in PRODUCT.requires}
    if not features <= device.features or call.dtype not in PRODUCT.dtypes or call.precision not in PRECISIONS:
        return
    own = call.row_major
    for config in configurations(own, device):
        yield once_checked(PRODUCT, config, cost(config, own, device), call, device)


def configurations(call: GemmCall, device: DeviceInfo) -> Iterator[FmaConfig]:
    """Every tile, with and without sharing out what is left, and with packing where it helps."""
    for base in SPACE:
        for shared in (False, True):
            for pack, turn in _copies(call):
                yield _variant(base, device.compute_units, shared, pack, turn)


def _copies(call: GemmCall) -> Iterator[tuple[bool, bool]]:
    """Ways to copy operands first: not at all, those that TMA cannot load, or those that lie along k, too."""
    unread = [name for name in ("A", "B") if refusal(call, name)]
    yield from [] if unread else [(False, False)]
    yield from [(True, False)] if unread else []
    yield from [(False, True)] if any(turned(name, call) for name in ("A", "B") if name not in unread) else []


@cache
def _variant(base: FmaConfig, groups: int, shared: bool, pack: bool, turn: bool) -> FmaConfig:
    return replace(base, groups=groups, shared=shared, pack=pack, turn=turn)
