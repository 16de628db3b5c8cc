"""Arithmetic that OpenCL C leaves open: `explain` names the line, the rule and the values; unsigned integers may wrap."""

import numpy as np
import pytest

from tilewright.analysis.explain import Explanation, explain_source

HEAD = (
    "__kernel void k(__global int* o, __global const int* a, __global const float* f, int n) {"
    "int g = get_global_id(0);\n"
)
VALUES = np.array([2**31 - 1, -(2**31), 0, -1, 5, 40, -5, 1 << 20] * 8, np.int32)
FLOATS = np.array([1e10, -3.7, np.nan, 2147483520, -1, 300, -2147483648, np.inf] * 8, np.float32)


def explain(body: str) -> Explanation:
    """Two groups of 32 work-items; the body starts on line 2; item i finds VALUES[i] in a[g] and FLOATS[i] in f[g]."""
    return explain_source(
        HEAD + body + "}",
        global_size=(64,),
        local_size=(32,),
        arguments={"o": np.zeros(64, np.int32), "a": VALUES, "f": FLOATS, "n": 65536},
        groups="all",
    )


OVERFLOW, DIVISION = "integer overflow", "division by zero"
FAULTS = {
    "a sum": ("o[g] = a[g] + 1;", OVERFLOW, 2, "2147483647 + 1, work-item (0)"),
    "a sum of a loop": ("int s = 2147483000;\nfor (int i = 0; i < 100; i++) s += 50;\no[g] = s;", OVERFLOW, 3, " + 50,"),
    "a sum of what is read": ("int s = 0;\nfor (int i = 0; i < 64; i++) s += a[i];\no[g] = s;", OVERFLOW, 3, "+"),
    "a difference": ("o[g] = a[g] - 2;", OVERFLOW, 2, "-2147483648 - 2, work-item (1)"),
    "a product": ("int x = 3;\no[g] = x * a[g];", OVERFLOW, 3, "3 * 2147483647"),
    "a product of 64 bits": ("long x = n;\nx = x * n * n;\nlong y = g + 32768;\no[g] = x * y != 7;", OVERFLOW, 5, "* 32768"),
    "a negative": ("o[g] = -a[g];", OVERFLOW, 2, "0 - -2147483648"),
    "a step": ("int x = a[g];\nx++;\no[g] = x;", OVERFLOW, 3, "2147483647 + 1"),
    "an index of 65536 x 65536": ("int i = (g + 65500) * n + 1;\nif (i == 12345) o[g] = 1;", OVERFLOW, 2, "65500 * 65536"),
    "constants": ("o[g] = 2147483647 + 1;", OVERFLOW, 2, "2147483647 + 1"),
    "a vector": ("int4 v = (int4)(a[g]) + (int4)(0, 0, 0, 7);\no[g] = v.w;", OVERFLOW, 2, "2147483647 + 7"),
    "some items only": ("if (g == 40)\no[g] = a[g] + 1;", OVERFLOW, 3, "work-item (8) of group (1)"),
    "division by zero": ("o[g] = 100 / a[g];", DIVISION, 2, "100 / 0, work-item (2)"),
    "division by an unsigned zero": ("uint u = g;\no[g] = 100u / u;", DIVISION, 3, "100 / 0"),
    "remainder by zero": ("o[g] = n % (g - 3);", DIVISION, 2, "65536 % 0, work-item (3)"),
    "division of a vector by zero": ("int4 v = (int4)(n);\no[g] = (v / a[g]).w;", DIVISION, 3, "65536 / 0, work-item (2)"),
    "division by a zero for all": ("int z = n - 65536;\no[g] = 7 / z;", DIVISION, 3, "7 / 0"),
    "a quotient too large": ("int m = -1;\no[g] = a[g] / m;", OVERFLOW, 3, "-2147483648 / -1"),
    "a remainder of such": ("int m = -1;\no[g] = a[g] % m;", OVERFLOW, 3, "-2147483648 % -1"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_undefined_arithmetic_is_a_fault_of_its_line_with_values(name: str) -> None:
    body, kind, line, values = FAULTS[name]
    (fault,) = explain(body).faults
    assert (fault.kind, fault.position.line) == (kind, line)
    assert values in fault.example


NOTES = {
    "a count too large": ("o[g] = 1 << 2 * (g & 31);", "shift", 2, "1 << 32"),
    "a negative count": ("o[g] = n >> (g - 1);", "shift", 2, "65536 >> -1"),
    "a count too large for a vector": ("int4 v = n;\no[g] = (v >> (g + 10)).w;", "shift", 3, "65536 >> 32, work-item (22)"),
    "a constant count": ("o[g] = n >> 32;", "shift", 2, "65536 >> 32"),
    "bits moved out": ("int h = g + 1;\nh ^= h << 29;\no[g] = h;", "shift", 3, "4 << 29, work-item (3)"),
    "a float too large": ("int x = f[g];\no[g] = x;", "conversion out of range", 2, "10000000000"),
    "a cast of NaN": ("o[g] = g % 8 == 2 ? (int)f[g] : 0;", "conversion out of range", 2, "nan becomes"),
    "a negative float": ("o[g] = g % 8 == 4 ? (uint)f[g] : 0;", "conversion out of range", 2, "-1.0 becomes"),
    "a function": ("o[g] = g % 8 == 5 ? convert_uchar(f[g]) : 0;", "conversion out of range", 2, "300.0 becomes"),
    "a long index cut off": ("int i = (get_global_id(0) + 65500) * n;\nif (i == 12345) o[g] = 1;",
                             "conversion out of range", 2, "4292608000 becomes -2359296"),
}  # fmt: skip


@pytest.mark.parametrize("name", NOTES)
def test_what_the_specification_defines_or_leaves_to_the_device_is_a_note(name: str) -> None:
    body, kind, line, values = NOTES[name]
    explanation = explain(body)
    assert explanation.faults == ()
    found = [each for each in explanation.findings if each.kind == kind]
    assert {each.position.line for each in found} == {line}
    assert any(values in each.example for each in found)


RIGHT = {
    "unsigned sums wrap": "uint u = a[g]; u = u * 2654435761u + 12345u; o[g] = u - 7u;",
    "an unsigned hash": "uint h = g + 1; h ^= h << 13; h ^= h >> 17; h ^= h << 5; o[g] = h & 7;",
    "a size_t below zero": "int i = get_global_id(0) - 1; o[g] = i;",
    "a size_t that is taken away": "int i = g; i -= get_local_size(0); o[g] = i;",
    "guarded": "o[g] = a[g] > 0 && a[g] < 1000 ? 1000 / a[g] : 0;",
    "guarded by if": "if (a[g] < 1000 && a[g] > -1000) o[g] = a[g] * a[g] + a[g];",
    "items that returned": "if (a[g] == 2147483647) return; o[g] = a[g] + 1;",
    "short circuit": "o[g] = a[g] != 0 && a[g] != -1 && 100 % a[g] == 3;",
    "the ends": "int x = 2147483647, y = -2147483647 - 1; o[g] = x - 1 + (y + 1) + (x & y);",
    "bytes are promoted": "char c = 127; c++; c = c * c; o[g] = c;",
    "wide enough": "long s = a[g]; s = s * s + s; o[g] = s != 3;",
    "the largest product of 64 bits": "long s = 3037000499; o[g] = s * s > 0;",
    "shifts within the width": "o[g] = (1 << (g & 30)) + (-8 >> 1) + (n << 14) + (-1 << 4);",
    "the sign bit as a constant": "o[g] = (1 << 31) & n;",
    "floats in range": "o[g] = (int)(0.5f * g) + (uchar)255.9f + convert_char_sat(f[g]);",
    "division": "o[g] = (g + 5) / (g + 1) + (g - 70) % 7 + g / -1;",
    "a long loop": "int s = 0; for (int i = 0; i < 2000; i++) s += i; o[g] = s;",
}


@pytest.mark.parametrize("name", RIGHT)
def test_defined_arithmetic_has_no_findings(name: str) -> None:
    assert explain(RIGHT[name]).findings == ()


def test_one_line_is_told_once_with_its_count() -> None:
    (fault,) = explain("for (int i = 0; i < 10; i++)\no[g] = a[g] + (i + 1);").faults
    assert fault.position.line == 3
    assert fault.count == 80  # 8 items, 10 times: what overflowed starts anew in each
    assert "undefined" in fault.text
