"""The interpreter of `explain` against the CPU drivers: the same kernels, the same inputs, the same bits."""

import numpy as np
import pytest
from driver_runs import run_driver
from interpreted_values import EXACT, FLOATS, LANES, SIGNED, UNSIGNED, check_lines, compare, inputs

from tilewright.analysis.explain import explain_source
from tilewright.runtime.opencl.device import Device


def test_integer_conversions(device: Device) -> None:
    names = (*SIGNED, *UNSIGNED)
    lines = [(target, f"({target})v_{source}") for source in names for target in (*names, *FLOATS)]
    lines += [(target, f"convert_{target}_sat(v_{source})") for source in names for target in names]
    # The specification says that a NaN "should" become 0; Intel's driver makes it the largest number.
    lines += [
        (target, f"convert_{target}_sat(fmax(v_{source}, ({source})-1e30f))") for source in FLOATS for target in names
    ]
    lines += [("int", f"convert_int_{mode}(fmin(fmax(v_{kind}, -1000.0f), 1000.0f))")
              for kind in ("float",) for mode in ("rte", "rtz", "rtp", "rtn")]  # fmt: skip
    check_lines(device, lines)


def test_arithmetic_of_mixed_types(device: Device) -> None:
    lines = []
    for left in (*UNSIGNED, "char", "short"):
        for right in UNSIGNED:
            small = f"(v_{left} & 63)"
            lines += [
                ("ulong", f"{small} + v_{right}"),
                ("long", f"v_{right} - {small}"),
                ("ulong", f"{small} * (v_{right} & 1000)"),
                ("ulong", f"v_{right} / (v_{left} == 0 ? ({left})1 : v_{left})") if left in UNSIGNED else ("int", "1"),
                ("int", f"v_{left} < v_{right}"),
            ]
    lines += [
        ("int", f"(v_int % 1000) {op} ((v_short % 50) == 0 ? 7 : v_short % 50)") for op in ("/", "%", "+", "-", "*")
    ]
    lines += [
        ("long", f"v_{kind} >> (v_uchar % {bits})")
        for kind, bits in (("int", 32), ("uint", 32), ("long", 64), ("char", 8))
    ]
    lines += [("ulong", f"v_{kind} << (v_uchar % {bits})") for kind, bits in (("uint", 32), ("ulong", 64))]
    lines += [("int", f"{op}v_{kind}") for op in ("~", "!") for kind in ("char", "ushort", "int", "long")]
    lines += [("int", "v_int == v_uint"), ("int", "-1 < v_uint"), ("long", "-1 + v_uint"), ("int", "'a' + v_char % 9")]
    check_lines(device, lines)


def test_float_arithmetic_and_special_values(device: Device) -> None:
    lines = []
    for kind in FLOATS:
        other = f"(({kind})v_int)"
        for op in ("+", "-", "*", "/"):
            lines += [(kind, f"v_{kind} {op} {other}"), (kind, f"{other} {op} v_{kind}")]
        for op in ("<", "<=", ">", ">=", "==", "!="):
            lines += [("int", f"v_{kind} {op} 1.5f"), ("int", f"v_{kind} {op} v_{kind}")]
        for name in ("floor", "ceil", "trunc", "rint", "round", "fabs", "sqrt"):
            lines.append((kind, f"{name}(v_{kind})"))
        for name in ("fmin", "fmax", "fdim", "copysign", "fmod"):
            lines += [(kind, f"{name}(v_{kind}, {other})"), (kind, f"{name}(({kind})2.5f, v_{kind})")]
        for name in ("isnan", "isinf", "isfinite", "signbit", "isnormal"):
            lines.append(("int", f"{name}(v_{kind}) != 0"))
        lines += [
            (kind, f"fma(v_{kind}, {other}, v_{kind})"),
            (kind, f"fma(v_{kind}, v_{kind}, -v_{kind} * v_{kind})"),
            (kind, f"v_{kind} > 0 ? v_{kind} : -v_{kind}"),
            (kind, f"!v_{kind}"),
            ("int", f"v_{kind} && v_int"),
            ("int", f"v_{kind} || v_int"),
            (kind, f"nextafter(v_{kind}, ({kind})0)"),
            (kind, f"ldexp(v_{kind}, v_char % 5)"),
        ]
    lines += [
        ("float", "(float)v_double"),
        ("double", "v_float * 0.1"),
        ("float", "v_float * 0.1f"),
        ("float", "0x1.8p3f"),
    ]
    lines += [("uint", "as_uint(v_float) & 0x7fffffff"), ("float", "as_float(as_uint(1.0f) | (v_uint & 0xffff))")]
    check_lines(device, lines)


def test_integer_builtins(device: Device) -> None:
    lines = []
    for kind in (*SIGNED, *UNSIGNED):
        unsigned = kind if kind in UNSIGNED else f"u{kind}"
        lines += [(kind, f"{name}(v_{kind}, ({kind})37)") for name in
                  ("add_sat", "sub_sat", "hadd", "rhadd", "mul_hi", "rotate", "min", "max")]  # fmt: skip
        lines += [
            (kind, f"clz(v_{kind})"),
            (kind, f"popcount(v_{kind})"),
            (unsigned, f"abs_diff(v_{kind}, ({kind})5)"),
            (kind, f"clamp(v_{kind}, ({kind})3, ({kind})90)"),
            (kind, f"mad_sat(v_{kind}, ({kind})3, ({kind})11)" if kind != "long" else "1"),  # Intel's does not saturate
            (kind, f"bitselect(v_{kind}, ({kind})85, ({kind})51)"),
        ]
    lines += [
        ("uint", "abs(v_int % 1000)"),
        ("int", "mul24(v_int % 1000, v_short % 1000)"),
        ("uint", "mad24(v_uint & 999u, 7u, 3u)"),
    ]
    lines += [
        ("int", "upsample(v_short, v_ushort)"),
        ("ulong", "upsample(v_uint, v_uint)"),
        ("int", "select(v_int, 5, v_int)"),
    ]
    check_lines(device, lines)


def test_vectors(device: Device) -> None:
    prelude = (
        "#define F4 ((float4)(v_float, 2.0f, (float)v_short, v_float))\n#define I4 ((int4)(v_int, 3, -4, v_short))\n"
    )
    prelude += "#define U8 ((uint8)(v_uint, 1u, 2u, 3u, v_uint, 5u, 6u, 7u))\n"
    lines = [
        ("float4", "F4 * 2.0f + (float4)(1, 2, 3, 4)"),
        ("float4", "F4.wzyx"),
        ("float2", "F4.lo + F4.hi"),
        ("float2", "F4.even - F4.odd"),
        ("float8", "(float8)(F4, F4.s3210)"),
        ("int4", "F4 < (float4)(1.0f)"),
        ("int4", "I4 == I4.yxzw"),
        ("int4", "(I4 & 255) >> 2"),
        ("int4", "!I4"),
        ("int4", "I4 && (int4)(1, 0, 1, 0)"),
        ("float4", "F4 > 0.0f ? F4 : -F4"),
        ("int4", "select(I4, I4.wwww, I4 < 0)"),
        ("uint8", "U8 * 3u + U8.s76543210"),
        ("uint4", "U8.s0246"),
        ("uint", "U8.s7 + U8.s0"),
        ("int4", "convert_int4_sat(U8.lo)"),
        ("uchar4", "convert_uchar4_sat(I4)"),
        ("float4", "convert_float4(I4)"),
        ("int4", "as_int4(F4)"),
        ("uchar16", "as_uchar16(I4)"),
        ("float4", "max(F4, 1.0f)"),
        ("float4", "fmax(F4, (float4)(1.0f))"),
        ("int4", "min(I4, 7)"),
        ("int4", "clamp(I4, -5, 5)"),
        ("int", "any(I4 < 0)"),
        ("int", "all(I4 < 100)"),
        ("int4", "isnan(F4)"),
        ("float4", "fma(F4, F4, F4)"),
        ("float4", "shuffle2(F4, F4 + 1.0f, (uint4)(7, 0, 4, 3))"),
        ("float3", "(float3)(v_float, 1.0f, 2.0f) * 2.0f"),
        ("short2", "(short2)(v_short, 1) + (short2)(2)"),
        ("long2", "(double2)(v_double, 1.0) > 0.5"),
    ]
    check_lines(device, lines, prelude=prelude)


STATEMENTS: dict[str, str] = {
    "loops": "int s = 0; for (int j = 0; j < (x & 15); j++) { if (j == 3) continue; if (j > 11) break; s += j * y; } o[i] = s;",
    "nested loops": """int s = 0; for (int a = 0; a < 5; a++) for (int b = a; b < (x & 7); b++)
        { if (b == 4) break; s += a * b + y; } o[i] = s;""",
    "while and do": """int n = x & 31, s = 1; while (n > 3) { s = s * 3 & 1023; n -= 2; }
        do { s++; } while (s % 7 != (y & 1023) % 7); o[i] = s;""",
    "switch": """int s = 0; switch (x & 7) { case 0: s = 1; case 1: s += 2; break; case 2: { s = 9; break; } default: s = -1;
        case 5: s *= 3; } o[i] = s + y;""",
    "switch in a loop": """int s = 0; for (int j = 0; j < 9; j++) { switch ((x + j) & 3) { case 1: continue;
        case 2: s += j; break; default: s += 100; } s += y; } o[i] = s;""",
    "early return": "o[i] = 7; if (x & 1) return; o[i] = y; if (y & 2) { return; } o[i] = x + y;",
    "short circuit": "int c = 0; int r = (x & 1) && (++c, y & 1) || (c += 2, x & 2); o[i] = r * 100 + c;",
    "increments": "int a = x & 7; int b = a++ + ++a; b += a-- - --a; o[i] = b * 10 + a;",
    "private array": "int t[8]; for (int j = 0; j < 8; j++) t[j] = x + j; o[i] = t[y & 7] + t[3];",
    "array of arrays": "int t[3][4] = {{1, 2}, {3, 4, 5}}; t[1][x & 3] += y; o[i] = t[1][0] + t[y & 1][2] + t[2][3];",
    "pointers": "int t[8]; int* p = t; for (int j = 0; j < 8; j++) *p++ = j * x; p -= 4; o[i] = p[y & 3] + (int)(p - t);",
    "address of a variable": "int v = x; int* p = &v; *p += y; o[i] = v;",
    "vector parts": "int4 v = (int4)(x); v.y = y; v.s23 = v.xy; v.hi += 1; v.x++; o[i] = v.x + 3 * v.y + 5 * v.z + 7 * v.w;",
    "ternary chain": "o[i] = x < 0 ? -x : x < 10 ? y : x > 100 ? 1 : 2;",
    "comma and compound": """int a = x & 255, b = y & 255; a ^= b, b ^= a, a ^= b;
        a <<= 2; a |= 1; b >>= 1; b %= 7; o[i] = a * 8 + b;""",
    "shadowing": "int a = 1; { int a = x & 3; a += 2; o[i] = a; } o[i] += a; for (int a = 0; a < 3; a++) o[i] += a;",
    "unsigned wrap": "uint a = x; a = a * 2654435761u + 12345u; a ^= a >> 13; o[i] = (int)(a & 0x7fffffff);",
    "char arithmetic": "char a = (char)(x & 63); uchar b = (uchar)y; a += 1; b -= 1; b *= 2; o[i] = a * 256 + b;",
    "struct": """struct pair { int first; char tag; float second; } p = {x & 1023, 3}, q; q = p; q.first += 1; q.second = 2.5f;
        o[i] = q.first + p.first + q.tag + (int)q.second + (int)sizeof(struct pair);""",
    "union": "union { float f; uint u; } v; v.f = (float)(x & 255); o[i] = (int)(v.u >> 8);",
    "bool": "bool b = x & 4; bool c = 0.5f; o[i] = b * 10 + c + (bool)y;",
    "sizes": "o[i] = sizeof(float3) + sizeof(int) * 10 + sizeof(x) + (int)sizeof(short[7]) * 100;",
    "division": "o[i] = (x % 1000) / ((y & 7) - 9) * 100 + (x % 1000) % ((y & 7) - 9);",
    "enumerators": "enum { RED, GREEN = 5, BLUE }; o[i] = RED + GREEN * 10 + BLUE * 100 + x * 0;",
    "constant table": "o[i] = table[x & 3] + twice(y & 1023) + square(3) + table[get_local_id(0) & 3];",
}  # fmt: skip

SUPPORT = """__constant int table[4] = {3, 1, 4, 1};
static inline int twice(int a) { if (a > 500) return a; return a + a; }
int square(int a) { a *= a; return a; }
"""


@pytest.mark.parametrize("name", STATEMENTS)
def test_statements(name: str, device: Device) -> None:
    source = SUPPORT + (
        "__kernel void values(__global const int* in_int, __global const int* in_other, __global int* o) {"
        f"int i = get_global_id(0); int x = in_int[i] % 100000, y = in_other[i] % 100000;\n{STATEMENTS[name]}\n}}"
    )
    generator = np.random.default_rng(5)
    arrays = {key: generator.integers(-300, 300, LANES).astype("i4") for key in ("in_int", "in_other")}
    compare(device, source, {**arrays, "o": np.zeros(LANES, "i4")})


WORK_ITEMS = """__kernel void values(__global uint* o, __global uint* sums, __global int* ordered) {
    __local uint tile[32]; __local int copy[32];
    const uint l = get_local_id(0), g = get_global_id(0);
    tile[l] = g * g;
    event_t e = async_work_group_copy(copy, ordered + 32 * get_group_id(0), 32, 0);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = get_local_size(0) / 2; s > 0; s >>= 1) {
        if (l < s) tile[l] += tile[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    wait_group_events(1, &e);
    o[g] = tile[0] + copy[31 - l] + get_num_groups(0) * 1000 + get_global_size(0);
    atomic_add(&sums[l & 3], g + 1);
    atomic_max(&sums[4], g);
    atomic_inc(sums + 5);
    atomic_or(&sums[6], 1u << (g & 31));
}"""


def test_groups_barriers_atomics_and_copies(device: Device) -> None:
    arrays = {"o": np.zeros(LANES, "u4"), "sums": np.zeros(8, "u4"), "ordered": np.arange(LANES, dtype="i4") * 3}
    compare(device, WORK_ITEMS, arrays)


HALVES = (
    EXACT
    + """__kernel void values(__global const float* a, __global half* h, __global float* f) {
    const int i = get_global_id(0);
    vstore_half(a[i], i, h);
    vstore_half4_rtz((float4)(a[i], a[i] * 3, 1.0f, a[i] / 3), i + 64, h);
    f[i] = vload_half(i, h) + vload_half4(i + 64, h).w;
}"""
)


def test_half_storage(device: Device) -> None:
    values = inputs()["in_float"]
    compare(device, HALVES, {"a": values, "h": np.zeros(LANES * 8, "f2"), "f": np.zeros(LANES, "f4")})


CLOSE = (
    "exp",
    "exp2",
    "log",
    "log2",
    "log10",
    "sin",
    "cos",
    "tan",
    "atan",
    "tanh",
    "cbrt",
    "erf",
    "rsqrt",
    "sinh",
    "expm1",
)


def test_transcendental_functions_are_close(device: Device) -> None:
    """OpenCL leaves their last bits open: within 16 of them."""
    lines = [("float", f"{name}(fabs(v_float) > 20 ? 0.5f : fabs(v_float))") for name in CLOSE]
    lines += [
        ("float", "pow(fabs(v_float), 1.25f)"),
        ("float", "hypot(v_float, 3.0f)"),
        ("float", "atan2(v_float, 2.0f)"),
    ]
    lines += [
        ("float", "dot((float4)(v_float, 1, 2, 3), (float4)(4, 3, 2, 1))"),
        ("float", "mix(v_float, 2.0f, 0.25f)"),
    ]
    check_lines(device, lines, ulps=16)


CONTRACTED = """__kernel void values(__global const float* in_float, __global const float* other, __global float* o) {
    const int i = get_global_id(0);
    float x = in_float[i], y = other[i], sum = 0.1f;
    for (int j = 0; j < 16; j++) sum += x * other[(i + j) % 64];
    o[i] = sum; o[i + 64] = x * y - sum; o[i + 128] = sum - x * y; o[i + 192] = x * y + sum * x;
    float4 v = (float4)(x, y, sum, 1.5f); v = v * y + v; vstore4(v, i, o + 256);
}"""


def test_products_in_sums_are_contracted_as_the_drivers_do(device: Device) -> None:
    """Without the pragma both drivers round a product in a sum once; `contract` asks for the same."""
    generator = np.random.default_rng(11)
    arrays = {name: generator.normal(size=LANES).astype("f4") for name in ("in_float", "other")}
    arrays["o"] = np.zeros(512, "f4")
    expected = run_driver(device, CONTRACTED, arrays, LANES, 32)["o"]
    found = {
        contract: explain_source(
            CONTRACTED, global_size=(LANES,), local_size=(32,), arguments=dict(arrays), groups="all", contract=contract
        ).outputs["o"]
        for contract in (False, True)
    }
    assert (found[True] == expected).all()
    assert (found[False] != expected).any()
