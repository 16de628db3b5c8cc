"""gemm.cl as a Kernel: the macros of its element types, the blocks of a problem, and what a device's vectors make of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ...device import DeviceInfo
from ...dtypes import ELEMENT_TYPES, element_type
from ...kernel import Config, Kernel, NDRange, Step, Steps
from ...problem import Problem
from ..gemm.call import GemmCall, call_of
from .blocking import Blocking, Tile, blocking, register_tile

HERE = Path(__file__).parent

# What is multiplied (REAL), what memory holds (IN and OUT, with the format's name), and what sums wait in (ACC).
REALS = {"float16": "float", "bfloat16": "float", "int8": "float", "int32": "uint", "complex64": "float", "complex128": "double"}
STORED = {"float16": "half", "bfloat16": "ushort", "int8": "char", "int32": "uint", "complex64": "float2", "complex128": "double2"}
ACCUMULATORS = {"float16": "float", "bfloat16": "float", "int8": "uint", "int32": "uint"}
FORMATS = {"float16": "float16", "bfloat16": "bfloat16", "int8": "int8"}
INLINE = "__attribute__((always_inline)) inline"
CALLED = "__attribute__((noinline))"  # PoCL 3.1 spills registers around micro-kernels that it inlines


@dataclass(frozen=True)
class CpuProduct(Config):
    """The register tile and the buffers of gemm.cl, whose fields are explained at its top."""

    MR: int
    NV: int
    VW: int
    KC: int
    NB: int
    units: int  # cores
    micro: str  # how micro-kernels are declared

    @property
    def tile(self) -> Tile:
        return Tile(self.MR, self.NV, self.VW, self.KC, self.NB)

    def blocks(self, call: GemmCall) -> Blocking:
        c_bytes = element_type(call.result).itemsize
        return blocking(call.m, call.n, call.k, call.batch, self.tile, self.units, c_bytes)

    def ndrange(self, problem: Problem) -> NDRange:
        call = call_of(problem).row_major
        blocks = self.blocks(call) if call.m and call.n else None
        grid = (blocks.groups_n, blocks.groups_m, call.batch) if blocks else (0, 0, 0)
        return NDRange(grid, (1, 1, 1))

    def scalars(self, problem: Problem) -> dict[str, int | float]:
        blocks = self.blocks(call_of(problem).row_major)
        return {"mb": blocks.mb, "nb": blocks.nb, "kb": blocks.kb, "stream": int(blocks.stream)}

    def sums_wait(self, call: GemmCall) -> bool:
        """Whether C cannot hold the sums between blocks of K: a scratch matrix does."""
        return element_type(call.result).itemsize < 4 or bool(call.bias or call.activation)

    def macros(self, problem: Problem) -> dict[str, str | int]:
        call = call_of(problem).row_major
        read, written = call.dtype, call.result
        real = element_type(read).real
        accumulator = ACCUMULATORS.get(read, STORED.get(read, real))
        is_complex = read.startswith("complex")
        plain = read not in FORMATS and written not in FORMATS
        return {
            **super().macros(problem),
            "REAL": REALS.get(read, real), "REAL_IS_INTEGER": int(read == "int32"), "COMPLEX": int(is_complex),
            "IN": STORED.get(read, real), "IN_FORMAT": FORMATS.get(read, "plain"), "IN_IS_INT8": int(read == "int8"),
            "OUT": accumulator if written not in FORMATS else STORED[written],
            "OUT_FORMAT": FORMATS.get(written, "plain"), "OUT_IS_BFLOAT16": int(written == "bfloat16"),
            "ACC": accumulator, "SCRATCH_SUMS": int(self.sums_wait(call)),
            "DIRECT": int(plain and not call.bias and not call.activation),
            "BIAS": {"": 0, "row": 1, "column": 2}[call.bias], "ACTIVATION": call.activation or "none",
            "A_ROW": self.KC + self.VW, "MICRO_ATTR": self.micro,
        }  # fmt: skip

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        call = call_of(problem).row_major
        if call.activation and not call.result.startswith(("float", "bfloat")):
            yield f"the activation {call.activation!r} has no meaning for {call.result}"


def product_steps(kernel: Kernel, config: Config, problem: Problem) -> Steps:
    """One launch; with a scratch matrix for the sums if they wait between blocks of K and C cannot hold them."""
    assert isinstance(config, CpuProduct)
    call = call_of(problem).row_major
    waits = config.sums_wait(call) and call.k > config.KC
    nbytes = call.batch * call.m * call.n * element_type(element_type(call.dtype).accumulator).itemsize
    names = (*call.buffers, ("partial", "sums" if waits else "C"))
    return (Step(kernel, config, call, names, (("sums", nbytes),) if waits else ()),)


def candidates(problem: Problem, device: DeviceInfo) -> tuple[Kernel, ...]:
    """The kernels for a product on a CPU device: one, with the register tile for the device's vectors."""
    read = problem.dtype
    component = 8 if read in ("float64", "complex128") else 4
    vector_bytes = max(16, min(64, device.native_widths.get("float32", 4) * 4))
    tile = register_tile(vector_bytes, component, read.startswith("complex"))
    micro = CALLED if "Portable Computing Language" in device.platform else INLINE
    config = CpuProduct(tile.rows, tile.vectors, tile.width, tile.depth, tile.columns, device.compute_units, micro)
    return (Kernel(HERE / "gemm.cl", config, dtypes=tuple(ELEMENT_TYPES), steps=product_steps),)
