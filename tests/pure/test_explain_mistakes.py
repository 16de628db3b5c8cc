"""Common mistakes in kernels are caught at their line, and the same kernels done right have no findings."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tilewright.analysis.explain import Explanation, LocalMemory, explain_source

GROUP, GROUPS = 64, 5
ITEMS = GROUP * GROUPS
WAIT = "barrier(CLK_LOCAL_MEM_FENCE);"
HEAD = (
    "__kernel void k(__global float* o, __global const float* a, volatile __global int* c, __local float* t, int n) {"
    " int l = get_local_id(0), g = get_global_id(0), w = get_group_id(0);\n"
)


@dataclass(frozen=True)
class Mistake:
    """A body whose fault is of this kind and on this line, 2 being its first; and how it is done right."""

    kind: str
    line: int
    wrong: str
    right: str


def explain(body: str, changes: Mapping[str, Any] | None = None) -> Explanation:
    """Five groups of 64 work-items; `n` is 300, so that the last group is ragged; a and o have n elements, c 256 counters."""
    arguments: dict[str, Any] = {
        "o": np.zeros(300, np.float32), "a": np.ones(300, np.float32), "c": np.zeros(256, np.int32),
        "t": LocalMemory(4 * GROUP), "n": 300,
    }  # fmt: skip
    return explain_source(
        HEAD + body + "\n}", global_size=(ITEMS,), local_size=(GROUP,), arguments=arguments | dict(changes or {})
    )


SUM = f"""for (int s = 32; s; s >>= 1) {{
    if (l < s) t[l] += t[l + s];
    {WAIT}
}}
if (l == 0) o[w] = t[0];"""

MISTAKES = {
    "missing barrier": Mistake(
        "data race", 3, "t[l] = l;\nfloat x = t[63 - l]; if (g < n) o[g] = x;",
        f"t[l] = l; {WAIT}\nfloat x = t[63 - l]; if (g < n) o[g] = x;",
    ),
    "missing barrier in a reduction": Mistake(
        "data race", 4, f"t[l] = l; {WAIT}\n{SUM.replace('    ' + WAIT, '')}", f"t[l] = l; {WAIT}\n{SUM}",
    ),
    "missing second barrier of a loop": Mistake(
        "data race", 3, f"float x = 0; for (int i = 0; i < 3; i++) {{\nt[l] = i;\n{WAIT} x += t[63 - l]; }} if (g < n) o[g] = x;",
        f"float x = 0; for (int i = 0; i < 3; i++) {{\nt[l] = i;\n{WAIT} x += t[63 - l]; {WAIT} }} if (g < n) o[g] = x;",
    ),
    "race in the ragged group only": Mistake(
        "data race", 2, "if (w == 4 && l > 40) t[0] = l;\nif (g < n) o[g] = l;",
        "if (w == 4 && l == 40) t[0] = l;\nif (g < n) o[g] = l;",
    ),
    "race in a middle group only": Mistake(
        "data race", 2, "if (w == 3) t[l / 2] = l;\nif (g < n) o[g] = l;", "if (w == 3) t[l] = l;\nif (g < n) o[g] = l;",
    ),
    "wrong fence": Mistake(
        "data race", 3, "t[l] = l; barrier(CLK_GLOBAL_MEM_FENCE);\nfloat x = t[63 - l]; if (g < n) o[g] = x;",
        "t[l] = l; barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\nfloat x = t[63 - l]; if (g < n) o[g] = x;",
    ),
    "mem_fence for a barrier": Mistake(
        "data race", 3, "t[l] = l; mem_fence(CLK_LOCAL_MEM_FENCE);\nfloat x = t[63 - l]; if (g < n) o[g] = x;",
        f"t[l] = l; mem_fence(CLK_LOCAL_MEM_FENCE); {WAIT}\nfloat x = t[63 - l]; if (g < n) o[g] = x;",
    ),
    "early return before a barrier": Mistake(
        "divergent barrier", 3, f"t[l] = 0; if (g >= n) return;\n{WAIT}\no[g] = t[63 - l];",
        f"t[l] = 0;\n{WAIT}\nif (g >= n) return; o[g] = t[63 - l];",
    ),
    "read one too far at the edge": Mistake(
        "out of bounds", 2, "if (g < n) o[g] = a[g + 1];", "if (g < n - 1) o[g] = a[g + 1];",
    ),
    "write without a guard": Mistake("out of bounds", 2, "o[g] = 1;", "if (g < n) o[g] = 1;"),
    "negative index": Mistake("out of bounds", 2, "if (g < n) o[g] = a[g - 1];", "if (g < n && g > 0) o[g] = a[g - 1];"),
    "local memory too small": Mistake(
        "out of bounds", 2, "t[l + 1] = l;\nif (g < n) o[g] = l;", "t[l] = l;\nif (g < n) o[g] = l;",
    ),
    "out of bounds in a middle group": Mistake(
        "out of bounds", 3, "int i = g; if (w == 2) i *= 70;\nif (g < n) o[i] = 1;",
        "int i = g; if (w == 2) i *= 1;\nif (g < n) o[i] = 1;",
    ),
    "unset private": Mistake(
        "uninitialised read", 3, "float x;\nx += a[0]; if (g < n) o[g] = x;", "float x = 0;\nx += a[0]; if (g < n) o[g] = x;",
    ),
    "partly unset local": Mistake(
        "uninitialised read", 3, f"if (l < 60) t[l] = 1; {WAIT}\nfloat x = t[63 - l]; if (g < n) o[g] = x;",
        f"t[l] = l < 60; {WAIT}\nfloat x = t[63 - l]; if (g < n) o[g] = x;",
    ),
    "misaligned vector": Mistake(
        "misaligned access", 2, "if (g == 0) { float4 v = *(__global const float4*)(a + 1); o[0] = v.x; }",
        "if (g == 0) o[0] = vload4(0, a + 1).x;",
    ),
    "write to const": Mistake(
        "write to read-only memory", 2, "if (g < n) ((__global float*)a)[g] = 1;", "if (g < n) o[g] = a[g];",
    ),
    "wild pointer": Mistake(
        "wild pointer", 3, "__global const float* p = 0;\nif (g < n) o[g] = *p;",
        "__global const float* p = a;\nif (g < n) o[g] = *p;",
    ),
    "plain read of an atomic counter": Mistake(
        "race between groups", 3, "if (l == 0) atomic_inc(c);\nif (l == 0) o[w] = c[0];",
        "int old = 0; if (l == 0) old = atomic_inc(c);\nif (l == 0) o[w] = old;",
    ),
    "neighbour of another group": Mistake(
        "race between groups", 3, "if (g < n) o[g] = l;\nif (g + 64 < n) o[g] += o[g + 64];",
        "if (g < n) o[g] = l;\nif (g + 64 < n) o[g] += a[g + 64];",
    ),
    "histogram without atomics": Mistake(
        "race between groups", 2, "if (g < n) c[g % 7] += 1;", "if (g < n) atomic_inc(&c[g % 7]);",
    ),
    "int overflow in an index": Mistake(
        "integer overflow", 2, "int i = (g + 1) * (1 << 24) * 2 >> 25;\nif (i > 0 && i <= n) o[i - 1] = 1;",
        "long i = (g + 1) * (long)(1 << 24) * 2 >> 25;\nif (i > 0 && i <= n) o[i - 1] = 1;",
    ),
    "int overflow in a sum": Mistake(
        "integer overflow", 3, "int s = 0;\nfor (int i = 0; i < n; i++) s += 10000000;\nif (g < n) o[g] = s;",
        "uint s = 0;\nfor (int i = 0; i < n; i++) s += 10000000;\nif (g < n) o[g] = s;",
    ),
    "int index of 65536 x 65536": Mistake(
        "integer overflow", 2, "int i = (g + 65500) * 65536;\nif (i == 7) o[0] = i;",
        "long i = (g + 65500) * 65536L;\nif (i == 7) o[0] = i;",
    ),
    "division by zero": Mistake(
        "division by zero", 2, "if (g < n) o[g] = n / (g - 7);", "if (g < n) o[g] = g == 7 ? 0 : n / (g - 7);",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_caught_at_their_line(name: str) -> None:
    mistake = MISTAKES[name]
    assert (mistake.kind, mistake.line) in {(each.kind, each.position.line) for each in explain(mistake.wrong).faults}


@pytest.mark.parametrize("name", MISTAKES)
def test_the_same_done_right_has_no_findings(name: str) -> None:
    assert explain(MISTAKES[name].right).findings == ()


def test_a_shift_by_too_much_is_told_though_the_specification_defines_it() -> None:
    found = explain("int x = 1 << (g + 30);\nif (g < n) o[g] = x;").findings
    assert {(each.kind, each.position.line) for each in found} == {("shift", 2)}
    assert {each.example.split(",")[0] for each in found} == {"1 << 31", "1 << 32"}
    assert explain("uint x = 1u << (g & 31);\nif (g < n) o[g] = x;").findings == ()


def test_the_wrong_dimension_is_told_by_what_is_left_out() -> None:
    found = explain("if (get_global_id(1) < n) o[get_global_id(1)] = 1;")
    assert [(each.buffer, each.written, each.contested, each.gap) for each in found.coverage if each.written] == [
        ("o", 1, 1, "elements 1 to 299")
    ]
