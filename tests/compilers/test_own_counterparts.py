"""Usual kernels of users' own become CUDA: NVRTC takes what they use of OpenCL C, and variables stay where they lie."""

import re
from pathlib import Path

import pytest
from usual_kernels import BODIES, around

from tilewright.core.custom import custom_kernel
from tilewright.core.kernel import Dialect, render
from tilewright.core.problem import Gemm
from tilewright.errors import BuildFailed
from tilewright.runtime.cuda.nvrtc import Compilation, Nvrtc, find_nvrtc

ONES = "acos acosh asin asinh atan atanh cbrt ceil cosh exp exp2 exp10 expm1 fabs floor log log2 log10 log1p logb rint round "
ONES += (
    "rsqrt sinh sqrt tanh trunc native_cos native_exp2 native_exp10 native_log native_log2 native_log10 native_rsqrt "
)
ONES += "native_sin native_sqrt native_tan half_exp2 half_log half_recip half_rsqrt half_sqrt sign radians"


@pytest.fixture
def compiler() -> Nvrtc:
    return find_nvrtc("sm_90") or pytest.skip("NVRTC is not here")


def compiled(source: str, compiler: Nvrtc, folder: Path) -> Compilation:
    file = folder / "own.cl"
    file.write_text(source)
    kernel = custom_kernel(file, "64", "64")
    return compiler.compile(render(kernel, kernel.config, Gemm(1, 1, 1), Dialect.CUDA), "own", "sm_90")


@pytest.mark.parametrize("name", BODIES)
def test_usual_kernels_compile_without_a_warning(name: str, compiler: Nvrtc, tmp_path: Path) -> None:
    assert not compiled(around(BODIES[name]), compiler, tmp_path).log


def test_functions_of_float_do_not_compute_in_double(compiler: Nvrtc, tmp_path: Path) -> None:
    sums = " + ".join(f"{name}(x[l]) + {name}(vload4(l, x)).y" for name in ONES.split())
    found = compiled(around(f"o[l] = {sums};"), compiler, tmp_path)
    assert not found.log
    assert ".f64" not in found.ptx


LOCAL = "{variable} t[64]; t[get_local_id(0)] = 1; barrier(CLK_LOCAL_MEM_FENCE); {pointer} p = t; o[0] = p[get_local_id(0) ^ 1]"


@pytest.mark.parametrize(
    ("prelude", "variable", "pointer"),
    [
        ("#define LMEM local", "LMEM float", "LMEM float*"),
        ("#define LMEM /* fast */ __local // of a work-group\n#define L LMEM", "L float", "const L float*"),
        ("typedef local float shared;", "shared", "shared*"),
        ("#define SHARED(type) local type", "SHARED(float)", "local float*"),
        ("#define DECLARE(type, space) space type", "DECLARE(float, local)", "local float*"),
    ],
)
def test_hidden_local_memory_stays_local(
    prelude: str, variable: str, pointer: str, compiler: Nvrtc, tmp_path: Path
) -> None:
    body = LOCAL.format(variable=variable, pointer=pointer)
    ptx = compiled(f"{prelude}\nkernel void own(global float* o) {{ {body}; }}\n", compiler, tmp_path).ptx
    assert re.search(r"ld\.shared", ptx)
    assert not re.search(r"(ld|st)\.local", ptx)


@pytest.mark.parametrize(
    "source",
    [
        "constant float w[2] = {1, 2}; kernel void own(global float* o) { o[0] = w[get_local_id(0) & 1]; }",
        "kernel void own(global float* o) { constant float w[2] = {1, 2}; o[0] = w[get_local_id(0) & 1]; }",
        "float f() { static __constant float w[2] = {1, 2}; return w[get_local_id(0) & 1];"
        " } kernel void own(global float* o) { o[0] = f(); }",
        "constant int w[2] = {1, 2}; int f(constant int* p) { return p[get_local_id(0)];"
        " } kernel void own(global int* o) { o[0] = f(w); }",
    ],
)  # fmt: skip
def test_constant_memory(source: str, compiler: Nvrtc, tmp_path: Path) -> None:
    ptx = compiled(source, compiler, tmp_path).ptx
    assert re.search(r"\.const .*\[8\]", ptx)
    assert not re.search(r"(ld|st)\.local", ptx)


def test_vectors_of_three_are_never_those_of_cuda(compiler: Nvrtc, tmp_path: Path) -> None:
    with pytest.raises(BuildFailed, match="complete object type"):
        compiled(
            "#define V(n) float##n\nkernel void own(global V(3)* o) { o[get_global_id(0)].x = 1; }", compiler, tmp_path
        )
