"""PTX of NVIDIA's OpenCL compiler made loadable by CUDA."""

import re

import pytest

from tilewright.errors import Unsupported
from tilewright.runtime.cuda.ptx import DYNAMIC, MOST_STATIC, for_cuda

PTX = """
.version 8.7
.target sm_90, texmode_independent
.address_size 64

\t// .globl\tgemm
.shared .align 128 .b8 gemm_tiles[{large}];
.shared .align 8 .b8 gemm_full[64];

.entry gemm(
\t.param .u64 .ptr .global .align 4 gemm_param_0
)
{{
\tmov.b32 %r1, %envreg3;
\tmov.b32 %r2, %envreg7;
\tmov.u64 %rd1, gemm_tiles;
\tmov.u64 %rd2, gemm_full;
\tld.shared.u64 %rd3, [gemm_full+16];
}}
"""


def test_registers_of_opencl_become_those_of_cuda() -> None:
    found = for_cuda(PTX.format(large=1024))
    assert "mov.b32 %r1, 0;" in found.text
    assert "mov.b32 %r2, %nctaid.y;" in found.text
    assert "envreg" not in found.text
    assert found.dynamic_bytes == 0


@pytest.mark.parametrize("large", [MOST_STATIC - 64, MOST_STATIC - 63, 200_000])
def test_arrays_beyond_cudas_limit_become_dynamic(large: int) -> None:
    found = for_cuda(PTX.format(large=large))
    if large + 64 <= MOST_STATIC:
        assert (found.dynamic_bytes, ".extern" in found.text) == (0, False)
        return
    start = -(-large // 8) * 8  # the array of lower alignment comes second
    assert found.dynamic_bytes == start + 64
    assert found.text.index(f".extern .shared .align 128 .b8 {DYNAMIC}[];") < found.text.index(".entry")
    assert f"mov.u64 %rd1, {DYNAMIC}+0;" in found.text
    assert f"mov.u64 %rd2, {DYNAMIC}+{start};" in found.text
    assert f"[{DYNAMIC}+{start + 16}]" in found.text
    assert ".shared .align 8" not in found.text


def test_variables_count_as_arrays_do() -> None:
    full = PTX.format(large=MOST_STATIC - 64)
    assert for_cuda(full).dynamic_bytes == 0
    declared = ".shared .align 4 .u32 gemm_arrived;\n.shared .align 16 .f32 gemm_scales[8];\n.entry"
    more = full.replace(".entry", declared).replace("[gemm_full+16]", "[gemm_arrived]")
    found = for_cuda(more)
    assert found.dynamic_bytes == MOST_STATIC + 32 + 4
    assert f"[{DYNAMIC}+{MOST_STATIC + 32}]" in found.text
    assert re.findall(r"^.*\.shared \.align.*$", found.text, re.M) == [f".extern .shared .align 128 .b8 {DYNAMIC}[];"]


def test_a_register_without_counterpart_is_refused() -> None:
    with pytest.raises(Unsupported, match="%envreg9"):
        for_cuda(PTX.format(large=64).replace("%envreg3", "%envreg9"))
