"""Attacks on the grader: kernels that get, or hide, what they did not do. None may pass.

Each changes the solution of `tiles/02`, which passes, by one trick. Those that need a device are in tests/device/learning.
"""

from pathlib import Path

import pytest

from tilewright.errors import InvalidInput, TilewrightError
from tilewright.learning.exercises import trial
from tilewright.learning.exercises.file import MARK, MOST_BYTES
from tilewright.learning.exercises.grade import Grade, grade_file
from tilewright.learning.exercises.task import find_task

SOLUTION = find_task("tiles/02").solution
START = find_task("tiles/02").start
STORE = "        C[column * M + row] = sum;\n"
LOOP = "    for (size_t first = 0; first < K; first += BK) {\n"
SUM = "    REAL sum = 0;\n"
LOAD_A = "A[k_of_a * M + row]"
BARRIERS = "barrier(CLK_LOCAL_MEM_FENCE)"


def changed(*pairs: tuple[str, str], code: str = SOLUTION) -> str:
    for old, new in pairs:
        assert old in code
        code = code.replace(old, new)
    return code


ATTACKS = {
    # results that nobody computed
    "zeros": changed((STORE, STORE.replace("sum", "0"))),
    "nan": changed((STORE, STORE.replace("sum", "NAN"))),
    "infinity": changed((STORE, STORE.replace("sum", "INFINITY"))),
    "the first row of A for all": changed((LOAD_A, "A[k_of_a * M]")),
    "right for constant matrices alone": changed((LOAD_A, "A[(k_of_a * M + row) % (M * 2)]")),
    "sums of a type with few digits": changed(
        ("sum += tile_a[k][item_m] * tile_b[item_n][k];", "sum = (REAL)(int)(sum + tile_a[k][item_m] * tile_b[item_n][k]);")
    ),
    "small results as zero": changed((STORE, STORE.replace("sum", "(fabs(sum) < 1 ? 0 : sum)"))),
    # work that is left out
    "only the first work-group": changed((SUM, SUM + "    if (get_group_id(0) + get_group_id(1) > 0) return;\n")),
    "not one group in the middle": changed(
        (SUM, SUM + "    if (get_group_id(0) == 1 && get_group_id(1) == 0) return;\n")
    ),
    "whole tiles of K alone": changed((LOOP, LOOP.replace("first < K", "first + BK <= K"))),
    "only the graded size": changed((SUM, SUM + "    if (M != 64) return;\n")),
    "only large sizes": changed((SUM, SUM + "    if (M * N < 64 * 64) return;\n")),
    "one launch for all": "__global int calls = 0;\n"
    + changed((SUM, SUM + "    if (get_local_id(0) + get_local_id(1) == 0 && calls++ > 0) return;\n")),
    "nothing if C looks finished": changed(
        (STORE, "        if (C[column * M + row] != C[column * M + row])\n    " + STORE)
    ),
    # memory that is not its own
    "a store before C": changed((STORE, STORE + "    if (row == 0 && column == 0) C[-1] = 0;\n")),
    "a store behind C": changed((STORE, STORE + "    if (row == 0 && column == 0) C[M * N] = 0;\n")),
    "a load behind A": changed((LOAD_A, "A[M * K + k_of_a * M + row]")),
    "results from C itself": changed((STORE, STORE.replace("sum", "sum + 0 * C[column * M + row]"))),
    "inputs overwritten": changed((STORE, STORE + "    if (row == 0 && column == 0) ((__global REAL*)A)[0] = 0;\n")),
    "inputs made easy": changed((SUM, SUM + "    ((__global REAL*)B)[0] = 0;\n")),
    "a wild pointer": changed((STORE, STORE + "    *(__global REAL*)(size_t)4096 = 0;\n")),
    # goals that are dodged
    "no barrier": changed((BARRIERS, "(void)0")),
    "barrier as a macro": "#define barrier(flags)\n" + SOLUTION,
    "a macro for the launch": "#define get_group_id(side) 0\n" + SOLUTION,
    "another tile": "#undef BM\n#define BM 1\n" + SOLUTION,
    "budgets in the head": "// tilewright: max sectors 1000\n" + START,
    "another exercise named below": f"// {MARK} tiles/01\n" + START,
    "loads by atomic functions": START.replace(
        "A[(first + k) * M + row]", "as_float(atomic_or((__global int*)A + (first + k) * M + row, 0))"
    ).replace("B[column * K + first + k]", "as_float(atomic_or((__global int*)B + column * K + first + k, 0))"),
    "loads by assembly": changed((STORE, '        asm volatile("st.global.f32 [%0], %1;" :: "l"(C), "f"(sum));\n')),
    "a timer": changed((SUM, SUM + "    long begin = clock64();\n")),
    "a second kernel": SOLUTION + "\n__kernel void other(__global REAL* C) { C[0] = 1; }\n",
    "another name": SOLUTION.replace("void gemm", "void other"),
    "one more argument": SOLUTION.replace("__global REAL* C)", "__global REAL* C, const __global REAL* reference)"),
    "loads by __constant": changed(
        ("A[(first + k) * M + row]", "((const __constant REAL*)A)[(first + k) * M + row]"),
        ("B[column * K + first + k]", "((const __constant REAL*)B)[column * K + first + k]"), code=START,
    ),
    "loads by copies": changed(
        ("        for (int k", "        __local REAL copies[1024];\n"
         "        event_t done = async_work_group_copy(copies, A, 1024, 0);\n        wait_group_events(1, &done);\n"
         "        for (int k"), code=START,
    ),
    "the words of success": changed(
        (STORE, STORE + '        printf("passed: right, and as cheap as the solution\\n");\n'), code=START
    ),
}  # fmt: skip


def graded(folder: Path, code: str) -> Grade:
    file = folder / "attack.cl"
    file.write_text(f"// {MARK} tiles/02\n{code}", encoding="utf-8")
    return grade_file(file)


def test_what_is_attacked_passes(tmp_path: Path) -> None:
    assert graded(tmp_path, SOLUTION).passed


@pytest.mark.parametrize("name", ATTACKS)
def test_no_attack_passes(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    grade = graded(tmp_path, ATTACKS[name])
    assert not grade.passed
    assert "passed" not in str(grade)
    assert capfd.readouterr() == ("", "")


def test_a_kernel_that_does_not_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "TIME_LIMIT_S", 0.2)
    grade = graded(tmp_path, changed((SUM, SUM + "    for (volatile int i = 0; i < 1; ) { }\n")))
    assert [each.rule for each in grade.findings] == ["not-ended"]


@pytest.mark.parametrize(
    "line",
    ['#include "solution.cl"', '  #  include "solution.cl"', '#inc\\\nlude "solution.cl"', '%:include "solution.cl"',
     '/* */ #include "solution.cl"'],
)  # fmt: skip
def test_the_solution_cannot_be_included(line: str, tmp_path: Path) -> None:
    (tmp_path / "solution.cl").write_text(SOLUTION)
    with pytest.raises(InvalidInput, match="includes another file"):
        graded(tmp_path, f"{line}\n")


def test_a_file_cannot_be_too_long(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="bytes"):
        graded(tmp_path, SOLUTION + " " * MOST_BYTES)


def test_text_of_a_table_is_nothing(tmp_path: Path) -> None:
    """A file of results, in place of a computation: the inputs of each grading are new."""
    table = ", ".join(["1.0f"] * 4096)
    code = f"__constant float results[4096] = {{{table}}};\n" + changed(
        (STORE, STORE.replace("sum", "results[(column * M + row) % 4096]"))
    )
    try:
        assert not graded(tmp_path, code).passed
    except TilewrightError as error:
        pytest.fail(str(error))
