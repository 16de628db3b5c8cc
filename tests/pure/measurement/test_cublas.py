"""cuBLAS's arguments: matrices by columns where ours are by rows, checked by a stand-in that computes on host memory."""

import ctypes
from typing import Any

import numpy as np
import pytest

from tilewright.core.problem import Copy, Gemm, Problem, Transpose, inputs_of, output_of, random_arrays
from tilewright.errors import Unsupported
from tilewright.measurement.baselines import cublas
from tilewright.runtime.verify import Reference

HANDLE = ctypes.c_void_p(1)


class ByColumns:
    """cuBLAS's gemm and geam by their manual, in NumPy."""

    def __init__(self, ctype: Any) -> None:
        self._ctype = ctype

    def _matrix(self, pointer: ctypes.c_void_p, rows: int, columns: int, leading: int) -> np.ndarray:
        assert leading >= max(rows, 1)
        flat = (self._ctype * (leading * columns)).from_address(pointer.value or 0)
        return np.ctypeslib.as_array(flat).reshape(columns, leading)[:, :rows].T

    def _operand(self, how: int, pointer: ctypes.c_void_p, rows: int, columns: int, leading: int) -> np.ndarray:
        shape = (columns, rows) if how else (rows, columns)
        stored = self._matrix(pointer, *shape, leading)
        return stored.T if how else stored

    def gemm(self, handle: Any, ta: int, tb: int, m: int, n: int, k: int, alpha: Any, a: Any, lda: int,
             b: Any, ldb: int, beta: Any, c: Any, ldc: int) -> int:  # fmt: skip
        product = self._operand(ta, a, m, k, lda) @ self._operand(tb, b, k, n, ldb)
        assert beta._obj.value == 0
        self._matrix(c, m, n, ldc)[:] = alpha._obj.value * product
        return 0

    def geam(self, handle: Any, ta: int, tb: int, m: int, n: int, alpha: Any, a: Any, lda: int,
             beta: Any, b: Any, ldb: int, c: Any, ldc: int) -> int:  # fmt: skip
        assert beta._obj.value == 0
        self._matrix(c, m, n, ldc)[:] = alpha._obj.value * self._operand(ta, a, m, n, lda)
        return 0


class StandIn:
    cublasSgemm_v2 = staticmethod(ByColumns(ctypes.c_float).gemm)
    cublasDgemm_v2 = staticmethod(ByColumns(ctypes.c_double).gemm)
    cublasSgeam = staticmethod(ByColumns(ctypes.c_float).geam)
    cublasDgeam = staticmethod(ByColumns(ctypes.c_double).geam)


@pytest.mark.parametrize(
    "problem",
    [
        Gemm(7, 5, 3),
        Gemm(7, 5, 3, "float64", "column", "row"),
        Gemm(7, 5, 3, "float32", "row", "column"),
        Gemm(4, 9, 6, "float32", "column", "column"),
        Transpose(6, 9, "float32"),
        Transpose(6, 9, "float64", 4),
        Copy(5, 8, "float32", 3),
    ],
    ids=str,
)
def test_rows_become_columns(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cublas, "library", StandIn)
    reference = Reference(problem, random_arrays(problem))
    output = output_of(problem)
    held = [operand.flatten(reference.arrays[operand.name]) for operand in inputs_of(problem)]
    held.append(np.full(output.elements, np.nan, output.dtype))
    call, name = cublas.prepare(problem, HANDLE)
    assert call([ctypes.c_void_p(each.ctypes.data) for each in held]) == 0
    verdict = reference.judge(output.unflatten(held[-1]))
    assert verdict.passed, f"{name}: {verdict}"


def test_what_it_is_not_called_for_is_refused_by_a_sentence() -> None:
    for problem, words in ((Gemm(4, 4, 4, "int32"), "int32"), (Gemm(4, 4, 4, batch=3), "3")):
        with pytest.raises(Unsupported, match=words):
            cublas.prepare(problem, HANDLE)
