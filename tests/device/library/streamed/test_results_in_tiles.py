"""What a result of a call in tiles may be: what NumPy would copy is refused, since the copy would be written and lost."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided
from tiled_calls import random

from tilewright import gemm, matmul, matrix_transpose, transpose
from tilewright.errors import InvalidInput, StorageFailed, UnsupportedType
from tilewright.runtime.opencl.device import Device

A = random(20, 20)


class Converted:
    """NumPy converts it to a new array."""

    shape, dtype = (20, 20), np.dtype(np.float32)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.zeros(self.shape, np.float32)


class ReadOnly:
    """Slices to read, and none to write."""

    shape, dtype = (20, 20), np.dtype(np.float32)

    def __getitem__(self, place: Any) -> np.ndarray:
        part: np.ndarray = A[place]
        return part


class Failing(ReadOnly):
    """A dataset whose file was closed."""

    def __getitem__(self, place: Any) -> np.ndarray:
        raise RuntimeError("the file is closed")

    def __setitem__(self, place: Any, values: Any) -> None:
        raise OSError("the file is read-only")


CALLS: dict[str, Callable[..., Any]] = {
    "matmul": lambda out, **where: matmul(A, A.copy(), out, **where),
    "gemm": lambda out, **where: gemm(A, A.copy(), out=out, **where),
    "transpose": lambda out, **where: transpose(A, out, **where),
    "matrix_transpose": lambda out, **where: matrix_transpose(A, out, **where),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(
    "out", [[[0.0] * 20 for _ in range(20)], Converted(), ReadOnly()], ids=["list", "converted", "read"]
)
def test_what_cannot_be_written_is_refused(out: Any, name: str, device: Device) -> None:
    for where in ({"max_device_bytes": "10MB"}, {"device": [device.info.label]}, {"progress": True}):
        with pytest.raises(InvalidInput, match="out is a"):
            CALLS[name](out, **{"device": device.info.label, **where})


def test_a_number_is_no_result_of_a_dot_product(device: Device) -> None:
    with pytest.raises(InvalidInput, match="out is a float"):
        matmul(A[0], A[1], 0.0, device=device.info.label, max_device_bytes="10MB")
    out = np.zeros((), np.float32)
    assert matmul(A[0], A[1], out, device=device.info.label, max_device_bytes="10MB") is out
    assert np.allclose(out, A[0] @ A[1], 1e-4)


def test_what_a_closed_file_says_is_told(device: Device) -> None:
    """h5py does not know the shape of a dataset whose file is closed."""

    class Closed:
        dtype = np.dtype(np.float32)

        @property
        def shape(self) -> tuple[int, ...]:
            raise RuntimeError("the file is closed")

        def __getitem__(self, place: object) -> None:
            raise AssertionError

        __setitem__ = __getitem__

    closed: Any = Closed()
    where: dict[str, Any] = {"device": device.info.label, "max_device_bytes": "1GB"}
    square = np.ones((8, 8), np.float32)
    calls: tuple[Callable[[], Any], ...] = (
        lambda: matmul(closed, square, **where),
        lambda: matmul(square, square, closed, **where),
        lambda: transpose(closed, **where),
    )
    for call in calls:
        with pytest.raises(StorageFailed, match="reading the shape and type of a Closed: the file is closed"):
            call()


def test_what_a_storage_says_is_told(device: Device) -> None:
    where: dict[str, Any] = {"device": device.info.label, "max_device_bytes": "10MB"}
    with pytest.raises(StorageFailed, match="reading a Failing: the file is closed"):
        matmul(Failing(), A, **where)
    with pytest.raises(StorageFailed, match="writing a Failing: the file is read-only"):
        matmul(A, A.copy(), Failing(), **where)


def test_a_missing_operand_is_told(device: Device) -> None:
    for where in ({}, {"max_device_bytes": "10MB"}):
        for call in (matmul, gemm):
            with pytest.raises(UnsupportedType, match="b is None"):
                call(A, None, device=device.info.label, **where)  # type: ignore[call-overload]
            with pytest.raises(UnsupportedType, match="a is None"):
                call(None, A, device=device.info.label, **where)  # type: ignore[call-overload]


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("strides", [(0, 4), (80, 0), (4, 4), (80, 2), (40, 4)], ids=str)
def test_results_whose_elements_share_memory_are_refused(strides: tuple[int, int], name: str, device: Device) -> None:
    """Which of them stays would depend on the threads that write tiles."""
    out = as_strided(np.zeros(400, np.float32), (20, 20), strides)
    with pytest.raises(InvalidInput, match="elements of out share memory"):
        CALLS[name](out, device=device.info.label, max_device_bytes="10MB")
    assert not out.any()


@pytest.mark.parametrize("name", CALLS)
def test_results_whose_elements_lie_apart_are_written(name: str, device: Device) -> None:
    """Between others, backwards, at addresses that are no multiples of an element, and by turns of two dimensions."""
    fields = np.zeros((20, 20), np.dtype([("first", np.int8), ("out", np.float32)]))
    outs = [
        np.zeros((40, 60), np.float32)[::-2, ::-3],
        fields["out"],
        as_strided(np.zeros(20 * 20 * 21, np.float32), (20, 20), (4 * 20, 4 * 21)),
    ]
    for out in outs:
        CALLS[name](out, device=device.info.label, max_device_bytes="10MB")
        assert np.allclose(out, A @ A if name in ("matmul", "gemm") else A.T, 1e-4)
