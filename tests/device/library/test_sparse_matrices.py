"""Sparse matrices are refused by every call, with the way to a dense array: of SciPy's, NumPy would make one object."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tilewright import blocks, copy, gemm, matmul, matrix_transpose, prepare, transpose
from tilewright.errors import InvalidInput, UnsupportedType

pytestmark = pytest.mark.usefixtures("one_device")
DENSE = np.ones((4, 4), np.float32)


class Sparse:
    """What SciPy's matrices have in common. Parts of it look like those of an array on disk, but are sparse, too."""

    shape, dtype, ndim = (4, 4), np.dtype(np.float32), 2

    @property
    def nnz(self) -> int:
        return 3

    def __getitem__(self, index: Any) -> "Sparse":
        return self

    def __setitem__(self, index: Any, value: Any) -> None:
        raise AssertionError("a sparse matrix was written")

    def toarray(self) -> np.ndarray:
        return DENSE


SPARSE: Any = Sparse()
CALLS: dict[str, Callable[..., Any]] = {
    "matmul a": lambda **limits: matmul(SPARSE, DENSE, **limits),
    "matmul b": lambda **limits: matmul(DENSE, SPARSE, **limits),
    "gemm a": lambda **limits: gemm(SPARSE, DENSE, alpha=2, **limits),
    "gemm c": lambda **limits: gemm(DENSE, DENSE, SPARSE, beta=1, **limits),
    "gemm bias": lambda **limits: gemm(DENSE, DENSE, bias=SPARSE, **limits),
    "transpose a": lambda **limits: transpose(SPARSE, **limits),
    "matrix_transpose a": lambda **limits: matrix_transpose(SPARSE, **limits),
}
WHOLE: dict[str, Callable[..., Any]] = {
    "copy a": lambda: copy(SPARSE),
    "prepare a": lambda: prepare(SPARSE, DENSE),
    "prepare c": lambda: prepare(DENSE, DENSE, c=SPARSE, beta=1),
    "prepared b": lambda: prepare(DENSE, DENSE)(DENSE, SPARSE),
    "blocks a[0]": lambda: blocks.matmul([SPARSE], DENSE),
}
LIMITS: dict[str, dict[str, Any]] = {
    "whole": {},
    "within bytes": {"max_device_bytes": "1MB"},
    "with progress": {"progress": True},
    "on all devices": {"device": "all"},
}


def check_refused(call: Callable[[], Any], argument: str) -> None:
    with pytest.raises(UnsupportedType) as caught:
        call()
    assert str(caught.value) == (
        f"{argument} is a sparse matrix (Sparse), and kernels take dense arrays: pass {argument}.toarray()"
    )


@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
@pytest.mark.parametrize("name", CALLS)
def test_sparse_operands_are_refused_in_one_piece_and_in_tiles(name: str, limits: dict[str, Any]) -> None:
    check_refused(lambda: CALLS[name](**limits), name.split()[1])


@pytest.mark.parametrize("name", WHOLE)
def test_sparse_operands_are_refused_by_calls_without_tiles(name: str) -> None:
    check_refused(WHOLE[name], name.split()[1])


def test_slices_that_are_no_arrays_are_refused() -> None:
    class Sliced:
        shape, dtype, ndim = (4, 4), np.dtype(np.float32), 2

        def __getitem__(self, index: Any) -> object:
            return object()

    sliced: Any = Sliced()
    with pytest.raises(UnsupportedType, match="a slice of a Sliced is a object, which is no array of numbers"):
        matmul(sliced, DENSE, max_device_bytes="1MB")


@pytest.mark.parametrize("limits", [{}, {"max_device_bytes": "1MB"}], ids=["whole", "in tiles"])
@pytest.mark.parametrize(
    "call", [lambda **given: matmul(DENSE, DENSE, **given), lambda **given: transpose(DENSE, **given)]
)
def test_a_sparse_out_is_refused(call: Callable[..., Any], limits: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=r"out is a Sparse.* pass a NumPy array"):
        call(out=SPARSE, **limits)
