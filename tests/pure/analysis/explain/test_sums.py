"""Loops that only add up are run many iterations at once, and nothing shows it but the time."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from tilewright.analysis.explain import explain_source
from tilewright.analysis.explain.serialise import to_dict
from tilewright.analysis.explain.simt import statements
from tilewright.analysis.explain.simt import summing_loops as sums
from tilewright.errors import SourceError

HEAD = "__kernel void f(const int N, const __global float* A, const __global float* B, __global float* C)\n"
ITEM = "const int row = get_global_id(0), item = get_local_id(0);"
STORE = "C[row] = sum;"


def told(body: str, count: int, **options: Any) -> str:
    """All that an explanation of a kernel with this body says, its outputs included."""
    values = np.random.default_rng(1).standard_normal((2, 4096), np.float32)
    arguments: Mapping[str, Any] = {"N": count, "A": values[0], "B": values[1], "C": np.zeros(64, np.float32)}
    found = explain_source(
        HEAD + "{" + ITEM + body + "}",
        global_size=(64,),
        local_size=(16,),
        arguments=arguments,
        groups="all",
        **options,
    )
    results = {name: array.tobytes().hex() for name, array in found.outputs.items()}
    return f"{json.dumps(to_dict(found), default=str)} {found.profile} {results}"


BODIES = {
    "a row of each": "float sum = 0; for (int k = 0; k < N; k++) sum += A[row * N + k] * B[k];" + STORE,
    "one value for all": "float sum = 1; for (uint k = 3; k != N; k += 1) { sum += B[k]; }" + STORE,
    "nothing read": "float sum = 0; for (long k = 0; k < N; ++k) sum += k * 2;" + STORE,
    "the same each time": "float sum = 0; for (int k = 0; k < N; k++) sum += A[item] + B[7];" + STORE,
    "whole numbers": "int sum = 2000000000; for (short k = 0; k < N; k += 3) sum += k * (int)item;" + STORE,
    "the counter afterwards": "int k = 5; float sum = 0; for (; k < N; k++) sum += A[k]; sum += k;" + STORE,
    "items that returned": "if (item > 11) return; float sum = 0;"
    "for (int k = 0; k < N; k++) sum += A[row + k] * B[k];" + STORE,
    "some items only": "float sum = 0; if (item % 3) for (int k = 0; k < N; k++) sum += A[k];" + STORE,
    "each its own count": "float sum = 0; for (int k = 0; k < N + item; k++) sum += A[k];" + STORE,
    "a private row": "float own[100]; for (int k = 0; k < 100; k++) own[k] = A[k * item]; float sum = 0;"
    "for (int k = 0; k < N; k++) sum += own[k % 1 + k];" + STORE,
    "a private row that is read as set": "float own[200]; for (int k = 0; k < 200; k++) own[k] = A[k * item];"
    "float sum = 0; for (int k = 0; k < N; k++) sum += own[k] * B[k];" + STORE,
    "a private row that is not set": "float own[200]; float sum = 0; for (int k = 0; k < N; k++) sum += own[k];"
    + STORE,
    "outside a private row": "float own[20] = {1}; float sum = 0; for (int k = 0; k < N; k++) sum += own[k];" + STORE,
    "local memory": "__local float part[64]; for (int i = item; i < 64; i += 16) part[i] = A[i];"
    "barrier(CLK_LOCAL_MEM_FENCE); float sum = 0; for (int k = 0; k < min(N, 48); k++) sum += part[k + item];" + STORE,
    "local memory for all": "__local float part[64]; for (int i = item; i < 64; i += 16) part[i] = A[i];"
    "barrier(CLK_LOCAL_MEM_FENCE); const int most = min(N, 48); float sum = 0;"
    "for (int k = 0; k < most; k++) sum += part[k] * B[row];"
    "barrier(CLK_LOCAL_MEM_FENCE); part[item] = sum;" + STORE,
    "a missing barrier": "__local float part[64]; part[item] = A[0]; float sum = 0; const int most = 16;"
    "for (int k = 0; k < most; k++) sum += part[k];" + STORE,
    "local memory that is not set": "__local float part[64]; part[item] = A[0]; barrier(CLK_LOCAL_MEM_FENCE);"
    "float sum = 0; const int most = 20; for (int k = 0; k < most; k++) sum += part[k];" + STORE,
    "out of bounds": "float sum = 0; for (int k = 0; k < N; k++) sum += A[row * 64 + k];" + STORE,
    "what the kernel wrote": "C[row] = 1; float sum = 0; const int most = 16;"
    "for (int k = 0; k < most; k++) sum += C[k];" + STORE,
    "an unset sum": "float sum; for (int k = 0; k < N; k++) sum += A[k];" + STORE,
    "a sum that reads itself": "float sum = 1; for (int k = 0; k < N; k++) sum += sum * A[k];" + STORE,
    "a row of rows": "float sum = 0; for (int i = 0; i < 4; i++) for (int k = 0; k < N; k++) sum += A[i * N + k];"
    + STORE,
}


@pytest.mark.parametrize("count", [7, 31, 300])
@pytest.mark.parametrize("name", BODIES)
def test_what_is_told_is_the_same_as_one_by_one(name: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    together = told(BODIES[name], count)
    monkeypatch.setattr(statements, "find_sum", lambda context, loop, test: None)
    assert together == told(BODIES[name], count)


@pytest.mark.parametrize("name", ["a row of each", "local memory for all", "a private row that is read as set"])
def test_batches_are_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[int] = []
    added = sums.added

    def counted(total: Any, terms: Any, count: int) -> Any:
        ran.append(count)
        return added(total, terms, count)

    monkeypatch.setattr(sums, "added", counted)
    told(BODIES[name], 40)
    assert set(ran) == {40}


def test_too_many_iterations_stop_where_they_would_one_by_one() -> None:
    with pytest.raises(SourceError, match=r"\b100\b"):
        told(BODIES["a row of each"], 300, step_limit=100)
    assert told(BODIES["a row of each"], 31, step_limit=31)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.uint64])
@pytest.mark.parametrize("lanes", [1, 2, 3, 4, 7, 8, 16, 33, 256])
def test_sums_are_rounded_after_each_term(lanes: int, dtype: type) -> None:
    values: Any = np.random.default_rng(lanes).uniform(0, 1000, (300, lanes)).astype(dtype)
    one_by_one = values[0].copy()
    for row in values[1:]:
        one_by_one = one_by_one + row
    assert sums.added(values[0], values[1:], 299).tobytes() == one_by_one.tobytes()
    every_time = sums.added(values[0, 0], values[1, 0], 299)
    assert every_time.dtype == dtype
    assert every_time == np.add.accumulate(np.array([values[0, 0], *[values[1, 0]] * 299], dtype))[-1]
