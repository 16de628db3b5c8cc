"""The ladder `cpu`: from a naive product to what a CPU BLAS does, in OpenCL C. Its last rung is the library's kernel."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from ....core.device import DeviceInfo
from ....core.kernel import Config, Kernel, Ladder, NDRange, Step, Steps, round_up
from ....core.problem import Problem
from ....core.types import element_type
from ...product.call import call_of
from ...product.cpu.config import CpuConfig
from ...product.cpu.cost import PACKED_BYTES, register_tile
from ...product.cpu.elements import result_refusal
from ...product.cpu.kernels import MAIN_LOOP
from ...sizes import size

HERE = Path(__file__).parent
DTYPES = ("float32", "float64", "int32")
# Bytes of the machine's vectors, the widest first: a rung is cut to the first that the device has.
VECTORS = (64, 32, 16)
LADDER_DEPTH = 256  # steps of K packed at a time, for elements of any size


@dataclass(frozen=True)
class Naive(Config):
    """`naive`: one work-item per element of C."""

    GROUP: int  # side of a work-group, which only hands out its work-items together

    def ndrange(self, problem: Problem) -> NDRange:
        m, n = (round_up(size(problem, each), self.GROUP) for each in ("M", "N"))
        return NDRange((n, m), (self.GROUP, self.GROUP))


@dataclass(frozen=True)
class Block(Config):
    """`vector` to `cache`: a work-item computes `rows` rows of `columns` columns of C, in vectors of `vector_bytes`."""

    vector_bytes: int
    MR: int = 1  # rows of C in registers
    NV: int = 1  # vectors of a row of C in registers
    BM: int = 0  # rows of C per work-item; 0 for MR
    KC: int = 0  # steps of K packed at a time, if there is packing
    packed_bytes: int = 0  # bytes of B that a work-item packs at a time; 0 for one panel

    def width(self, problem: Problem) -> int:
        """VW, the elements of a vector."""
        return self.vector_bytes // element_type(problem.dtype).itemsize

    def columns(self, problem: Problem) -> int:
        """BN, the columns of C per work-item."""
        panel = self.NV * self.width(problem)
        row_bytes = max(1, self.KC) * element_type(problem.dtype).itemsize
        return max(1, self.packed_bytes // row_bytes // panel) * panel

    def macros(self, problem: Problem) -> dict[str, str | int]:
        return {**super().macros(problem), "VW": self.width(problem), "BN": self.columns(problem)}

    def ndrange(self, problem: Problem) -> NDRange:
        m, n = size(problem, "M"), size(problem, "N")
        return NDRange((-(-n // self.columns(problem)), -(-m // (self.BM or self.MR))), (1, 1))

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        yield from too_long(self.vector_bytes, device)


@dataclass(frozen=True)
class Production(Config):
    """The last rung: the library's kernel, with blocks for the device's cores."""

    vector_bytes: int
    units: int = 0  # cores; 0 for the device's
    level2_bytes: int = 0  # of a core; 0 for the device's

    def on(self, device: DeviceInfo) -> Config:
        units = self.units or device.compute_units
        return replace(self, units=units, level2_bytes=self.level2_bytes or device.level2_bytes)

    def product(self, problem: Problem) -> CpuConfig:
        """The library's configuration for the problem."""
        component = element_type(problem.dtype).component_bytes
        tile = register_tile(self.vector_bytes, component, False, level2_bytes=self.level2_bytes)
        return CpuConfig.of(tile, self.units or 1)

    def macros(self, problem: Problem) -> dict[str, str | int]:
        return self.product(problem).macros(problem)

    def scalars(self, problem: Problem) -> dict[str, int | float]:
        return self.product(problem).scalars(problem)

    def ndrange(self, problem: Problem) -> NDRange:
        return self.product(problem).ndrange(problem)

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        yield from too_long(self.vector_bytes, device)
        refusal = result_refusal(call_of(problem))
        if refusal:
            yield refusal


def too_long(vector_bytes: int, device: DeviceInfo) -> Iterator[str]:
    """A sentence if a device has no vectors of that length: a compiler then makes two of each, and registers run out."""
    native = 4 * device.native_widths.get("float32", 4)
    if native < vector_bytes:
        yield f"vectors of {vector_bytes} bytes are longer than the {native} of {device.name}"


def production_steps(kernel: Kernel, config: Config, problem: Problem) -> Steps:
    """The library's launch for the problem."""
    call = call_of(problem).row_major
    return (Step(kernel, config, call, (*call.buffers, ("partial", "C"))),)


CPU_ONLY = (("cpu", "vectors, registers and caches are used as a CPU has them; for GPUs there is the ladder tiles"),)


def _block(vector_bytes: int, registers: bool, **fields: int) -> Block:
    if not registers:
        return Block(vector_bytes, **fields)
    tile = register_tile(vector_bytes, 4, False)
    return Block(vector_bytes, tile.rows, tile.vectors, **fields)


def _rung(file: str, registers: bool = True, **fields: int) -> Kernel:
    wide, *shorter = (_block(each, registers, **fields) for each in VECTORS)
    return Kernel(HERE / file, wide, smaller=tuple(shorter), dtypes=DTYPES, requires=CPU_ONLY)


LADDER = Ladder(
    "cpu",
    "From naive to the best CPU libraries: vectors, registers, packing, cache blocks",
    "K. Goto and R. van de Geijn, Anatomy of High-Performance Matrix Multiplication, 2008",
    (
        Kernel(HERE / "01_naive.cl", Naive(16), smaller=(Naive(8),), dtypes=DTYPES),
        _rung("02_vector.cl", registers=False),
        _rung("03_registers.cl"),
        _rung("04_pack.cl", BM=264, KC=LADDER_DEPTH),
        _rung("05_cache.cl", BM=264, KC=LADDER_DEPTH, packed_bytes=PACKED_BYTES),
        Kernel(
            MAIN_LOOP, Production(VECTORS[0]), smaller=tuple(map(Production, VECTORS[1:])), dtypes=DTYPES,
            requires=CPU_ONLY, steps=production_steps,
        ),
    ),
)  # fmt: skip
