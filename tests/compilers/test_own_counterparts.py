"""Usual kernels of users' own become CUDA: NVRTC takes what they use of OpenCL C, and variables stay where they lie."""

import re
from pathlib import Path

import pytest

from tilewright.core.custom import custom_kernel
from tilewright.core.kernel import Dialect, render
from tilewright.core.problem import Gemm
from tilewright.errors import BuildFailed
from tilewright.runtime.cuda.nvrtc import Compilation, Nvrtc, find_nvrtc

SUM = "for (uint s = 32; s; s >>= 1) { if (l < s) t[l] += t[l + s]; barrier(CLK_LOCAL_MEM_FENCE); }"
# Bodies of a kernel with buffers o, x (float), n (int), u (uint), d (double), h (half), and l = get_local_id(0).
BODIES = {
    "softmax": f"local float t[64]; float m = -INFINITY; m = fmax(m, x[l]); t[l] = native_exp(x[l] - m); {SUM} "
    "o[l] = native_exp(x[l] - m) * native_recip(t[0]) + half_exp(x[l]) + half_divide(1.0f, t[0]);",
    "layer norm": f"local float t[64]; float4 v = vload4(l, x), q = (float4)(0.0f); q = mad(v, v, q);"
    f" t[l] = q.x + dot(v, v); {SUM} "
    "vstore4(fma(v - t[0], (float4)(rsqrt(t[1])), (float4)2.0f), l, o);",
    "gelu": "float v = x[l];"
    " o[l] = 0.5f * v * (1 + erf(v * M_SQRT1_2_F)) + v / (1.0f + native_exp(-v)) + tanh(M_2_PI_F * v) + M_PI_F;",
    "histogram": "local uint t[64]; t[l] = 0; barrier(CLK_LOCAL_MEM_FENCE); atomic_inc(&t[u[l] & 63]);"
    " atom_dec(t + 1); atomic_add(&u[l], t[l]);"
    "atomic_max(n, (int)l); atomic_min((volatile global uint*)u, 3u); atomic_xchg(n, 4); atomic_cmpxchg(n, 1, 2);"
    " atomic_sub(u, 1u); atomic_or(n, 1);",
    "convolution": "int at = clamp((int)l - 2, 0, 63); o[l] = fma(x[mad24(at, 2, 1)], mix(x[0], x[1], 0.5f),"
    " x[mul24(at, 3)]);",
    "halves": "vstore_half(vload_half(l, h), l, h); vstore_half4(vload_half4(l, h) * 2.0f, l, h);"
    " vstorea_half2(vloada_half2(l, h), l, h);",
    "picture": "float2 z = convert_float2((int2)(l, 3)) - 0.5f; z = (float2)(z.x * z.x, z.y) + z;"
    "uchar4 p = convert_uchar4_sat_rte((float4)(z, 0, 1) * 255.0f);"
    " n[l] = p.x + convert_int_rtn(x[l]) + convert_uint_sat(x[l]);",
    "bits": "u[l] = popcount(u[l]) + rotate(u[l], 3u) + mul_hi(u[l], 77u) + abs_diff(n[l],"
    " 3) + clz(u[l]) + abs(n[l]) + hadd(u[l], 1u);",
    "vectors": "int4 v = (int4)(n[0], (int2)(1, 2), 3); v = max(-v % 7 | ~v ^ 1, 3) << 1; n[l] = v.x + min(v, v).w;"
    "float4 w = fmin(clamp((float4)x[0], 0.0f, 1.0f), (float4)(1, 2, 3, 4)); o[l] = length(w) + select(w, sqrt(w), v).x;",
    "conditions": "o[l] = isnan(x[l]) ? NAN : select(x[l], MAXFLOAT, isgreater(x[l], HUGE_VALF)) + step(0.0f,"
    " sign(x[l])) + degrees(x[l]);",
    "doubles": "d[l] = exp(d[l]) * M_PI + DBL_EPSILON + (double)INT_MAX + fmax(d[0], 0.0) + smoothstep(0.0, 1.0, d[1]);",
    "fences": "mem_fence(CLK_LOCAL_MEM_FENCE); barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); o[l] = 1;",
    "elements": "float4 v = mix(vload4(l, x), (float4)(0), 0.5f); __const float s = v.s0 + v.s3; o[l] = s;",
    "own types": "typedef struct { float a, b; } pair; pair p = (pair){1, 2}; o[l] = p.a + sizeof(float4);",
}  # fmt: skip
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


def around(body: str) -> str:
    parameters = (
        "global float* o, global const float* x, global int* n, global uint* u, global double* d, global half* h"
    )
    return f"kernel void own({parameters}) {{ const uint l = get_local_id(0); {body} }}\n"


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
