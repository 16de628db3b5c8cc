"""Rarely used parts of OpenCL C have the values that are written down for them."""

from typing import Any

import numpy as np
import pytest
from language_corners import CORNERS, EACH, ITEM, LANES, corner_source

from tilewright.analysis.explain import explain_source
from tilewright.errors import SourceError


@pytest.mark.parametrize("name", CORNERS)
def test_values_are_those_written_down(name: str) -> None:
    arguments = {"out": np.zeros(LANES * EACH, np.int32), "a": np.arange(LANES, dtype=np.int32)}
    found = explain_source(
        corner_source(name), global_size=(LANES,), local_size=(LANES,), arguments=arguments, groups="all"
    )
    assert found.faults == ()
    assert found.outputs["out"].reshape(LANES, EACH)[ITEM].tolist() == CORNERS[name][2]


WIDE = "a constant with ll or too large for long has 128 bits in OpenCL C, and more than 64 show here: write ul or l"
TOLD_FROM_64_BITS = (
    "if (x * 2ull) r[0] = 1;", "r[0] = x * 2ull ? 1 : 2;", "r[0] = !(x * 2ull);", "r[0] = 1 && x * 2ull;",
    "while (x * 2ull) ;", "switch (x * 2ull) { case 0: r[0] = 1; }", "r[0] = (float)(x * 2ull);", "float f = x * 2ull;",
    "bool b = x * 2ull;", "float f; f = x * 2ull;", "float f = 1; f += x * 2ull;", "r[0] = x * 2ull + 1.0f;",
    "r[0] = half_of(x * 2ull);", "float f = 1; r[0] = f * 2.0f + x * 2ull;", "float4 v = (float4)(x * 2ull);",
    "float4 v = (float4)(1, x * 2ull, 2, 3);", "r[0] = g ? x * 2ull : 1.0f;", "r[0] = (float)(1ull - x);", "r[0] = (float)~0ull;",
    "r[0] = y % 7ull;", "y /= 7ull;", "r[0] = y < 0xffffffffffffffffull;", "r[0] = x > -1ll;", "r[0] = (y ^ 1ull) >> 60;",
    "r[0] = (float)(y | 1ull);", "r[0] = ((x * 4ll) & y) >> 62;", "r[0] = (g ? y : 1ull) >> 62;", "r[0] = (1, x * 2ull) > 3;",
)  # fmt: skip


@pytest.mark.parametrize("body", TOLD_FROM_64_BITS)
def test_what_tells_128_bits_from_64_is_refused(body: str) -> None:
    head = "float half_of(float x) { return x / 2; } __kernel void k(__global int* r, ulong x, int y, int g) { "
    arguments: dict[str, Any] = {"r": np.zeros(1, np.int32), "x": 3, "y": -5, "g": 1}
    with pytest.raises(SourceError, match=WIDE):
        explain_source(f"{head}{body} }}", global_size=(1,), local_size=(1,), arguments=arguments)


@pytest.mark.parametrize("body", ["typeof(1ull) x = 3;", "int t[sizeof(1ull)];"])
def test_types_of_128_bits_are_refused(body: str) -> None:
    with pytest.raises(SourceError, match="long long has 128 bits in OpenCL C, which are not supported"):
        explain_source(f"__kernel void k() {{ {body} }}", global_size=(1,), local_size=(1,), arguments={})


def test_columns_behind_trigraphs_are_those_of_the_file() -> None:
    source = "??=define A ??(\n__kernel void k() ??< int x = unknown; ??>"
    with pytest.raises(SourceError, match=r"2:31: 'unknown' is not declared"):
        explain_source(source, global_size=(1,), local_size=(1,), arguments={})
