"""06_production.cl as a Kernel: a problem's blocks, the tile for a device's vectors; `candidates` ranks all products."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from ...device import DeviceInfo
from ...dtypes import element_type
from ...kernel import Config, Kernel, NDRange, Step, Steps
from ...problem import Problem
from ..gemm.call import GemmCall, call_of
from .blocking import Blocking, Tile, blocking, register_tile
from .elements import (
    DTYPES,
    depth_refusal,
    element_macros,
    exact_depth,
    multiplied_as_stored,
    result_refusal,
    sums_wait,
)
from .vector import vector_kernel

HERE = Path(__file__).parent
QUAD = 4  # bytes that vpdpbusd multiplies and adds for each int
QUADS_NEED = (
    ("vpdpbusd", "the instruction that multiplies bytes four at a time; they are multiplied as float32 instead"),
)


@dataclass(frozen=True)
class CpuProduct(Config):
    """The register tile and the buffers of 06_production.cl, whose fields are explained at its top."""

    MR: int
    NV: int
    VW: int
    KC: int
    NB: int
    units: int  # cores
    DOT: int = 0  # 1 for int8 in quads, four steps of K to a REAL

    @property
    def steps_per_real(self) -> int:
        return QUAD if self.DOT else 1

    @property
    def tile(self) -> Tile:
        return Tile(self.MR, self.NV, self.VW, self.KC, self.NB)

    def blocks(self, call: GemmCall) -> Blocking:
        """How the call is cut; its sizes are above 0."""
        a_bytes, c_bytes = (element_type(name).itemsize for name in (call.dtype, call.result))
        by_rows = call.a.column == 1 and multiplied_as_stored(call.dtype) and not call.conjugate_a
        a_row = call.a.row if by_rows else None
        k = -(-call.k // self.steps_per_real)
        return blocking(call.m, call.n, k, call.batch, self.tile, self.units, c_bytes, a_bytes, a_row)

    def blocks_of_k(self, call: GemmCall) -> int:
        """How many blocks K is cut into: with more than one, sums wait between them. Blocks may be shorter than KC."""
        if not (call.m and call.n and call.batch):
            return 1
        return max(1, -(-call.k // (self.blocks(call).kb * self.steps_per_real)))

    def ndrange(self, problem: Problem) -> NDRange:
        call = call_of(problem).row_major
        if not (call.m and call.n and call.batch):
            return NDRange((0, 0, 0), (1, 1, 1))
        blocks = self.blocks(call)
        return NDRange((blocks.groups_n, blocks.groups_m, call.batch), (1, 1, 1))

    def scalars(self, problem: Problem) -> dict[str, int | float]:
        blocks = self.blocks(call_of(problem).row_major)
        return {
            "mb": blocks.mb,
            "nb": blocks.nb,
            "kb": blocks.kb * self.steps_per_real,
            "stream": int(blocks.stream),
            "a_in_place": int(blocks.a_in_place),
        }

    def macros(self, problem: Problem) -> dict[str, str | int]:
        return {
            **super().macros(problem),
            **element_macros(call_of(problem).row_major, bool(self.DOT)),
            "A_ROW": self.KC + self.VW,
        }

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        refusal = result_refusal(call_of(problem))
        if refusal:
            yield refusal
        inexact = "" if self.DOT else depth_refusal(problem.dtype, self.KC)
        if inexact:
            yield inexact


def product_steps(kernel: Kernel, config: Config, problem: Problem) -> Steps:
    """One launch; with a scratch matrix for the sums if they wait between blocks of K and C cannot hold them."""
    assert isinstance(config, CpuProduct)
    call = call_of(problem).row_major
    waits = sums_wait(call) and config.blocks_of_k(call) > 1
    nbytes = call.batch * call.m * call.n * element_type(element_type(call.dtype).accumulator).itemsize
    names = (*call.buffers, ("partial", "sums" if waits else "C"))
    return (Step(kernel, config, call, names, (("sums", nbytes),) if waits else ()),)


def product_kernel(problem: Problem, device: DeviceInfo, vector_bytes: int) -> Kernel:
    """06_production.cl with the register tile for vectors of that size."""
    kind = element_type(problem.dtype)
    tile = register_tile(vector_bytes, kind.component_bytes, kind.parts == 2, exact_depth(problem.dtype))
    config = CpuProduct(tile.rows, tile.vectors, tile.width, tile.depth, tile.columns, device.compute_units)
    return Kernel(HERE / "06_production.cl", config, dtypes=DTYPES, steps=product_steps)


def quad_kernels(problem: Problem, device: DeviceInfo, vector_bytes: int) -> tuple[Kernel, ...]:
    """06_production.cl for int8 by an instruction of x86 with vectors of 64 bytes; no kernel for other types."""
    if problem.dtype != "int8" or vector_bytes != 64:
        return ()
    plain = product_kernel(problem, device, vector_bytes)
    assert isinstance(plain.config, CpuProduct)
    config = replace(plain.config, DOT=1)
    return (replace(plain, config=config, variant="vpdpbusd", dtypes=("int8",), requires=QUADS_NEED),)


def candidates(problem: Problem, device: DeviceInfo) -> tuple[Kernel, ...]:
    """The kernels for a product on a CPU device, the most wanted first; 06_production.cl computes any."""
    vector_bytes = max(16, min(64, device.native_widths.get("float32", 4) * 4))
    return (
        vector_kernel(problem, device, vector_bytes),
        *quad_kernels(problem, device, vector_bytes),
        product_kernel(problem, device, vector_bytes),
    )
