"""The library's kernels make no compiler warn: NVIDIA's, which is built from clang, prints how often to the user's terminal."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass

import devices
import pytest

from tilewright.analysis.inspect.bare_clang import DECLARE, for_clang
from tilewright.analysis.inspect.find_tools import find_clang, run_tool
from tilewright.core.kernel import Step, render
from tilewright.core.precision import PRECISIONS
from tilewright.core.problem import Gemm
from tilewright.core.types import ELEMENT_TYPES, storable
from tilewright.dispatch.choice import plan_product
from tilewright.errors import Unsupported

# Sides of products that bring every family: vectors, small and large tiles, split K, sides that need narrow loads and copies.
SIDES = (
    (1, 4096, 4096),
    (4096, 3, 1000),
    (16, 40, 24),
    (64, 72, 4096),
    (511, 515, 1031),
    (2048, 2048, 512),
    (4096, 4096, 256),
)
LAYOUTS = (("row", "row"), ("row", "column"), ("column", "row"))
TEXTS = 3  # of each kernel and type that are compiled
OPTIONS = (
    "--target=nvptx64-nvidia-cuda",
    "-cl-std=CL1.2",
    "-D__NV_CL_C_VERSION=120",
    "-fgnu-keywords",
    "-nogpulib",
    "-x",
    "cl",
)
OWN_HEADERS = ("-Xclang", "-finclude-default-header", "-Xclang", "-cl-ext=+all")
STAND_INS = ("-march=sm_90", *DECLARE, "-cl-no-stdinc")  # for clang without its headers for OpenCL C
# NVIDIA's is an older one than those that `inspect` uses, and some warn of more: in OpenCL C, of constants beside && and ||.
OLDER = tuple(f"clang-{version}" for version in range(18, 10, -1))


def steps_of(dtype: str) -> Iterator[Step]:
    """The launches of the products of a type, on a Hopper GPU, in every precision that there is."""
    result = dtype if dtype in storable(dtype) else "float32"
    for m, n, k in SIDES:
        for a_order, b_order in LAYOUTS:
            for precision in ("", *(name for name, dtypes in PRECISIONS.items() if dtype in dtypes)):
                problem = Gemm(m, n, k, dtype, a_order, b_order, out_dtype=result, precision=precision)
                try:
                    yield from plan_product(problem, devices.HOPPER).steps
                except Unsupported:
                    continue


@dataclass(frozen=True)
class Compiler:
    """A command that checks what it reads, and whether it has the functions of OpenCL C itself."""

    command: tuple[str, ...]
    complete: bool

    def warnings(self, source: str) -> str:
        """What it prints for an OpenCL C source, for NVIDIA's GPUs, with the warnings that are on by default."""
        text = source if self.complete else for_clang(source)
        status, _, log = run_tool((*self.command, "-fsyntax-only", "-"), "clang", text)
        return log if status == 0 else f"did not compile: {log}"


def compilers() -> tuple[Compiler, ...]:
    newest, older = find_clang(), next(filter(None, map(shutil.which, OLDER)), None)
    found = [Compiler((*newest.command, *OPTIONS, *STAND_INS), False)] if newest else []
    return (*found, *([Compiler((older, *OPTIONS, *OWN_HEADERS), True)] if older else []))


@pytest.fixture(params=(0, 1), ids=("newest", "older"))
def clang(request: pytest.FixtureRequest) -> Compiler:
    found = [each for each in compilers() if each.complete == bool(request.param)]
    if not found:
        pytest.skip("no such clang is installed")
    return found[0]


@pytest.mark.parametrize("dtype", list(ELEMENT_TYPES))
def test_production_kernels_give_no_warnings(dtype: str, clang: Compiler) -> None:
    texts: dict[str, set[str]] = {}
    for step in steps_of(dtype):
        known = texts.setdefault(step.kernel.name, set())
        if len(known) < TEXTS:
            known.add(render(step.kernel, step.config, step.problem))
    assert not [(name, log) for name, known in texts.items() for text in known if (log := clang.warnings(text))]


def test_what_a_compiler_warns_of_is_found(clang: Compiler) -> None:
    assert "warning" in clang.warnings("kernel void test(global int* a, int b) { a[0] = b << 2 + b; if (b == 1); }")
