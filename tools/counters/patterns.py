"""Kernels with one pattern of memory access each, in the subset that OpenCL C and CUDA share."""

from dataclasses import dataclass

import numpy as np

from tilewright.core.kernel import PRELUDE, Dialect
from tilewright.core.source import read_source

from .launches import SEED, Case, Launch

TYPES = {"float": "float32", "double": "float64", "int": "int32", "uchar": "uint8", "ushort": "uint16"}


@dataclass(frozen=True)
class Pattern:
    """`buffers` are (name, C type, elements); "index" is a random permutation. The body may use g, l and n."""

    name: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    buffers: tuple[tuple[str, str, int], ...]
    body: str
    head: str = ""

    @property
    def text(self) -> str:
        parameters = ", ".join(f"__global {kind}* {name}" for name, kind, _ in self.buffers)
        return (
            f"{self.head}__kernel void pattern({parameters}, const int n)\n{{\n"
            f"    const int g = get_global_id(0), l = get_local_id(0);\n{self.body.strip(chr(10))}\n}}\n"
        )


IN_OUT = (("a", "float", 8192), ("out", "float", 8192))

PATTERNS = (
    Pattern("strides", (256,), (64,), IN_OUT, """
    float sum = a[g];
    sum += a[2 * g];
    sum += a[3 * g];
    sum += a[8 * g];
    sum += a[31 * g];
    sum += a[g + 1];
    sum += a[255 - g];
    sum += a[g / 4];
    sum += a[n];
    out[g] = sum;
    out[2 * g + 1024] = sum;
    out[17 * g + 2048] = sum;
"""),
    Pattern("pitches", (512,), (256,), IN_OUT, """
    __local float p16[16][16];
    __local float p17[16][17];
    __local float p18[16][18];
    const int x = l % 16, y = l / 16;
    p16[y][x] = a[g];
    p17[y][x] = a[g];
    p18[y][x] = a[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[g] = p16[x][y];
    out[g + 512] = p17[x][y];
    out[g + 1024] = p18[x][y];
"""),
    Pattern("tile of a warp", (64, 8), (32, 8), IN_OUT, """
    __local float p32[32][32];
    __local float p33[32][33];
    const int y = get_local_id(1);
    for (int i = 0; i < 32; i += 8) {
        p32[y + i][l] = a[g + (y + i) * 64];
        p33[y + i][l] = a[g + (y + i) * 64];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < 32; i += 8) {
        out[g + (y + i) * 64] = p32[l][y + i];
        out[g + (y + i) * 64 + 2048] = p33[l][y + i];
    }
"""),
    Pattern("diagonal tile", (256,), (256,), IN_OUT, """
    __local float t[256];
    const int x = l % 16, y = l / 16;
    t[y * 16 + (x ^ y)] = a[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[g] = t[x * 16 + (x ^ y)];
"""),
    Pattern("local float4", (128,), (128,), IN_OUT, """
    __local float4 t[1024];
    for (int i = l; i < 1024; i += 128)
        t[i] = (*(__global float4*)(a + 4 * i));
    barrier(CLK_LOCAL_MEM_FENCE);
    float4 sum = t[l];
    sum += t[2 * l];
    sum += t[8 * l];
    sum += t[l / 2];
    sum += t[l / 4];
    sum += t[l % 2 + n];
    sum += t[l % 8];
    sum += t[n];
    sum += t[(l & 1) | ((l >> 2) << 1)];
    *(__global float4*)(out + 4 * g) = sum;
"""),
    Pattern("local float2", (128,), (128,), IN_OUT, """
    __local float2 t[1024];
    for (int i = l; i < 1024; i += 128)
        t[i] = (*(__global float2*)(a + 2 * i));
    barrier(CLK_LOCAL_MEM_FENCE);
    float2 sum = t[l];
    sum += t[2 * l];
    sum += t[3 * l];
    sum += t[l % 16];
    sum += t[l / 2];
    sum += t[n];
    sum += t[(7 * l) % 1024];
    *(__global float2*)(out + 2 * g) = sum;
"""),
    Pattern("local stores of vectors", (64,), (64,), (("a", "float", 2048), ("out", "float", 2048)), """
    __local float4 t[512];
    const float4 v = *(__global float4*)(a + 4 * g);
    t[4 * l] = v;
    t[4 * l + 1] = v;
    t[8 * (l % 8) + l / 8 + 256] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    const float4 w = t[(5 * l) % 64 * 4] + t[8 * (l / 8) + l % 8 + 256];
    *(__global float4*)(out + 4 * g) = w;
"""),
    Pattern("doubles", (128,), (64,), (("a", "double", 4096), ("out", "double", 4096)), """
    __local double t[512];
    for (int i = l; i < 512; i += 64)
        t[i] = a[i + 2 * g];
    barrier(CLK_LOCAL_MEM_FENCE);
    double sum = t[l];
    sum += t[2 * l];
    sum += t[8 * l];
    sum += t[l / 2];
    sum += t[l % 16 * 17];
    out[g] = sum;
    out[3 * g + 512] = sum;
"""),
    Pattern("bytes", (256,), (128,), (("a", "uchar", 8192), ("out", "uchar", 4096)), """
    __local uchar t[4096];
    for (int i = l; i < 4096; i += 128)
        t[i] = a[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    int sum = t[l];
    sum += t[4 * l];
    sum += t[31 * l];
    sum += t[l / 4];
    sum += t[(l % 4) * 128 + l / 4];
    out[g] = sum;
    out[5 * g + 1024] = sum;
"""),
    Pattern("shorts", (256,), (128,), (("a", "ushort", 8192), ("out", "ushort", 4096)), """
    __local ushort t[4096];
    for (int i = l; i < 4096; i += 128)
        t[i] = a[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    int sum = t[l];
    sum += t[2 * l];
    sum += t[32 * l];
    sum += t[l / 2];
    sum += t[(l % 2) * 64 + l / 2];
    out[g] = sum;
    out[3 * g + 1024] = sum;
"""),
    Pattern("gather", (512,), (128,), (("index", "int", 4096), ("a", "float", 4096), ("out", "float", 4096)), """
    const int at = index[g];
    const float value = a[at];
    out[index[g + 512]] = value;
"""),
    Pattern("divergence", (256,), (64,), IN_OUT, """
    float sum = 0;
    if (l & 1)
        sum = a[4 * g];
    if (l < 5)
        sum += a[g + n];
    else if (l % 3 == 0)
        sum -= a[2 * g + 512];
    out[g] = sum;
    if (g % 7 == 2)
        out[g + 1024] = sum;
"""),
    Pattern("loops of different length", (128,), (64,), (("index", "int", 256), ("a", "float", 8192), ("out", "float", 256)), """
    const int first = index[g], last = index[g + 1];
    float sum = 0;
    for (int i = first; i < last; i++)
        sum += a[i * 3];
    out[g] = sum;
"""),
    Pattern("groups of 24", (240,), (24,), IN_OUT, """
    __local float t[24 * 9];
    t[9 * l] = a[g];
    t[9 * l + 3] = a[g + 240];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[g] = t[9 * (23 - l)] + t[9 * l + 3];
"""),
    Pattern("groups of three dimensions", (8, 6, 5), (4, 3, 5), IN_OUT, """
    __local float t[5][3][5];
    const int y = get_local_id(1), z = get_local_id(2);
    const int at = (z * 6 + get_global_id(1)) * 8 + g;
    t[z][y][l] = a[at];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[at] = t[l][y][z % 4];
"""),
    Pattern("tree reduction", (512,), (256,), IN_OUT, """
    __local float t[256];
    t[l] = a[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int others = 128; others > 0; others /= 2) {
        if (l < others)
            t[l] += t[l + others];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        out[get_group_id(0)] = t[0];
"""),
    Pattern("interleaved reduction", (512,), (256,), IN_OUT, """
    __local float t[256];
    t[l] = a[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 1; step < 256; step *= 2) {
        const int i = 2 * step * l;
        if (i < 256)
            t[i] += t[i + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        out[get_group_id(0)] = t[0];
"""),
    Pattern("prefix sum", (256,), (128,), IN_OUT, """
    __local float t[2][128];
    t[0][l] = a[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    int from = 0;
    for (int step = 1; step < 128; step *= 2) {
        t[1 - from][l] = t[from][l] + (l >= step ? t[from][l - step] : 0.0f);
        from = 1 - from;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[g] = t[from][l];
"""),
    Pattern("bit reversal", (1024,), (256,), IN_OUT, """
    __local float t[256];
    int turned = 0;
    for (int bit = 0; bit < 8; bit++)
        turned |= ((l >> bit) & 1) << (7 - bit);
    t[l] = a[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[g] = t[turned];
    out[g - l + turned + 1024] = t[l ^ 1];
"""),
    Pattern("stencil", (64, 48), (16, 8), (("a", "float", 4096), ("out", "float", 4096)), """
    __local float t[10][18];
    const int x = l, y = get_local_id(1), gy = get_global_id(1);
    for (int j = y; j < 10; j += 8)
        for (int i = x; i < 18; i += 16)
            t[j][i] = a[(get_group_id(1) * 8 + j) * 66 + get_group_id(0) * 16 + i];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = t[y + 1][x + 1];
    sum += t[y][x + 1];
    sum += t[y + 2][x + 1];
    sum += t[y + 1][x];
    sum += t[y + 1][x + 2];
    out[gy * 64 + g] = sum;
"""),
    Pattern("array of structures", (256,), (64,), IN_OUT, """
    const float x = a[3 * g];
    const float y = a[3 * g + 1];
    const float z = a[3 * g + 2];
    out[4 * g] = x;
    out[4 * g + 1] = y;
    out[4 * g + 2] = z;
"""),
    Pattern("vectors of global memory", (128,), (64,), IN_OUT, """
    const float8 v = *(__global float8*)(a + 8 * g);
    const float4 w = *(__global float4*)(a + 4 * (127 - g));
    const float2 u = *(__global float2*)(a + 6 * g);
    *(__global float4*)(out + 4 * g) = v.lo + w;
    *(__global float4*)(out + 8 * g + 2048) = v.hi - w;
    *(__global float2*)(out + 2 * g + 4096) = u;
"""),
    Pattern("vload at any element", (128,), (64,), IN_OUT, """
    const float4 v = vload4(g, a + 1);
    const float2 w = vload2(g, a + n);
    vstore4(v, g, out + 3);
    vstore2(w, g, out + 2048);
"""),
)  # fmt: skip


def case_of_pattern(pattern: Pattern) -> Case:
    """The pattern as a case; its values are not checked, for the counts are its point."""
    generator = np.random.default_rng(SEED)
    buffers: dict[str, np.ndarray] = {}
    for name, kind, elements in pattern.buffers:
        if name == "index":
            buffers[name] = index_values(pattern, generator, elements)
        elif kind in ("float", "double"):
            buffers[name] = (generator.random(elements) - 0.5).astype(TYPES[kind])
        else:
            buffers[name] = generator.integers(0, 200, elements).astype(TYPES[kind])
    file = f"patterns/{pattern.name.replace(' ', '_')}.cl"
    macros = "#define REAL float\n#define REAL_IS_INTEGER 0\n#define REAL_IS_DOUBLE 0\n"
    body = f'#line 1 "{file}"\n{pattern.text}'
    launch = Launch(
        pattern.name,
        file,
        "pattern",
        body,
        f"{macros}{read_source(PRELUDE / Dialect.CUDA)}\n{body}\n}}\n",
        pattern.global_size,
        pattern.local_size,
        {**{name: name for name, _, _ in pattern.buffers}, "n": 5},
    )
    return Case(f"pattern: {pattern.name}", "pattern", (launch,), buffers)


def index_values(pattern: Pattern, generator: np.random.Generator, elements: int) -> np.ndarray:
    """A permutation, or the ascending bounds of rows of 0 to 19 elements."""
    if "last" in pattern.body:
        return np.cumsum(generator.integers(0, 20, elements)).astype(np.int32)
    return generator.permutation(elements).astype(np.int32)
