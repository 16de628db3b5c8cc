"""The launches of an "fp32_split" product: cut A and B into halves, multiply these, then what they cannot hold."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from ...device import DeviceInfo
from ...kernel import Config, Kernel, NDRange, Step, Steps, round_up
from ...problem import Layout, Problem
from ...tensormap import TensorMap
from ..gemm.call import GemmCall, call_of
from ..gemm.macros import element_macros, result_width

HERE = Path(__file__).parent
HALF_BYTES = 2
SHALLOW = 128  # below this K the cutting costs more than the tensor cores gain
MAX_GROUPS = 65535  # in dimensions 1 and 2 of an NDRange on NVIDIA's devices
PITCH_MULTIPLE = 8  # halves: the copy engine wants rows that are multiples of 16 bytes


@dataclass(frozen=True)
class Side:
    """Operand "A" or "B" of a call as vectors along k: the rows of A, the columns of B."""

    name: str
    length: int
    layout: Layout  # row: from vector to vector; column: along k
    batch: int

    @property
    def along_k(self) -> bool:
        return self.length == 1 or abs(self.layout.column) <= abs(self.layout.row)


def sides(call: GemmCall) -> tuple[Side, Side]:
    a = Side("A", call.m, call.a, 1 if call.a.batch == 0 else call.batch)
    b = Side("B", call.n, call.b.swapped, 1 if call.b.batch == 0 else call.batch)
    return a, b


def side(problem: Problem, name: str) -> Side:
    a, b = sides(call_of(problem))
    return a if name == "A" else b


@dataclass(frozen=True)
class CutConfig(Config):
    """cut_vectors.cl for `operand`: eight floats are a sector of NVIDIA's memory, 32 bytes."""

    operand: str = "A"
    VECTORS: int = 8
    LANES: int = 128
    STEPS: int = 1024

    def scalars(self, problem: Problem) -> dict[str, int | float]:
        own = side(problem, self.operand)
        view = own.layout
        return {
            "LENGTH": own.length,
            "pitch": round_up(call_of(problem).k, PITCH_MULTIPLE),
            "x_offset": view.offset,
            "x_vector": view.row,
            "x_k": view.column,
            "x_batch": view.batch,
        }

    def macros(self, problem: Problem) -> dict[str, str | int]:
        return {**super().macros(problem), "ALONG_K": int(side(problem, self.operand).along_k)}

    def ndrange(self, problem: Problem) -> NDRange:
        own, items = side(problem, self.operand), self.VECTORS * self.LANES
        return NDRange((-(-own.length // self.VECTORS) * items, own.batch), (items, 1))

    def local_bytes(self, problem: Problem) -> int:
        return 4 * self.VECTORS * (self.STEPS + 4 + 3)


@dataclass(frozen=True)
class TileConfig(Config):
    """Base of the two kernels that compute tiles of C."""

    BM: int = 128
    BN: int = 128

    def macros(self, problem: Problem) -> dict[str, str | int]:
        return {**super().macros(problem), **element_macros(call_of(problem))}

    def scalars(self, problem: Problem) -> dict[str, int | float]:
        a, b = sides(call_of(problem))
        return {"a_moves": int(a.batch > 1), "b_moves": int(b.batch > 1)}

    def tiles(self, call: GemmCall) -> tuple[int, int]:
        return -(-call.m // self.BM), -(-call.n // self.BN)


def stored_together(problem: Problem) -> int:
    """Elements of a row of C that product.cl stores together: those that a work-item holds side by side, or one."""
    return result_width(call_of(problem), 2)


@dataclass(frozen=True)
class ProductConfig(TileConfig):
    """product.cl. Four tiles of halves to a stage: 227 KiB of local memory hold three stages of 128 x 128 x 64."""

    ITEMS: ClassVar[int] = 384
    BK: int = 64
    STAGES: int = 3
    GROUP_M: int = 16
    groups: int = 132  # work-groups that run at a time: a device's compute units

    def macros(self, problem: Problem) -> dict[str, str | int]:
        return {**super().macros(problem), "C_VEC": stored_together(problem)}

    def all_tiles(self, problem: Problem) -> int:
        call = call_of(problem)
        down, across = self.tiles(call)
        return down * across * call.batch

    def scalars(self, problem: Problem) -> dict[str, int | float]:
        return {**super().scalars(problem), "tiles": self.all_tiles(problem)}

    def ndrange(self, problem: Problem) -> NDRange:
        return NDRange((min(self.groups, self.all_tiles(problem)) * self.ITEMS,), (self.ITEMS,))

    def tensor_maps(self, problem: Problem) -> Mapping[str, TensorMap]:
        call = call_of(problem)
        maps = {}
        for own, rows in zip(sides(call), (self.BM, self.BN), strict=True):
            pitch = round_up(call.k, PITCH_MULTIPLE) * HALF_BYTES
            sizes, strides = (call.k, 2 * own.length, own.batch), (pitch, 2 * pitch * own.length)
            maps[f"map_{own.name.lower()}"] = TensorMap("float16", sizes, strides, (self.BK, rows, 1), 128)
        return maps

    def local_bytes(self, problem: Problem) -> int:
        tiles = self.STAGES * 2 * (self.BM + self.BN) * self.BK * HALF_BYTES
        return tiles + 16 * self.STAGES + 1024  # the tiles begin on 1024 bytes

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        call = call_of(problem)
        if call.k < SHALLOW:
            yield f"K={call.k} is below {SHALLOW}: cutting A and B into halves would cost more than it gains"
        if min(call.m, call.n) < self.BM // 2:
            yield f"M={call.m}, N={call.n}: a tile of {self.BM}x{self.BN} would be more than half empty"
        if max(call.batch, -(-call.n // 64)) > MAX_GROUPS:
            yield f"a batch of {call.batch} matrices of {call.m}x{call.n} exceeds {MAX_GROUPS} work-groups in a dimension"
        if call.result != "float32":
            yield f"the result of fp32_split is float32, not {call.result}"


@dataclass(frozen=True)
class ExactConfig(TileConfig):
    """exact.cl: tiles small enough that a few of them do not keep the others waiting."""

    BM: int = 64
    BN: int = 64
    BK: int = 16
    TM: int = 4
    TN: int = 4
    BLOCK: int = 64

    def macros(self, problem: Problem) -> dict[str, str | int]:
        return {**super().macros(problem), "C_VEC": 1, "TOGETHER": stored_together(problem)}

    def ndrange(self, problem: Problem) -> NDRange:
        call, items = call_of(problem), self.BM * self.BN // (self.TM * self.TN)
        down, across = self.tiles(call)
        return NDRange((down * items, across, call.batch), (items, 1, 1))

    def local_bytes(self, problem: Problem) -> int:
        return 4 * (self.BK * (self.BM + self.BN + 2) + 5)


def split_steps(kernel: Kernel, config: Config, problem: Problem) -> Steps:
    """Cut each operand, multiply the halves, then the elements of C whose vectors they cannot hold."""
    call = call_of(problem).row_major
    names = dict(call.buffers)
    steps = []
    for own in sides(call):
        source, word = ("X", names.get(own.name, own.name)), own.name.lower()
        vectors = own.length * own.batch
        halves = 2 * vectors * round_up(call.k, PITCH_MULTIPLE) * HALF_BYTES
        buffers = (source, ("ranges", f"ranges_{word}"), ("halves", f"halves_{word}"))
        scratch = ((f"ranges_{word}", 8 * vectors), (f"halves_{word}", halves))
        steps.append(Step(CUT, CutConfig(own.name), call, buffers, scratch))
    steps.append(Step(kernel, config, call, call.buffers))
    return (*steps, Step(EXACT, ExactConfig(), call, call.buffers))


CUT = Kernel(HERE / "cut_vectors.cl", CutConfig())
EXACT = Kernel(HERE / "exact.cl", ExactConfig())
PRODUCT = Kernel(
    HERE / "product.cl",
    ProductConfig(),
    dtypes=("float32",),
    requires=(
        ("tma", "tiles of halves are fetched by the copy engine"),
        ("wgmma", "halves are multiplied by warpgroups on the tensor cores"),
    ),
    steps=split_steps,
    target="sm_90a",
    precision="fp32_split",
)


def candidates(problem: Problem, device: DeviceInfo) -> tuple[Kernel, ...]:
    """The kernel, for problems that ask for it."""
    if getattr(problem, "precision", "") != PRODUCT.precision:
        return ()
    return (replace(PRODUCT, config=ProductConfig(groups=device.compute_units)),)
