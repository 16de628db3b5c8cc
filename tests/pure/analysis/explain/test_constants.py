"""Constants of OpenCL C: every part of `#if` and of a constant expression is computed in its own type."""

import numpy as np
import pytest

from tilewright.analysis.explain import explain_source
from tilewright.errors import SourceError


def stored(body: str, prelude: str = "", a: int = 0) -> int:
    """The int that one work-item stores as `o[0]`; `a` is a variable."""
    source = f"{prelude}\n__kernel void k(__global int* o, int a) {{ {body} }}"
    found = explain_source(
        source, entry="k", global_size=(1,), local_size=(1,), arguments={"o": np.zeros(1, np.int32), "a": a}
    )
    return int(found.outputs["o"][0])


# `#if` has intmax_t and uintmax_t, both of 64 bits (C99 6.10.1).
CONDITIONS = {
    "-1 > 0u": 1,
    "~0u > 5": 1,
    "2 - 4u > 10u": 1,
    "(-1)/2u > 5": 1,
    "(2 ? -1 : 0u) > 0": 1,
    "(0 ? 1 % 0u : -1) > 0": 1,
    "-1 < 0": 1,
    "-7 / 2 == -3 && -7 % 3 == -1": 1,
    "(1 < 2) << 40": 1,
    "0xffffffff + 1 > 0xffffffff": 1,
    "-1 >> 63 == -1": 1,
    "0u - 1 == 18446744073709551615u": 1,
    "1u << 63 << 1": 0,
    "(-1 && 0u) - 1 < 0": 1,
    "!0u - 2 < 0": 1,
}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_conditions_have_64_bits_and_signs(condition: str) -> None:
    assert (
        stored("o[0] = YES;", f"#if {condition}\n#define YES 1\n#else\n#define YES 0\n#endif") == CONDITIONS[condition]
    )


def test_a_condition_takes_no_wider_integer() -> None:
    with pytest.raises(SourceError, match="18446744073709551616 does not fit"):
        stored("o[0] = 1;", "#if 18446744073709551616\n#endif")


# what stands before the kernel, its body -> what it stores
EXPRESSIONS = {
    ("enum { F = 1 << 31 };", "o[0] = F < 0;"): 1,
    ("enum { Z = ~0u };", "o[0] = Z > 0 && Z == 4294967295;"): 1,
    ("enum { N = (1 << 31) >> 31 };", "o[0] = N;"): -1,
    ("enum { A = 0x7fffffffffffffff * 0x7fffffffffffffff * 4 };", "o[0] = A;"): 4,
    ("enum { A = 0x7fffffff, B, C = B > 0 };", "o[0] = C + 2 * (B == 0x80000000u) + 4 * (sizeof(B) == 4);"): 7,
    ("enum { A = 0xffffffff, B };", "o[0] = B == 1l << 32;"): 1,
    ("enum { A = 1, B = 0x100000000 };", "o[0] = sizeof(A) + (A - 2 > 0) + 2 * (A << 33 >> 33);"): 11,
    ("enum { A = -1, B = 0x80000000 };", "o[0] = sizeof(A) + (A < 0u) + 2 * (-B < 0);"): 11,
    ("enum { A = 1, B = 0x80000000 };", "o[0] = sizeof(A) + (A - 2 > 0);"): 5,
    ("enum { A = 0x100000000, B = 1, C = sizeof(B), D = B - 2 < 0 };", "o[0] = C + D;"): 5,
    ("enum { A = 0x7fffffffffffffff, B };", "o[0] = B > 0 && B == 0x8000000000000000;"): 1,
    ("enum __attribute__((packed)) E { A = 255 };", "enum E e = A; o[0] = 10 * e + sizeof(e);"): 2551,
    ("enum E { A = 255, B = -1 } __attribute__((packed));", "enum E e = A; o[0] = 10 * e + sizeof(e);"): 2552,
    ("enum { A = 1 << 40 };", "o[0] = A;"): 256,  # OpenCL takes counts modulo the width
    ("", "int x[-1 > 0u ? 8 : 4]; o[0] = sizeof(x) / 4;"): 8,
    ("", "int x[(1 ? -1 : 0u) > 0 ? 8 : 4]; o[0] = sizeof(x) / 4;"): 8,
    ("", "int x[(1 ? -1 : sizeof(int)) > 0 ? 8 : 4]; o[0] = sizeof(x) / 4;"): 8,
    ("", "int x[(bool)4]; o[0] = sizeof(x) / 4;"): 1,
    ("", "int x[(uchar)300]; o[0] = sizeof(x) / 4;"): 44,
    ("", "int x[0 && 1 / 0 ? 8 : 4]; o[0] = sizeof(x) / 4;"): 4,
    ("", "int x[1 || 1 / 0 ? 8 : 4]; o[0] = sizeof(x) / 4;"): 8,
    ("", "const uchar U = 300; int r[U]; o[0] = sizeof(r) / 4;"): 44,
    ("", "const char C = 200; int r[C < 0 ? 8 : 4]; o[0] = sizeof(r) / 4;"): 8,
    ("", "const uint U = -1; int r[U > 0 ? 8 : 4]; o[0] = sizeof(r) / 4;"): 8,
    ('_Static_assert(sizeof(int) - 5 > 0, "x"); _Static_assert((1 << 31) < 0, "x");', "o[0] = 1;"): 1,
}


@pytest.mark.parametrize(("prelude", "body"), EXPRESSIONS)
def test_constant_expressions_are_typed(prelude: str, body: str) -> None:
    assert stored(body, prelude) == EXPRESSIONS[prelude, body]


@pytest.mark.parametrize(
    ("prelude", "said"),
    [
        (
            "enum { A = 0xffffffffffffffff, B };",
            "1:32: enumerator 'B' would be 18446744073709551616, which no integer type",
        ),
        (
            "enum { A = -1, B = 0x8000000000000000 };",
            "1:1: no integer type holds both enumerators -1 and 92233720368547758",
        ),
    ],
)
def test_enumerators_that_no_type_holds_are_refused(prelude: str, said: str) -> None:
    with pytest.raises(SourceError, match=said):
        stored("", prelude)


def test_an_assertion_compares_unsigned_numbers() -> None:
    with pytest.raises(SourceError, match="_Static_assert: below"):
        stored("o[0] = 1;", '_Static_assert(-1 < 0u, "below");')


# the subject of a `switch`, for a = INT_MIN; one label -> whether it is that case
LABELS = {
    ("a & (1 << 31)", "1 << 31"): 1,
    ("(long)(a >> 31)", "~0u"): 0,
    ("a >> 31", "~0u"): 1,
    ("(uint)(a >> 31)", "-1"): 1,
    ("(ulong)(a >> 31)", "0xffffffffffffffff"): 1,
    ("(uchar)(a >> 31)", "-1"): 0,
    ("(uchar)(a >> 31)", "0x1000000ffl"): 1,
}


@pytest.mark.parametrize(("subject", "label"), LABELS)
def test_labels_have_the_type_of_the_subject(subject: str, label: str) -> None:
    body = f"switch ({subject}) {{ case {label}: o[0] = 1; break; default: o[0] = 0; }}"
    assert stored(body, a=-(1 << 31)) == LABELS[subject, label]


def test_labels_that_become_the_same_are_refused() -> None:
    with pytest.raises(SourceError, match="two cases for -1"):
        stored("switch (a) { case -1: break; case ~0u: o[0] = 1; }")


CHARACTERS = {
    r"'\377'": -1,
    r"'\x80'": -128,
    "'a'": 97,
    "'ab'": 24930,
    "'abcd'": 0x61626364,
    r"'\377\377'": 65535,
    r"'\377abc'": 0x616263 - (1 << 24),
    r"'\0'": 0,
    r"'\''": 39,
    r"'\n1'": 0x0A31,
}


@pytest.mark.parametrize("character", CHARACTERS)
def test_characters_are_signed(character: str) -> None:
    prelude = f"#if {character} == {CHARACTERS[character]}\n#define SAME 1\n#else\n#define SAME 0\n#endif"
    assert stored(f"o[0] = SAME ? {character} : 1 << 20;", prelude) == CHARACTERS[character]


@pytest.mark.parametrize("character", [r"'\400'", r"'\x100'", r"'\q'", r"'a\q'", "'€'"])
def test_characters_of_more_than_a_byte_are_refused(character: str) -> None:
    with pytest.raises(SourceError, match="is not a known character"):
        stored(f"o[0] = {character};")


def test_a_string_keeps_its_bytes() -> None:
    assert stored(r'__constant char* t = "\377\x80z"; o[0] = t[0] * 10000 + t[1] * 100 + t[2];') == -10000 - 12800 + 122


# The bits of each, rounded once to nearest even; 1 + 2^-24 and 65520 are ties, and the digits behind them decide.
FLOATS = {
    "as_int(16777217.0f)": 0x4B800000,
    "as_int(16777217.0000000001f)": 0x4B800001,
    "as_int(16777219.0f)": 0x4B800002,
    "as_int(1.00000017881393432617187499f)": 0x3F800001,
    "as_int(0x1.0000010000000001p0f)": 0x3F800001,
    "as_int(0x1.000001p0f)": 0x3F800000,
    "as_int(3.40282356779733661637539395458142568447e38f)": 0x7F7FFFFF,
    "as_int(3.4028236e38f)": 0x7F800000,
    "as_int(1e39f)": 0x7F800000,
    "as_int(1e-400f)": 0,
    "as_int(1e-46f)": 0,
    "as_int(0x1p-150f)": 0,
    "as_int(0x1.0000000000000001p-150f)": 1,
    "as_int(0x.8p1f)": 0x3F800000,
    "as_short(1.00048828125h)": 0x3C00,
    "as_short(1.00048828125000000000000001h)": 0x3C01,
    "as_short(65519.9999999999999999h)": 0x7BFF,
    "(ushort)as_short(65520.0h)": 0x7C00,
    f"as_int(1.{'0' * 6000}1f)": 0x3F800000,
}


@pytest.mark.parametrize("literal", FLOATS, ids=lambda literal: literal[:40])
def test_literals_are_rounded_once(literal: str) -> None:
    assert stored(f"o[0] = {literal};", "#pragma OPENCL EXTENSION cl_khr_fp16 : enable") == FLOATS[literal]


STRUCT = "typedef struct { float4 v; short s[3]; char c; } T; constant float W[] = {1, 2, 3};"
# expression -> its size; `t` is a T, `p` points to it, `z` has 5 shorts, `L` 6 floats in local memory
SIZES = {
    "sizeof(z)": 10,
    "sizeof(z) / sizeof(z[0])": 5,
    "sizeof(L) / sizeof(*L)": 6,
    "sizeof W / sizeof *W": 3,
    "sizeof(t.s)": 6,
    "sizeof(p->v)": 16,
    "sizeof(t.v.x)": 4,
    "sizeof(t.v.xy)": 8,
    "sizeof(*p)": 32,
    "sizeof(&t)": 8,
    "sizeof(z + 1)": 8,
    "sizeof(t.c)": 1,
    "sizeof(t.c + t.c)": 4,
    "sizeof(a + 1l)": 8,
    "sizeof(a < 1l)": 4,
    "sizeof(1.0f + 1)": 4,
    "sizeof(a = 3)": 4,
    "sizeof(t.c++)": 1,
    'sizeof("text")': 5,
    "sizeof('a')": 4,
}


@pytest.mark.parametrize("expression", SIZES)
def test_sizes_of_expressions_are_constants(expression: str) -> None:
    body = f"short z[5]; local float L[6]; T t; T* p = &t; char b[{expression}]; enum {{ E = {expression} }};"
    body += f"switch (sizeof(b)) {{ case {expression}: o[0] = sizeof(b) == E ? E : -1; }}"
    assert stored(body, STRUCT) == SIZES[expression]


def test_a_size_is_that_of_the_variable_in_scope() -> None:
    body = "char c[3]; { float c[9]; char d[sizeof(c)]; o[0] = sizeof(d); } char e[sizeof(c)]; o[0] += 100 * sizeof(e);"
    assert stored(body) == 336
