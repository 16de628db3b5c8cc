"""Users' qualifiers in CUDA: a variable in local memory stays in local memory, whichever word declares it."""

from pathlib import Path

import pytest

from tilewright.core.cuda_words import in_words_of_cuda_h
from tilewright.core.custom import custom_kernel
from tilewright.core.kernel import Dialect, render
from tilewright.core.problem import Gemm


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
