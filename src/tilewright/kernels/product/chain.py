"""Reproducible products: which kernels add an element's products one by one in ascending k, and what they must not divide.

An element is then one chain of fused multiply-adds. Its bits depend on its row of A, its column of B and k alone: not on the tile
that it lies in, and not on the device.
"""

from collections.abc import Iterator
from dataclasses import replace

from ...core.kernel import Kernel
from ...core.precision import PRECISIONS, REPRODUCIBLE
from .call import GemmCall
from .config import ProductConfig

# Fields of configurations by which several work-items or work-groups sum parts of an element's k; 1 or False if they do not.
DIVIDES_K = ("split_k", "SLICED_K", "WARPS_K", "stream_k")


def chained(kernel: Kernel) -> Kernel:
    """The kernel for reproducible products: it must multiply k in ascending order, one multiply-add after the other."""
    return replace(
        kernel, precision=REPRODUCIBLE, variant=f"{kernel.variant} {REPRODUCIBLE}".strip(),
        dtypes=tuple(name for name in PRECISIONS[REPRODUCIBLE] if name in kernel.dtypes),
    )  # fmt: skip


def form_of(kernel: Kernel, call: GemmCall) -> Kernel:
    """The kernel, or its form for reproducible products if the call is one."""
    return chained(kernel) if call.precision == REPRODUCIBLE else kernel


def division_of_k(call: GemmCall, config: ProductConfig) -> Iterator[str]:
    """What speaks against a configuration for a reproducible product."""
    if call.precision != REPRODUCIBLE:
        return
    for name in DIVIDES_K:
        parts = getattr(config, name, 1)
        if parts is True or parts > 1:
            yield f"reproducible products are summed in one chain, and {name}={parts} sums parts of k by themselves"
