"""What the configurations of every family share."""

from collections.abc import Iterator
from dataclasses import dataclass

from ...core.device import DeviceInfo
from ...core.kernel import Config
from ...core.problem import Problem
from .call import GemmCall
from .results import result_violations

MAX_INDEX = 2**31 - 1  # the largest int of a kernel
# Scratch buffers: sums of pieces of tiles, or of pieces of K, and a counter for each tile that several work-groups compute.
PARTIAL, TICKETS = "partial", "tickets"


@dataclass(frozen=True)
class GemmConfig(Config):
    """Base of the configurations whose kernels take a GemmCall; `split` asks for K in so many pieces."""

    def orientation(self, problem: Problem) -> GemmCall:
        """The problem as it is, or seen from its transpose, as this kernel wants it."""
        raise NotImplementedError

    def oriented(self, problem: Problem) -> GemmCall:
        """The problem as this kernel is given it."""
        return self.orientation(problem)

    def packed(self, call: GemmCall) -> tuple[str, ...]:
        """Which of "A" and "B" are copied into scratch memory first."""
        return ()

    def after_packing(self, call: GemmCall) -> GemmCall:
        """The call as its kernel sees it, once the operands that want it are packed."""
        return call

    def chunk(self, call: GemmCall) -> int:
        """How many elements of k a piece has; 0 if K is not cut."""
        return 0

    def registers(self, call: GemmCall) -> int:
        """About how many 32-bit registers a work-item needs."""
        raise NotImplementedError

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        call = self.oriented(problem)
        yield from result_violations(call)
        limit, needed = register_limit(device, self.ndrange(problem).group_items), self.registers(call)
        if needed > limit:
            yield f"a work-item needs about {needed} registers, and {device.name} has {limit} for each"


def register_limit(device: DeviceInfo, items: int = 1) -> int:
    """32-bit registers that a work-item of a group of `items` can have before its variables are kept in memory.

    NVIDIA: 255 addressable, and 65536 for a group. AMD: 256 vector registers. Others: what half of a thread's file gives
    on Intel's (128 registers of 32 bytes for 8 work-items: 128), the least of the usual GPUs. A CPU spills to its first
    cache.
    """
    if device.kind == "cpu":
        return 1024
    if "nvidia" in device.features:
        return min(255, 65536 // max(items, 1))
    return 256 if "amd" in device.vendor.lower() or "advanced micro" in device.vendor.lower() else 128
