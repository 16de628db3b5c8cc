"""Users' qualifiers in CUDA: a variable in local memory stays in local memory, whichever word declares it."""

import re
from pathlib import Path

import pytest

from tilewright.core.cuda_words import in_words_of_cuda_h
from tilewright.core.custom import custom_kernel
from tilewright.core.kernel import Dialect, render
from tilewright.core.problem import Gemm
from tilewright.errors import Unsupported


@pytest.mark.parametrize(
    ("own", "words"),
    [
        ("local float tile[256];", "__local float tile[256];"),
        ("__local float tile[256];", "__local float tile[256];"),
        ("local int first, last;", "__local int first, last;"),
        ("float local sum;", "float __local sum;"),
        ("const local float* row = tile;", "const local float* row = tile;"),
        ("__local float *row = tile;", "local float *row = tile;"),
        ("__local const\nfloat *row)", "local const\nfloat *row)"),
        ("(__local float4*)tile", "(local float4*)tile"),
        ("kernel void f(global const float* x)", "__kernel void f(__global const float* x)"),
        ("__kernel void f(__global float* x, int locals)", "__kernel void f(__global float* x, int locals)"),
        ('#line 1 "local/kernel/global.cl"', '#line 1 "local/kernel/global.cl"'),
        ("get_local_id(0) + get_global_id(1)", "get_local_id(0) + get_global_id(1)"),
        ("float f(local float t[16], const local int n[2])", "float f(local float t[16], const local int n[2])"),
        ("constant float w[2] = {1, 2};", "static __constant float w[2] = {1, 2};"),
        ("static constant int w = 1;", "static __constant int w = 1;"),
        ("float f(__constant float* w)", "float f(of_constant float* w)"),
        ("#define L local\nL int a; L int* p;", "#define L __local\nL int a; local int* p;"),
        ("#define L local\nfloat* p;", "#define L __local\nfloat* p;"),
        ("#define L local\n#ifdef L\n#endif", "#define L __local\n#ifdef L\n#endif"),
        (
            "#ifdef A\n#define L local\n#else\n#define L global\n#endif\nL int* p;",
            "#ifdef A\n#define L __local\n#else\n#define L __global\n#endif\nlocal int* p;",
        ),
        ("#define L const local\n#define M L\nM int* p;", "#define L const __local\n#define M L\nlocal int* p;"),
        ("#define T(n) local float n[16]\nT(t);", "#define T(n) __local float n[16]\nT(t);"),
        ("D(float, local, t);", "D(float, __local, t);"),
        (
            "typedef local int shared; typedef shared row[4]; shared a; row b; shared* p;",
            "typedef local int shared; typedef shared row[4]; __local shared a; __local row b; shared* p;",
        ),
        ("// local float3 of a kernel\n/* local float* */", "// local float3 of a kernel\n/* local float* */"),
        ("v.s0 + p->s3 * v.S1", "v.x + p->w * v.y"),
        ("struct { int s0; } a; a.s0 = v.s1;", "struct { int s0; } a; a.s0 = v.y;"),
        ("a = (float4)(0);", "a = made<float4>::of(0);"),
        ("return (int2) (x, y) + (int2)x.y;", "return made<int2>::of(x, y) + made<int2>()->*x.y;"),
        ("typedef float4 vec; v = (vec)(x);", "typedef float4 vec; v = made<vec>::of(x);"),
        ("f(float4); sizeof(float4) * 2; sizeof (int2)", "f(float4); sizeof(float4) * 2; sizeof (int2)"),
        ("p = (pair){1, 2}; if (x) { } while (y) { }", "p = pair{1, 2}; if (x) { } while (y) { }"),
    ],
)
def test_qualifiers(own: str, words: str) -> None:
    assert in_words_of_cuda_h(own) == words


def test_only_cuda_gets_other_words(tmp_path: Path) -> None:
    file = tmp_path / "mine.cl"
    file.write_text("kernel void gemm(global float* C) { local float tile[16]; tile[0] = 1; C[0] = tile[0]; }\n")
    kernel = custom_kernel(file, "1", "1")
    cuda = render(kernel, kernel.config, Gemm(1, 1, 1), Dialect.CUDA)
    assert "__kernel void gemm(__global float* C) { __local float tile[16];" in cuda
    assert "kernel void gemm(global float* C) { local float tile[16];" in render(kernel, kernel.config, Gemm(1, 1, 1))


def test_macros_of_options_count_too(tmp_path: Path) -> None:
    file = tmp_path / "mine.cl"
    file.write_text("kernel void gemm(global float* C) { LMEM float tile[16]; LMEM float* p = tile; C[0] = p[0]; }\n")
    kernel = custom_kernel(file, "1", "1", {"LMEM": "local"})
    cuda = render(kernel, kernel.config, Gemm(1, 1, 1), Dialect.CUDA)
    assert "#define LMEM __local\n" in cuda
    assert "LMEM float tile[16]; local float* p = tile;" in cuda


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "local float t[64], *p;",
            "'local float t[64], *p;' declares a variable in local memory and a pointer into it",
        ),
        ("local float *p, t;", "'local float *p, t;' declares a variable in local memory and a pointer into it"),
        (
            "global float3* p;",
            "CUDA's float3 has other bytes than OpenCL C's, which have the room of four elements: use float4",
        ),
        ("#define L(t) local t\nL(float)* p;", "the macro L ends in an address space and stands before a *"),
        (
            "#if A\n#define L local int\n#else\n#define L local long\n#endif\nL* p;",
            "the macro L has definitions that differ in more than an address space",
        ),
    ],
)
def test_an_address_space_that_would_be_lost_is_refused(text: str, words: str) -> None:
    with pytest.raises(Unsupported, match=re.escape(words)):
        in_words_of_cuda_h(text)
