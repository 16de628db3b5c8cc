"""wgmma's sums stay in registers on their way to C, in what NVRTC and clang make of the kernel.

A loop over them that a compiler does not unroll puts them into memory, and NVIDIA's may warn of it on the user's terminal."""

from dataclasses import replace

import pytest
from clangs import compilers
from devices import HOPPER

from tilewright.core.kernel import Dialect, render
from tilewright.core.operands import Layout
from tilewright.core.plan import plan
from tilewright.core.problem import Gemm, StridedGemm
from tilewright.kernels.product.wgmma.config import WgmmaConfig
from tilewright.kernels.product.wgmma.kernels import KERNELS
from tilewright.kernels.product.wgmma.search import ONE_WAVE_SPACE
from tilewright.runtime.cuda.nvrtc import find_nvrtc

IN_MEMORY = "__local_depot"
KERNEL = next(each for each in KERNELS if each.dtypes == ("bfloat16",))
TILES = [WgmmaConfig(*each) for each in (*ONE_WAVE_SPACE, (128, 192, 4))]


def problem(gap: int, epilogue: bool) -> Gemm:
    views = (Layout(0, 112, 1), Layout(0, 528, 1), Layout(8, 528 + gap, 1))
    own: dict[str, object] = {"beta": 3, "bias": "row", "activation": "relu"} if epilogue else {}
    return StridedGemm(100, 520, 104, "bfloat16", views=views, **own)  # type: ignore[arg-type]


def source(config: WgmmaConfig, asked: Gemm, dialect: str) -> str:
    (step,) = plan([replace(KERNEL, config=config)], asked, HOPPER).steps
    return render(step.kernel, step.config, step.problem, dialect)


@pytest.mark.parametrize("epilogue", [False, True])
@pytest.mark.parametrize("gap", [0, 1])
@pytest.mark.parametrize("config", TILES, ids=lambda each: f"{each.BM}x{each.BN}")
def test_by_nvrtc(config: WgmmaConfig, gap: int, epilogue: bool) -> None:
    compiler = find_nvrtc("sm_90a") or pytest.skip("NVRTC is not here")
    built = compiler.compile_ptx(source(config, problem(gap, epilogue), Dialect.CUDA), KERNEL.name, "sm_90a")
    assert not built.log
    assert IN_MEMORY not in built.ptx


@pytest.mark.parametrize("epilogue", [False, True])
@pytest.mark.parametrize("gap", [0, 1])
@pytest.mark.parametrize("config", TILES, ids=lambda each: f"{each.BM}x{each.BN}")
def test_by_clang(config: WgmmaConfig, gap: int, epilogue: bool) -> None:
    found = [each for each in compilers() if each.complete]
    if not found:
        pytest.skip("no clang with the functions of OpenCL C is installed")
    made, log = found[0].ptx(source(config, problem(gap, epilogue), Dialect.OPENCL))
    assert log == ""
    assert IN_MEMORY not in made
