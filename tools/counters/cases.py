"""The cases of the comparison: the rungs of all ladders, known-bad kernels, the library's kernels, and patterns."""

from collections.abc import Iterator
from dataclasses import replace

from tilewright.analysis.explain import explain_steps
from tilewright.core.device import DeviceInfo
from tilewright.core.kernel import Kernel
from tilewright.core.plan import violations
from tilewright.core.problem import Copy, Gemm, Problem, Transpose
from tilewright.core.problems import make_problem
from tilewright.dispatch.choice import plan_copy, plan_product
from tilewright.dispatch.table_files import load_tables
from tilewright.kernels import find_ladder
from tilewright.kernels.known_bad import KNOWN_BAD
from tilewright.kernels.product.gemv.config import ColumnsConfig, RowsConfig
from tilewright.kernels.product.gemv.kernels import COLUMNS, ROWS
from tilewright.kernels.product.portable.config import PortableConfig
from tilewright.kernels.product.portable.kernels import TILES

from .launches import Case, case_of_steps
from .patterns import PATTERNS, case_of_pattern

GPU = DeviceInfo(
    "an H200", "CUDA", vendor="NVIDIA", kind="gpu", compute_units=132, max_work_group_size=1024,
    max_work_item_sizes=(1024, 1024, 64), local_bytes=49152, global_bytes=1 << 34, max_alloc_bytes=1 << 33, fp64=True,
    sub_group_width=32, features=frozenset({"gpu", "nvidia"}), compute_capability=(9, 0),
)  # fmt: skip

# They run out of bounds or hang on purpose: there is nothing to count.
NOT_RUN = {
    "05_out_of_bounds": "it reads out of bounds", "06_divergent_barrier": "its barrier may never be passed",
    "10_swapped_guard": "it writes out of bounds",
}  # fmt: skip
SEQUENTIAL = ((12, 8, 16), (5, 7, 3))
GEMM_SIZES = ((64, 64, 64), (128, 64, 32), (70, 45, 52), (50, 36, 20))
MOVE_SIZES = ((64, 64), (128, 96), (70, 52))


def all_cases() -> list[Case]:
    return [*ladder_cases(), *known_bad_cases(), *production_cases(), *map(case_of_pattern, PATTERNS)]


def fitting(kernel: Kernel, most: int) -> Iterator[Problem]:
    """Up to `most` problems that the kernel takes: square ones first, then ragged."""
    sizes: tuple[tuple[int, ...], ...] = GEMM_SIZES if kernel.operation == "gemm" else MOVE_SIZES
    if "sequential" in kernel.name:
        sizes = SEQUENTIAL
    found = 0
    for size in (sizes[0], *reversed(sizes[1:])):
        problem = make_problem(kernel, size, "float32")
        free = replace(kernel, requires=())
        if not list(violations(free, kernel.config, problem, GPU)):
            found += 1
            yield problem
        if found == most:
            return


def ladder_cases() -> Iterator[Case]:
    """Every rung of the ladders whose kernels a GPU can run, at a round and, where it takes one, a ragged size."""
    for name in ("rows", "tiles", "transpose"):
        for kernel in find_ladder(name).kernels:
            for problem in fitting(kernel, 2):
                steps = kernel.steps(kernel, kernel.config, problem)
                yield case_of_steps(f"{kernel.name}, {sizes_of(problem)}", "ladder", steps, problem)


def known_bad_cases() -> Iterator[Case]:
    for kernel in KNOWN_BAD:
        if kernel.source.stem not in NOT_RUN:
            problem = next(fitting(kernel, 1))
            steps = kernel.steps(kernel, kernel.config, problem)
            case = case_of_steps(f"{kernel.name}, {sizes_of(problem)}", "known bad", steps, problem)
            yield replace(case, expected=None)


PRODUCTS: tuple[Problem, ...] = (
    Gemm(64, 64, 64),
    Gemm(100, 77, 50),
    Gemm(96, 64, 40, "float64"),
    Gemm(64, 64, 32, "int32"),
    Gemm(64, 48, 32, "complex64"),
    Gemm(64, 64, 32, "float16", out_dtype="float16"),
    Gemm(64, 64, 64, a_order="column", b_order="column", c_order="column"),
    Gemm(33, 1, 70),
    Gemm(1, 64, 96),
    Gemm(32, 32, 256),
)
TILE_SHAPES = (
    (Gemm(128, 128, 32), PortableConfig(128, 128, 8, 8, 8)),
    (Gemm(64, 64, 32), PortableConfig(64, 64, 16, 4, 4)),
    (Gemm(64, 128, 32), PortableConfig(64, 128, 8, 8, 8)),
    (Gemm(70, 60, 24, b_order="column"), PortableConfig(32, 32, 8, 4, 4)),
    (Gemm(128, 256, 16), PortableConfig(128, 256, 8, 8, 16, 8, 4, LANE_SWIZZLE=0)),
)
MOVES: tuple[Problem, ...] = (
    Transpose(64, 64),
    Transpose(70, 52),
    Transpose(96, 64, "float64"),
    Transpose(64, 80, "int8"),
    Copy(64, 64),
    Copy(70, 52, "float32", 3),
)


def sizes_of(problem: Problem) -> str:
    """Sizes, with the element type and the memory orders where they are not the usual."""
    title = problem.title.split(" ", 1)[1].removesuffix(" float32")
    orders = {each.order for each in problem.operands}
    return title + (" by columns" if orders == {"column"} else "")


def production_cases() -> Iterator[Case]:
    """The library's kernels: what it chooses for small problems, and given configurations of its tiles."""
    for problem in PRODUCTS:
        steps = plan_product(problem, GPU, load_tables()).steps
        yield case_of_steps(f"product {sizes_of(problem)} by {steps[0].kernel.name}", "production", steps, problem)
    for problem, config in TILE_SHAPES:
        steps = TILES.steps(TILES, config, problem)
        shape = f"{config.BM}x{config.BN}x{config.BK} by {config.TM}x{config.TN}"
        yield case_of_steps(f"portable/main_loop {shape}, {sizes_of(problem)}", "production", steps, problem)
    for problem, kernel, vector in (
        (Gemm(70, 2, 64), ROWS, RowsConfig(1, 32, 4, 2)),
        (Gemm(70, 3, 40, a_order="column"), COLUMNS, ColumnsConfig(1, 32, 8)),
    ):
        steps = kernel.steps(kernel, vector, problem)
        yield case_of_steps(f"{kernel.name}, {sizes_of(problem)}", "production", steps, problem)
    for problem in MOVES:
        steps = plan_copy(problem, GPU).steps
        yield case_of_steps(f"{problem.title} by {steps[0].kernel.name}", "production", steps, problem)


__all__ = ["NOT_RUN", "all_cases", "explain_steps"]
