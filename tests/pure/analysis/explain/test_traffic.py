"""Whole kernels whose traffic was worked out by hand: sectors and wavefronts per request, line by line."""

import numpy as np
import pytest

from tilewright.analysis.explain import Argument, Explanation, explain_source
from tilewright.analysis.explain.profile import LineAccess
from tilewright.analysis.explain.totals import totals

N = 64

NAIVE = """__kernel void product(__global const float* A, __global const float* B, __global float* C, int n) {
    int row = get_global_id(ROW), col = get_global_id(1 - ROW);
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += A[row * n + k]
             * B[k * n + col];
    C[row * n + col] = sum;
}"""

TILED = """__kernel void product(__global const float* A, __global const float* B, __global float* C, int n) {
    __local float As[TS][TS];
    __local float Bs[TS][TS];
    int c = get_local_id(0), r = get_local_id(1), col = get_global_id(0), row = get_global_id(1);
    float sum = 0;
    for (int t = 0; t < n / TS; t++) {
        As[r][c] = A[row * n + TS * t + c];
        Bs[r][c] = B[(TS * t + r) * n + col];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TS; k++)
            sum += As[r][k] * Bs[k][c];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    C[row * n + col] = sum;
}"""

REGISTER = """__kernel void product(__global const float4* A, __global const float4* B, __global float4* C, int n) {
    __local float As[16][64];
    __local float4 Bs[16][16];
    int tx = get_local_id(0), ty = get_local_id(1), id = ty * 16 + tx;
    int ac = id % 4, ar = id / 4, bc = id % 16, br = id / 16;
    float4 sum[4];
    for (int i = 0; i < 4; i++) sum[i] = 0.0f;
    for (int t = 0; t < n / 16; t++) {
        float4 a = A[(get_group_id(1) * 64 + ar) * (n / 4) + t * 4 + ac];
        As[4 * ac][ar] = a.x;
        As[4 * ac + 1][ar] = a.y;
        As[4 * ac + 2][ar] = a.z;
        As[4 * ac + 3][ar] = a.w;
        Bs[br][bc] = B[(t * 16 + br) * (n / 4) + get_group_id(0) * 16 + bc];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 16; k++) {
            float4 left = vload4(ty, &As[k][0]);
            float4 right = Bs[k][tx];
            sum[0] += left.x * right; sum[1] += left.y * right; sum[2] += left.z * right; sum[3] += left.w * right;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = 0; i < 4; i++)
        C[(get_group_id(1) * 64 + 4 * ty + i) * (n / 4) + get_group_id(0) * 16 + tx] = sum[i];
}"""

TRANSPOSE = """__kernel void transpose(__global const float* in, __global float* out, int n) {
    __local float tile[SIDE][PITCH];
    int lx = get_local_id(0), ly = get_local_id(1);
    int x = get_group_id(0) * SIDE + lx, y = get_group_id(1) * SIDE + ly;
    for (int j = 0; j < SIDE; j += STEP)
        tile[ly + j][lx] = in[(y + j) * n + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    int tx = get_group_id(1) * SIDE + lx, ty = get_group_id(0) * SIDE + ly;
    for (int j = 0; j < SIDE; j += STEP)
        out[(ty + j) * n + tx] = tile[lx][ly + j];
}"""

NAIVE_TRANSPOSE = """__kernel void transpose(__global const float* in, __global float* out, int n) {
    int x = get_global_id(0), y = get_global_id(1);
    out[x * n + y] = in[y * n + x];
}"""


def product(source: str, global_size: tuple[int, int], local_size: tuple[int, int], **macros: int) -> Explanation:
    generator = np.random.default_rng(1)
    a, b = (generator.random((N, N), dtype=np.float32) for _ in range(2))
    found = explain_source(
        source, macros=macros, global_size=global_size, local_size=local_size, groups="all",
        arguments={"A": a, "B": b, "C": np.full((N, N), np.nan, np.float32), "n": N},
    )  # fmt: skip
    np.testing.assert_allclose(found.outputs["C"], a @ b, rtol=1e-5)
    assert found.findings == ()
    return found


def transposed(source: str, global_size: tuple[int, int], local_size: tuple[int, int], **macros: int) -> Explanation:
    matrix = np.arange(N * N, dtype=np.float32).reshape(N, N)
    found = explain_source(
        source, macros=macros, global_size=global_size, local_size=local_size, groups="all",
        arguments={"in": matrix, "out": np.zeros_like(matrix), "n": N},
    )  # fmt: skip
    np.testing.assert_array_equal(found.outputs["out"], matrix.T)
    assert found.findings == ()
    return found


def only(found: Explanation, buffer: str, operation: str, line: int | None = None) -> LineAccess:
    chosen = [
        each
        for each in found.accesses
        if each.buffer == buffer and each.operation == operation and line in (None, each.position.line)
    ]
    assert len(chosen) == 1
    return chosen[0]


# (ROW, local size) -> sectors per request and ideal for A, B and C.
NAIVE_TABLE = {
    (0, (32, 8)): ((32, 4), (1, 1), (32, 4)),
    (0, (16, 16)): ((16, 2), (1, 1), (16, 4)),
    (1, (16, 16)): ((2, 1), (2, 2), (4, 4)),
    (1, (32, 8)): ((1, 1), (4, 4), (4, 4)),
}


@pytest.mark.parametrize(("row", "local_size"), NAIVE_TABLE)
def test_naive_product(row: int, local_size: tuple[int, int]) -> None:
    found = product(NAIVE, (N, N), local_size, ROW=row)
    for buffer, operation, (sectors, ideal) in zip(
        "ABC", ("load", "load", "store"), NAIVE_TABLE[row, local_size], strict=True
    ):
        access = only(found, buffer, operation)
        assert access.per_request == sectors
        assert access.ideal_per_request == ideal
    assert only(found, "A", "load").requests == N * N * N // 32


def test_a_column_of_rows_uses_an_eighth_of_what_it_moves() -> None:
    access = only(product(NAIVE, (N, N), (32, 8), ROW=0), "A", "load")
    assert access.efficiency == 0.125


@pytest.mark.parametrize("side", [16, 32])
def test_tiled_product_has_no_conflicts(side: int) -> None:
    found = product(TILED, (N, N), (side, side), TS=side)
    for access in found.accesses:
        if access.is_local:
            assert access.per_request == 1
            assert access.conflicts == 0
    assert only(found, "As", "load").requests == N * N * N // 32
    assert found.profile.barriers == 2 * N // side


def test_local_memory_has_useful_bytes() -> None:
    found = product(TILED, (N, N), (32, 32), TS=32)
    asked = {
        (each.buffer, each.operation): each.useful_bytes / each.requests for each in found.accesses if each.is_local
    }
    assert asked == {("As", "store"): 128, ("Bs", "store"): 128, ("As", "load"): 4, ("Bs", "load"): 128}


def test_register_tile_of_vectors() -> None:
    found = product(REGISTER, (16, 16), (16, 16))
    for line in (10, 11, 12, 13):
        store = only(found, "As", "store", line)
        assert (store.per_request, store.degree) == (4, 4)  # 8 banks, 4 different rows in each
    assert only(found, "Bs", "store").per_request == 4
    assert only(found, "Bs", "store").conflicts == 0
    assert only(found, "As", "load").per_request == 2  # two addresses in a warp: the pairs of lanes merge
    assert only(found, "As", "load").assumed_wide
    assert only(found, "Bs", "load").per_request == 4
    for buffer, operation in (("A", "load"), ("B", "load"), ("C", "store")):
        assert only(found, buffer, operation).per_request == 16
        assert only(found, buffer, operation).efficiency == 1


@pytest.mark.parametrize(("local_size", "sectors"), [((32, 8), 32), ((16, 16), 16)])
def test_naive_transpose_scatters_its_stores(local_size: tuple[int, int], sectors: int) -> None:
    found = transposed(NAIVE_TRANSPOSE, (N, N), local_size)
    assert only(found, "out", "store").per_request == sectors
    assert only(found, "out", "store").ideal_per_request == 4
    assert only(found, "in", "load").per_request == 4


# (side, pitch, local size) -> wavefronts of the row stores and of the column loads.
TILES = {
    (16, 16, (16, 16)): (1, 8),
    (16, 17, (16, 16)): (2, 2),
    (16, 18, (16, 16)): (2, 1),
    (32, 32, (32, 8)): (1, 32),
    (32, 33, (32, 8)): (1, 1),
    (32, 33, (32, 32)): (1, 1),
}


@pytest.mark.parametrize(("side", "pitch", "local_size"), TILES)
def test_transposes_through_tiles(side: int, pitch: int, local_size: tuple[int, int]) -> None:
    global_size = (N, N // side * local_size[1])
    found = transposed(TRANSPOSE, global_size, local_size, SIDE=side, PITCH=pitch, STEP=local_size[1])
    stores, loads = TILES[side, pitch, local_size]
    assert only(found, "tile", "store").per_request == stores
    assert only(found, "tile", "load").per_request == loads
    assert only(found, "out", "store").efficiency == 1


def test_the_whole_transpose_of_2048_squared_by_the_rule() -> None:
    """131,072 requests each way; an H200 counted 2,097,152 sectors for the naive stores."""
    side = 2048
    matrix = np.zeros((side, side), np.float32)
    arguments: dict[str, Argument] = {"in": matrix, "out": np.zeros_like(matrix), "n": side}
    naive = explain_source(NAIVE_TRANSPOSE, global_size=(side, side), local_size=(16, 16), arguments=arguments)
    found = totals(naive)
    assert found.exact
    assert found.global_store_requests == 131_072
    assert found.global_store_sectors == 2_097_152
    for pitch, conflicts in ((16, 917_504), (17, 131_072 * 2), (18, 131_072)):
        macros = {"SIDE": 16, "PITCH": pitch, "STEP": 16}
        tiled = explain_source(
            TRANSPOSE, macros=macros, global_size=(side, side), local_size=(16, 16), arguments=arguments
        )
        assert totals(tiled).conflicts == conflicts


def test_lockstep_under_divergence() -> None:
    """Lanes that skip an iteration do not pair with others' next one: 8 requests of 4 sectors each, not 4 of 8."""
    source = """__kernel void k(__global const float* a, __global float* o) {
        int l = get_local_id(0); float acc = 0;
        for (int i = 0; i < 8; i++) { if ((l + i) & 1) acc += a[i * 32 + l]; }
        o[l] = acc; }"""
    arguments: dict[str, Argument] = {"a": np.zeros(256, np.float32), "o": np.zeros(32, np.float32)}
    found = explain_source(source, global_size=(32,), local_size=(32,), arguments=arguments)
    access = only(found, "a", "load")
    assert (access.requests, access.per_request) == (8, 4)


def test_broadcasts_half_words_and_wide_vectors() -> None:
    source = """__kernel void k(__global const float8* wide, __global float* o, __constant float* table) {
        __local short small[64]; int l = get_local_id(0);
        small[l] = l; barrier(CLK_LOCAL_MEM_FENCE);
        o[l] = wide[l].s0 + small[l] + table[3];
    }"""
    arguments: dict[str, Argument] = {
        "wide": np.zeros((32, 8), np.float32),
        "o": np.zeros(32, np.float32),
        "table": np.ones(8, np.float32),
    }
    found = explain_source(source, global_size=(32,), local_size=(32,), arguments=arguments)
    assert only(found, "small", "store").per_request == 1
    assert only(found, "table", "load").cost == 1
    assert only(found, "wide", "load").per_request == 32  # one element of each 32-byte vector
    source = source.replace("wide[l].s0", "dot(wide[l].lo, wide[l].hi)")
    found = explain_source(source, global_size=(32,), local_size=(32,), arguments=arguments)
    assert sum(each.requests for each in found.accesses if each.buffer == "wide") == 2  # two loads of 16 bytes


# What one request of 32 lanes costs, as docs/explanation/memory.md tells: (sectors, lines, share of the bytes used).
PIECES = {
    "l": (4, 1, 1.0),
    "31 - l": (4, 1, 1.0),
    "l + 8": (4, 2, 1.0),
    "(l % 16) + (l / 16) * 64": (4, 2, 1.0),
    "(l % 8) + (l / 8) * 64": (4, 4, 1.0),
    "(l % 4) + (l / 4) * 64": (8, 8, 0.5),
    "l + 1": (5, 2, 0.8),
    "l * 2": (8, 2, 0.5),
    "l * 8": (32, 8, 0.125),
    "l * 32": (32, 32, 0.125),
}


@pytest.mark.parametrize("index", PIECES)
def test_coalescing_is_about_a_warp_and_pieces_of_32_bytes(index: str) -> None:
    source = (
        f"__kernel void k(__global const float* a, __global float* o) {{ int l = get_local_id(0); o[l] = a[{index}]; }}"
    )
    arguments: dict[str, Argument] = {"a": np.zeros(1024, np.float32), "o": np.zeros(32, np.float32)}
    access = only(explain_source(source, global_size=(32,), local_size=(32,), arguments=arguments), "a", "load")
    assert (access.cost, access.lines, access.efficiency) == PIECES[index]


@pytest.mark.parametrize(("index", "wavefronts"), [("l", 1), ("3", 1), ("l * 32", 4), ("l * 33", 1)])
def test_four_lanes_conflict_only_in_one_bank(index: str, wavefronts: int) -> None:
    source = (
        "__kernel void k(__global float* o) { __local float t[128]; int l = get_local_id(0);"
        f"t[l] = l; barrier(CLK_LOCAL_MEM_FENCE); if (l < 4) o[l] = t[{index}]; }}"
    )
    arguments: dict[str, Argument] = {"o": np.zeros(4, np.float32)}
    access = only(explain_source(source, global_size=(128,), local_size=(128,), arguments=arguments), "t", "load")
    assert access.per_request == wavefronts
