"""The sanitizer of `explain`: every fault is found with both places, and right kernels have none."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.analysis.explain import Argument, Explanation, Finding, explain_kernel, explain_source
from tilewright.core.kernel import Kernel
from tilewright.core.problem import output_of, random_arrays
from tilewright.core.problems import make_problem
from tilewright.kernels import LADDERS
from tilewright.kernels.known_bad import KNOWN_BAD

HEAD = (
    "__kernel void k(__global int* o, __global const int* a, int n) {"
    "__local int t[64]; int l = get_local_id(0), g = get_global_id(0);\n"
)
WAIT = "barrier(CLK_LOCAL_MEM_FENCE);"


def explain(body: str, *, groups: int = 2, arrays: dict[str, np.ndarray] | None = None) -> Explanation:
    """A kernel of groups of 32; its body starts on line 2."""
    arguments: dict[str, Argument] = {"o": np.zeros(64 * groups, np.int32), "a": np.arange(64 * groups, dtype=np.int32)}
    arguments.update(arrays or {})
    return explain_source(
        HEAD + body + "}", global_size=(32 * groups,), local_size=(32,), arguments={**arguments, "n": 7}, groups="all"
    )


def found(body: str, **options: Any) -> list[tuple[str, int]]:
    return [(each.kind, each.position.line) for each in explain(body, **options).findings]


FAULTS: dict[str, tuple[str, list[tuple[str, int]]]] = {
    "missing barrier": ("t[l] = g;\no[g] = t[31 - l];", [("data race", 3)]),
    "missing second barrier": (
        f"for (int i = 0; i < 3; i++) {{\nt[l] = i;\n{WAIT}\no[g] += t[(l + 1) % 32];\n}}",
        [("data race", 3)],
    ),
    "wrong fence": ("t[l] = g;\nbarrier(CLK_GLOBAL_MEM_FENCE);\no[g] = t[31 - l];", [("data race", 4)]),
    "several store one place": ("t[0] = l;", [("data race", 2)]),
    "race in global memory": ("o[g] = l;\nint x = o[g ^ 1];\no[g + 64] = x;", [("data race", 3)]),
    "race between groups": ("o[l] = g;", [("race between groups", 2)]),
    "group reads what another writes": ("o[g] = l;\nint x = o[(g + 32) % 64];\no[g + 64] = x;", [("race between groups", 3)]),
    "out of bounds load": ("o[g] = a[g + 65];", [("out of bounds", 2)]),
    "out of bounds store": ("o[g - 1] = 1;", [("out of bounds", 2)]),
    "out of bounds local": ("t[l + 33] = 1;", [("out of bounds", 2)]),
    "private subscript": ("int p[4] = {1, 2, 3, 4};\no[g] = p[l & 7];", [("out of bounds", 3)]),
    "private array through a pointer": (
        "int p[4] = {0}; int* q = p;\no[g] = q[l & 7];", [("out of bounds", 3)],
    ),
    "null pointer": ("__global int* p = 0;\nif (n == 7) p[0] = 1;", [("wild pointer", 3)]),
    "far store": ("o[1ul << 62] = 1;", [("out of bounds", 2)]),
    "store as far as another buffer": ("o[(1ul << 38) + g] = 1;", [("out of bounds", 2)]),
    "far load backwards": ("o[g] = a[g - (1l << 61)] + a[1l << 63];", [("out of bounds", 2)]),
    "far local": ("t[l] = 1;\no[g] = t[l + (1ul << 62)];", [("out of bounds", 3)]),
    "far vector": (
        "vstore4((int4)(1), 1ul << 60, o);\n((__global int4*)o)[1ul << 60] = 1;", [("out of bounds", 2), ("out of bounds", 3)],
    ),
    "far private": ("int p[4] = {1}; int* q = p;\no[g] = q[(1ul << 62) + 1];", [("out of bounds", 3)]),
    "unset local": ("o[g] = t[l];", [("uninitialised read", 2)]),
    "half set local": (f"if (l < 16) t[l] = 1;\n{WAIT}\no[g] = t[l];", [("uninitialised read", 4)]),
    "unset private": ("int x;\nif (l > 3) x = 1;\no[g] = x;", [("uninitialised read", 4)]),
    "unset element": ("int x[3]; x[0] = 1; x[2] = 2;\no[g] = x[0] + x[1];", [("uninitialised read", 3)]),
    "unset component": ("int2 x; x.x = 1;\no[g] = x.x + x.y;", [("uninitialised read", 3)]),
    "unset through a pointer": ("int x; int* p = &x;\no[g] = *p;", [("uninitialised read", 3)]),
    "divergent barrier": (f"if (l < 16)\n{WAIT}\no[g] = 1;", [("divergent barrier", 3)]),
    "barrier after return": (f"if (l == 5) return;\n{WAIT}\no[g] = 1;", [("divergent barrier", 3)]),
    "barrier in a loop of own length": (f"for (int i = 0; i < l; i++) {{\n{WAIT}\n}}", [("divergent barrier", 3)]),
    "misaligned vector": (
        "__global int4* p = (__global int4*)(o + 1);\np[g] = (int4)(1);", [("misaligned access", 3), ("out of bounds", 3)],
    ),
    "write to const": ("__global int* p = (__global int*)a;\np[g] = 1;", [("write to read-only memory", 3)]),
    "atomic against plain": (
        "atomic_add(&o[0], 1);\nif (g == 33) o[0] = 3;", [("data race", 3), ("race between groups", 3)],
    ),
    "async copy without waiting": (
        f"event_t e = async_work_group_copy(t, a, 32, 0);\no[g] = t[l];\n{WAIT}\nwait_group_events(1, &e);",
        [("data race", 3)],
    ),
    "local memory set during its copy": (
        f"t[l] = g; {WAIT}\nevent_t e = async_work_group_copy(o + g - l, t, 32, 0);\nt[l] = 5;\nwait_group_events(1, &e);",
        [("data race", 4)],
    ),
    "a copy's target used by another group": (
        f"t[l] = g; {WAIT}\nif (g < 32) {{ event_t e = async_work_group_copy(o, t, 32, 0); wait_group_events(1, &e); }}\n"
        "if (g > 31) o[g - 32] = 99;",
        [("race between groups", 4)],
    ),
    "divergent async copy": (
        "event_t e = 0;\nif (l < 8) e = async_work_group_copy(t, a, 32, 0);\nwait_group_events(1, &e);",
        [("divergent barrier", 3)],
    ),
    "different async copies": (
        "event_t e = async_work_group_copy(t, a + l / 16, 32, 0);\nwait_group_events(1, &e);", [("async copy", 2)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_found(name: str) -> None:
    body, expected = FAULTS[name]
    assert sorted(set(found(body))) == sorted(expected)


RIGHT = {
    "two barriers": f"for (int i = 0; i < 3; i++) {{ t[l] = i; {WAIT} o[g] += t[(l + 1) % 32]; {WAIT} }}",
    "own place again and again": "t[l] = 1; t[l] += g; o[g] = t[l]; o[g] = t[l] * o[g];",
    "reduction": f"t[l] = g; {WAIT} for (int s = 16; s; s >>= 1) {{ if (l < s) t[l] += t[l + s]; {WAIT} }} o[g] = t[0];",
    "atomics": f"if (l == 0) t[0] = 0; {WAIT} atomic_inc(&t[0]); atomic_add(&o[0], 1); {WAIT} if (t[0] != 32) o[64] = 1;",
    "barrier that all of a group skip": f"if (get_group_id(0) == 1) {{ {WAIT} }} o[g] = 1;",
    "guarded edge": "if (g < 40) o[g] = a[g];",
    "guarded reads": "int x; if (l > 3) x = a[g]; o[g] = l > 3 ? x : 0;",
    "set in a loop": "int x[4], s = 0; for (int i = 0; i < 4; i++) x[i] = i; for (int i = 0; i < 4; i++) s += x[i]; o[g] = s;",
    "vector by parts": "int4 x; x.x = 1; x.y = 2; x.zw = x.xy; o[g] = x.w;",
    "async copy": "event_t e = async_work_group_copy(t, a, 32, 0); wait_group_events(1, &e); o[g] = t[31 - l];",
    "async copy back": f"t[l] = g; {WAIT} event_t e = async_work_group_copy(o + g - l, t, 32, 0); wait_group_events(1, &e);",
    "local memory set after its copy": f"""t[l] = g; {WAIT} event_t e = async_work_group_copy(o + g - l, t, 32, 0);
        wait_group_events(1, &e); t[l] = 5;""",
    "a copy's target used by its group": f"""t[l] = g; {WAIT} event_t e = async_work_group_copy(o + g - l, t, 32, 0);
        wait_group_events(1, &e); o[g] += 7;""",
    "two buffers": f"""t[l] = 0; {WAIT}
        for (int i = 0; i < 5; i++) {{ t[(i + 1) % 2 * 32 + l] = i; o[g] += t[i % 2 * 32 + 31 - l]; {WAIT} }}""",
    "loose vector": "typedef int4 loose __attribute__((aligned(4))); if (g == 0) *(__global loose*)(o + 1) = (int4)(1);",
    "vload at an odd place": "if (g == 0) vstore4(vload4(0, a + 1), 0, o + 3);",
    "global fence": "o[g] = l; barrier(CLK_GLOBAL_MEM_FENCE); int x = o[g ^ 1]; barrier(CLK_GLOBAL_MEM_FENCE); o[g] = x;",
    "lanes leave early": "if (g > 40) return; int x = a[g]; if (x == 3) return; o[g] = x;",
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_right_kernels_have_no_findings(name: str) -> None:
    assert explain(RIGHT[name]).findings == ()


def test_benign_races_are_named_and_are_no_faults() -> None:
    explanation = explain("t[0] = 5;\no[0] = n;")
    assert {(each.kind, each.position.line) for each in explanation.findings} == {
        ("benign race", 2),
        ("benign race", 3),
        ("benign race between groups", 3),
    }
    assert explanation.faults == ()


def test_a_race_names_both_lines_and_an_example() -> None:
    (race,) = explain("t[l] = g;\n\no[g] = t[l ^ 1];").findings
    assert race.position.line == 4
    assert race.other is not None
    assert race.other.line == 2
    assert race.count == 64
    assert "local 't'" in race.text
    assert "line 2" in race.text
    assert race.example.startswith("work-item (0) of group (0) against work-item (1) of group (0), byte 4")


def test_out_of_bounds_says_where() -> None:
    (fault,) = explain("o[g] = a[g + 65];").findings
    assert fault.text == "load of 4 bytes outside global 'a' of 512 bytes"
    assert fault.example == "byte 512, work-item (31) of group (1)"
    assert fault.count == 1


@pytest.mark.parametrize(
    ("body", "text", "example"),
    [
        ("*(__global int*)0 = 1;", "null pointer", "work-item (0) of group (0)"),
        ("((__global int*)0)[3] = 1;", "null pointer", "address 0xc, work-item (0) of group (0)"),
        (
            "*(__global int*)(ulong)-4 = 1;",
            "pointer to nothing",
            "address 0xfffffffffffffffc, work-item (0) of group (0)",
        ),
        (
            "o[1ul << 62] = 1;",
            "global 'o' of 512 bytes",
            "at least 137438953472 bytes away, work-item (0) of group (0)",
        ),
    ],
)
def test_stray_pointers_say_where_they_point(body: str, text: str, example: str) -> None:
    (fault,) = explain(body).findings
    assert fault.text.endswith(text)
    assert fault.example == example


def test_buffers_that_numpy_says_are_read_only() -> None:
    frozen = np.zeros(128, np.int32)
    frozen.flags.writeable = False
    assert found("o[g] = 1;", arrays={"o": frozen}) == [("write to read-only memory", 2)]


def test_the_callers_arrays_stay_as_they_are() -> None:
    mine = np.zeros(128, np.int32)
    explanation = explain("o[g] = 9;", arrays={"o": mine})
    assert not mine.any()
    assert (explanation.outputs["o"][:64] == 9).all()


def test_groups_of_different_batches_race_too() -> None:
    source = "__kernel void k(__global int* o) { o[get_global_id(0) % 512] = get_global_id(0); }"
    found = explain_source(
        source, global_size=(16384,), local_size=(256,), arguments={"o": np.zeros(512, np.int32)}, groups="all"
    )
    assert {each.kind for each in found.faults} == {"race between groups"}


@dataclass(frozen=True)
class Move:
    """One statement of a random kernel: a store or a load of t[index], or a barrier."""

    kind: str
    index: str


INDICES: dict[str, Callable[[int], int]] = {
    "l": lambda i: i, "31 - l": lambda i: 31 - i, "(l + 1) % 32": lambda i: (i + 1) % 32, "l / 2": lambda i: i // 2,
    "3": lambda i: 3, "l ^ 4": lambda i: i ^ 4, "l + 32": lambda i: i + 32,
}  # fmt: skip
moves = st.builds(Move, st.sampled_from(["store", "load", "barrier"]), st.sampled_from(sorted(INDICES)))


def races_by_definition(program: list[Move]) -> bool:
    """Pairs of accesses by different items in one epoch, one of them a store."""
    epoch, seen = 0, []
    for move in program:
        if move.kind == "barrier":
            epoch += 1
            continue
        for lane in range(32):
            seen.append((epoch, INDICES[move.index](lane), lane, move.kind == "store"))
    by_cell: dict[tuple[int, int], set[int]] = {}
    stored: set[tuple[int, int]] = set()
    for when, cell, lane, store in seen:
        by_cell.setdefault((when, cell), set()).add(lane)
        if store:
            stored.add((when, cell))
    return any(len(by_cell[cell]) > 1 for cell in stored)


@settings(deadline=None, max_examples=60)
@given(st.lists(moves, min_size=2, max_size=7))
def test_races_are_those_of_the_definition(program: list[Move]) -> None:
    lines = [f"t[l] = 0; t[l + 32] = 0; {WAIT} int x = 0;"]
    for number, move in enumerate(program):
        text = {
            "store": f"t[{move.index}] = l * 100 + {number + 1};",
            "load": f"x += t[{move.index}];",
            "barrier": WAIT,
        }
        lines.append(text[move.kind])
    explanation = explain("\n".join([*lines, "o[g] = x;"]))
    kinds = {each.kind for each in explanation.findings}
    assert kinds <= {"data race", "benign race"}
    assert ("data race" in kinds) == races_by_definition(program)


UNREAD = {"mma", "tma", "wgmma"}  # instructions that the interpreter does not know
RUNGS = [
    kernel
    for ladder in LADDERS.values()
    for kernel in ladder.with_originals
    if "sequential" not in kernel.name and not UNREAD & set(dict(kernel.requires))
]


# One work-item of a CPU computes whole blocks, which takes the interpreter longest. Tensor's rungs have whole tiles only.
SIZES_OF_RUNGS: dict[str, tuple[tuple[int, ...], ...]] = {
    "any": ((48, 40, 32), (32, 64, 16)),
    "cpu": ((26, 40, 9), (12, 64, 4)),
    "tensor": ((128, 128, 32),),
    "transpose": ((70, 52), (64, 128)),
}


def sizes_of(kernel: Kernel) -> tuple[tuple[int, ...], ...]:
    """Sizes of which a rung takes whole tiles. Kernels as they were published have no guards."""
    if kernel.operation != "gemm":
        return SIZES_OF_RUNGS["transpose"]
    if kernel.source.parent.name == "published":
        return ((128, 128, 32),)
    return SIZES_OF_RUNGS.get(kernel.source.parent.name, SIZES_OF_RUNGS["any"])


@pytest.mark.parametrize("kernel", RUNGS, ids=lambda kernel: kernel.name)
def test_every_rung_is_right_and_free_of_faults(kernel: Kernel) -> None:
    for size in sizes_of(kernel):
        problem = make_problem(kernel, size, kernel.usual_dtype)
        arrays = random_arrays(problem)
        explanations = explain_kernel(kernel, problem, arrays=arrays, groups="all")
        assert [str(each) for explanation in explanations for each in explanation.faults] == []
        output, last = output_of(problem), explanations[-1]
        name = next(name for name in last.outputs if last.buffers.get(name, name) == output.name)
        result = output.unflatten(last.outputs[name])
        reference = problem.reference(arrays)
        assert (np.abs(result - reference) <= problem.error_bound(arrays, reference)).all()


CAUGHT = {
    "01_row_race": "data race",
    "02_tile_race": "data race",
    "05_out_of_bounds": "out of bounds",
    "06_divergent_barrier": "divergent barrier",
    "07_uninitialised_local": "uninitialised read",
    "10_swapped_guard": "out of bounds",
}


def is_right(kernel: Kernel, size: tuple[int, ...], constant: bool) -> bool:
    """Whether it multiplies matrices of one value each, or random ones, as its result must be."""
    problem = make_problem(kernel, size, "float32")
    arrays = random_arrays(problem, 7)
    if constant:
        arrays = {name: np.full_like(array, place + 2) for place, (name, array) in enumerate(arrays.items())}
    last = explain_kernel(kernel, problem, groups="all", arrays=arrays)[-1]
    reference = problem.reference(arrays)
    output = output_of(problem)
    result = output.unflatten(last.outputs[output.name])
    return bool((np.abs(result - reference) <= problem.error_bound(arrays, reference)).all())


@pytest.mark.parametrize("kernel", KNOWN_BAD, ids=lambda kernel: kernel.source.stem)
def test_every_known_bad_kernel_is_caught(kernel: Kernel) -> None:
    size = (60, 52, 40) if kernel.operation == "gemm" else (60, 100) if kernel.operation == "copy" else (64, 64)
    explanation = explain_kernel(kernel, make_problem(kernel, size, "float32"), groups="all")[-1]
    if kernel.source.stem in CAUGHT:
        assert CAUGHT[kernel.source.stem] in {each.kind for each in explanation.faults}
        return
    assert explanation.findings == ()
    if kernel.source.stem == "08_rest_of_k_dropped":
        unread = {each.buffer: each.elements - each.read for each in explanation.coverage if not each.written}
        assert unread == {"A": 60 * (40 % 16), "B": 52 * (40 % 16)}
        return
    if kernel.source.stem == "09_hidden_layout":
        assert is_right(kernel, size, constant=True)
        assert not is_right(kernel, size, constant=False)
        return
    worst = max(access.per_request for access in explanation.accesses if access.is_local)
    assert worst == {"03_eight_way_conflict": 8, "04_two_way_conflict": 2}[kernel.source.stem]


def test_findings_print_themselves() -> None:
    finding: Finding = explain("o[g] = t[l];").findings[0]
    assert str(finding).startswith("kernel.cl:2:9: uninitialised read: load from local 't'")


UNUSED_READS = {
    "copied and thrown away": "int x[4]; x[0] = 1;\nint y[4]; for (int i = 0; i < 4; i++) y[i] = x[i];\no[g] = y[0];",
    "computed and not stored": "int x; if (l < 8) x = a[g];\nint y = x * 3;\nif (l < 8) o[g] = y;",
}


@pytest.mark.parametrize("name", UNUSED_READS)
def test_unset_values_that_nothing_depends_on_are_no_faults(name: str) -> None:
    explanation = explain(UNUSED_READS[name])
    assert {(each.kind, each.position.line) for each in explanation.findings} == {("unused unset value", 3)}
    assert explanation.faults == ()


USED_READS = {
    "stored": "int x; if (l < 8) x = a[g];\no[g] = x;",
    "decides a branch": "int x; if (l < 8) x = a[g];\nif (x < 0) o[g] = 1;",
    "is an address": "int x; if (l < 8) x = l;\nint y = a[x & 31]; o[g] = y & 0;",
}


@pytest.mark.parametrize("name", USED_READS)
def test_unset_values_that_matter_are_faults(name: str) -> None:
    assert ("uninitialised read", 3) in {(each.kind, each.position.line) for each in explain(USED_READS[name]).faults}
