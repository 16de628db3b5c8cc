"""06_production.cl as a Kernel: a problem's blocks, the tile for a device's vectors; `candidates` ranks all products."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ...device import DeviceInfo
from ...dtypes import ELEMENT_TYPES, element_type
from ...kernel import Config, Kernel, NDRange, Step, Steps
from ...problem import Problem
from ..gemm.call import GemmCall, call_of
from .blocking import Blocking, Tile, blocking, register_tile
from .elements import component_bytes, element_macros, result_refusal, sums_wait
from .vector import vector_kernel

HERE = Path(__file__).parent


@dataclass(frozen=True)
class CpuProduct(Config):
    """The register tile and the buffers of 06_production.cl, whose fields are explained at its top."""

    MR: int
    NV: int
    VW: int
    KC: int
    NB: int
    units: int  # cores

    @property
    def tile(self) -> Tile:
        return Tile(self.MR, self.NV, self.VW, self.KC, self.NB)

    def blocks(self, call: GemmCall) -> Blocking:
        """How the call is cut; its sizes are above 0."""
        c_bytes = element_type(call.result).itemsize
        return blocking(call.m, call.n, call.k, call.batch, self.tile, self.units, c_bytes)

    def ndrange(self, problem: Problem) -> NDRange:
        call = call_of(problem).row_major
        if not (call.m and call.n and call.batch):
            return NDRange((0, 0, 0), (1, 1, 1))
        blocks = self.blocks(call)
        return NDRange((blocks.groups_n, blocks.groups_m, call.batch), (1, 1, 1))

    def scalars(self, problem: Problem) -> dict[str, int | float]:
        blocks = self.blocks(call_of(problem).row_major)
        return {"mb": blocks.mb, "nb": blocks.nb, "kb": blocks.kb, "stream": int(blocks.stream)}

    def macros(self, problem: Problem) -> dict[str, str | int]:
        return {**super().macros(problem), **element_macros(call_of(problem).row_major), "A_ROW": self.KC + self.VW}

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        refusal = result_refusal(call_of(problem))
        if refusal:
            yield refusal


def product_steps(kernel: Kernel, config: Config, problem: Problem) -> Steps:
    """One launch; with a scratch matrix for the sums if they wait between blocks of K and C cannot hold them."""
    assert isinstance(config, CpuProduct)
    call = call_of(problem).row_major
    waits = sums_wait(call) and call.k > config.KC
    nbytes = call.batch * call.m * call.n * element_type(element_type(call.dtype).accumulator).itemsize
    names = (*call.buffers, ("partial", "sums" if waits else "C"))
    return (Step(kernel, config, call, names, (("sums", nbytes),) if waits else ()),)


def product_kernel(problem: Problem, device: DeviceInfo, vector_bytes: int) -> Kernel:
    """06_production.cl with the register tile for vectors of that size."""
    tile = register_tile(vector_bytes, component_bytes(problem.dtype), problem.dtype.startswith("complex"))
    config = CpuProduct(tile.rows, tile.vectors, tile.width, tile.depth, tile.columns, device.compute_units)
    return Kernel(HERE / "06_production.cl", config, dtypes=tuple(ELEMENT_TYPES), steps=product_steps)


def candidates(problem: Problem, device: DeviceInfo) -> tuple[Kernel, ...]:
    """The kernels for a product on a CPU device, the most wanted first; 06_production.cl computes any."""
    vector_bytes = max(16, min(64, device.native_widths.get("float32", 4) * 4))
    return vector_kernel(problem, device, vector_bytes), product_kernel(problem, device, vector_bytes)
