"""The kernels of NVIDIA's matrix instructions and TMA as CUDA C++: NVRTC makes PTX of them, which ptxas assembles."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import pytest
from devices import HOPPER

from tilewright.analysis.inspect.find_tools import find_ptxas
from tilewright.analysis.inspect.nvidia import assemble_ptx, read_report
from tilewright.core.device import DeviceInfo
from tilewright.core.kernel import KERNELS, PRELUDE, Dialect, Step, render
from tilewright.core.plan import violations
from tilewright.core.problem import Gemm
from tilewright.core.source import read_source
from tilewright.dispatch.choice import product_candidates
from tilewright.errors import Unsupported
from tilewright.kernels.product.call import GemmCall, call_of
from tilewright.runtime.cuda.nvrtc import Nvrtc, find_nvrtc
from tilewright.runtime.cuda.ptx import for_cuda
from tilewright.runtime.opencl.retarget import MARK

AMPERE = replace(
    HOPPER, name="an Ampere GPU", compute_capability=(8, 0), compute_units=108, static_local_bytes=166912,
    features=HOPPER.features - {"tma", "wgmma", "mma_f64"},
)  # fmt: skip
# As if its mma.sync were seen to add fp64 products one by one: kernels that need it are to compile.
CHAINING = replace(HOPPER, features=HOPPER.features | {"mma_f64_chain"})
FAMILIES = ("mma", "wgmma", "cuda_cores_tma", "fp16x3", "fp8")
MOST_CANDIDATES = 200  # that are asked for, cheapest first
MOST_SPILLED = (
    64  # bytes stored and loaded: some numbers that wait until a tile is finished. A main loop that spills has hundreds
)
# What makes different programs: types, precisions, memory orders, sizes that are aligned or not, many tiles or few.
PRODUCTS = {
    "float32": call_of(Gemm(4096, 4096, 4096)),
    "float32, strided": replace(call_of(Gemm(1001, 999, 1003, a_order="column", b_order="column")), bias="row"),
    "fp32_split": call_of(Gemm(4096, 4096, 4096, precision="fp32_split")),
    "tf32": call_of(Gemm(4096, 4096, 4096, a_order="column", precision="tf32")),
    "tf32, B across k": replace(call_of(Gemm(1024, 1024, 1024, precision="tf32", beta=1.0)), activation="gelu"),
    "float16": call_of(Gemm(4096, 4096, 4096, "float16")),
    "float16, odd": replace(call_of(Gemm(1000, 1001, 999, "float16", b_order="column")), activation="silu"),
    "float16, few tiles": call_of(Gemm(512, 512, 8192, "float16", a_order="column", out_dtype="float32")),
    "bfloat16": replace(call_of(Gemm(2048, 2048, 512, "bfloat16", alpha=2.0, beta=1.0)), bias="column"),
    "int8": call_of(Gemm(2048, 2048, 2048, "int8", b_order="column", out_dtype="int32")),
    "uint8": call_of(Gemm(2048, 2048, 2048, "uint8", b_order="column", alpha=3, beta=2)),
    "uint8 as int32": call_of(Gemm(512, 512, 8192, "uint8", b_order="column", out_dtype="int32")),
    "uint32": call_of(Gemm(1000, 1000, 1000, "uint32", b_order="column")),
    "float8": replace(
        call_of(Gemm(2048, 2048, 2048, "float8_e4m3fn", b_order="column", out_dtype="bfloat16", precision="fp8")),
        scale_a="each", scale_b="each",
    ),
    "float8 by float16": call_of(Gemm(1000, 1000, 1000, "float8_e5m2", out_dtype="float16")),
    "float64": call_of(Gemm(2048, 2048, 2048, "float64")),
    "reproducible": call_of(Gemm(4096, 4096, 4096, precision="reproducible")),
    "reproducible, strided": replace(
        call_of(Gemm(1001, 999, 1003, a_order="column", beta=1.0, precision="reproducible")), bias="row", activation="gelu_tanh"
    ),
    "reproducible float64": call_of(Gemm(2048, 2048, 2048, "float64", alpha=0.5, beta=2.0, precision="reproducible")),
    "complex64": call_of(Gemm(1000, 1000, 1000, "complex64", b_order="column")),
    "complex128": call_of(Gemm(1000, 1000, 1000, "complex128")),
}  # fmt: skip
AMPERE_PRODUCTS = ("float16", "tf32, B across k", "int8", "uint8", "float64")


@pytest.fixture
def compiler() -> Nvrtc:
    """A test that asks for it is skipped where no NVRTC is installed."""
    return find_nvrtc("sm_90a") or pytest.skip("NVRTC is not here")


def steps_of(call: GemmCall, device: DeviceInfo) -> Iterator[Step]:
    """The launches of the cheapest configuration of every kernel of FAMILIES that can compute it, the multiplying one first."""
    names: set[str] = set()
    for kernel in islice(product_candidates(call, device), MOST_CANDIDATES):
        if kernel.name in names or any(violations(kernel, kernel.config, call, device)):
            continue
        names.add(kernel.name)
        steps = kernel.steps(kernel, kernel.config, call)
        yield from (step for step in reversed(steps) if step.kernel.source.parent.name in FAMILIES)


def ptx_of(step: Step, architecture: str, compiler: Nvrtc) -> str:
    """The PTX that CUDA's driver gets. AssertionError if the compiler warns, or if it lacks what `target` has alone."""
    name, target = step.kernel.name, step.kernel.target or architecture
    source = render(step.kernel, step.config, step.problem, Dialect.CUDA)
    built = compiler.compile_ptx(source, name, target)
    assert not built.log, f"{name} for {step.problem.title}: {built.log}"
    assert MARK not in built.ptx
    assert re.search(rf"^\.target {target}$", built.ptx, re.M)
    assert ("setmaxnreg" in built.ptx) == (".maxnreg" in built.ptx)
    assert ("wgmma" in built.ptx) == (
        step.kernel.source.parent.name in ("wgmma", "fp16x3") and bool(step.kernel.target)
    )
    return for_cuda(built.ptx).text


def check_assembles(step: Step, ptx: str) -> None:
    """AssertionError if ptxas, where it is installed, refuses the PTX, ignores setmaxnreg, or waits for each wgmma."""
    target = re.findall(r"^\.target (\w+)", ptx, re.M)[0]
    ptxas = find_ptxas(target)
    if ptxas is not None:
        code, report = assemble_ptx(ptxas, ptx, target)
        told = f"{step.kernel.name} for {step.problem.title}, {step.config}: {report}"
        assert code, told
        assert "setmaxnreg" not in report, told
        assert "serialized" not in report, told
        resources = read_report(report, step.kernel.signature.entry)
        assert resources is not None, told
        assert sum(resources.spilled.values()) <= MOST_SPILLED, told


@pytest.mark.parametrize("title", PRODUCTS)
def test_every_family_becomes_ptx_for_hopper(title: str, compiler: Nvrtc) -> None:
    steps = list(steps_of(PRODUCTS[title], CHAINING))
    texts = [ptx_of(step, "sm_90", compiler) for step in steps]
    check_assembles(steps[0], texts[0])


@pytest.mark.parametrize("title", AMPERE_PRODUCTS)
def test_mma_becomes_ptx_for_ampere(title: str, compiler: Nvrtc) -> None:
    for step in islice(steps_of(PRODUCTS[title], AMPERE), 1):
        assert step.kernel.source.parent.name == "mma"
        check_assembles(step, ptx_of(step, "sm_80", compiler))


def test_the_products_have_every_kernel_of_every_family() -> None:
    files = [path for folder in FAMILIES for path in (KERNELS / "product" / folder).glob("*.cl")]
    wanted = {path for path in files if "__kernel" in read_source(path)}
    assert wanted == {step.kernel.source for call in PRODUCTS.values() for step in steps_of(call, HOPPER)}


def test_machine_code_of_marked_instructions_is_refused(compiler: Nvrtc) -> None:
    text = 'extern "C" __global__ void f() { asm volatile("//@wgmma.fence.sync.aligned;"); }'
    with pytest.raises(Unsupported, match="f has instructions that stand in PTX as comments"):
        compiler.compile(text, "f", "sm_90a")
    assert "\twgmma.fence" in compiler.compile_ptx(text, "f", "sm_90a").ptx.replace(" ", "")


def test_ptx_is_not_newer_than_drivers_need_it_to_be(compiler: Nvrtc) -> None:
    text = 'extern "C" __global__ void f() {}'
    built = compiler.compile_ptx(text, "f", "sm_90")
    assert built.cubin == b""
    version = re.search(r"^\.version (\d+)\.(\d+)$", built.ptx, re.M)
    assert version is not None
    assert (int(version[1]), int(version[2])) <= (8, 3)
    newer = compiler.compile_ptx(text, "f", "sm_120").ptx if 120 in compiler.architectures else ".version 8.7"
    assert ".version 8.3" not in newer


VECTORS = """
extern "C" __global__ void f(int* out)
{
    const uint4 low = MAKE4(uint, 1, 5, 7, 0x80000000u), high = max(low, MAKE4(uint, 6, 2, 7, 1));
    const int4 less = (low < 6) & (low != 1), most = low >= 7;
    const int right = high.x == 6 && high.y == 5 && high.z == 7 && high.w == 0x80000000u && less.x == 0 && less.y == -1
        && less.z == 0 && less.w == 0 && most.x == 0 && most.y == 0 && most.z == -1 && most.w == -1
        && clz(1u) == 31 && clz(0u) == 32;
    *out = right ? 12345 : 54321;
}
"""


def test_vectors_are_compared_as_in_opencl_c(compiler: Nvrtc) -> None:
    """The compiler computes constants: what is stored says what it found."""
    prelude = "#define REAL float\n#define REAL_IS_INTEGER 0\n#define REAL_IS_DOUBLE 0\n" + read_source(
        PRELUDE / Dialect.CUDA
    )
    ptx = compiler.compile_ptx(prelude + VECTORS + "}", "f", "sm_90").ptx
    assert "12345" in ptx
    assert "54321" not in ptx
