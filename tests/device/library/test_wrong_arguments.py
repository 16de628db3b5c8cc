"""Arrays and other objects in the place of names, numbers and switches are refused by a sentence on one line that names the
argument. NumPy would say that the truth of an array is ambiguous."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyopencl.array as cl_array
import pytest

import tilewright
from tilewright.errors import TilewrightError, quoted
from tilewright.runtime.opencl.device import Device

pytestmark = pytest.mark.usefixtures("one_device")
A = np.ones((4, 4), np.float32)
WRONG: tuple[Any, ...] = (np.ones(3), np.ones((2, 2)), [np.ones(3)], object())
CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], tuple[str, ...]]] = {
    "matmul": (
        tilewright.matmul,
        (A, A),
        (
            "axes", "casting", "dtype", "precision", "device", "queue", "wait_for", "max_device_bytes",
            "max_host_bytes", "progress",
        ),
    ),
    "gemm": (
        tilewright.gemm,
        (A, A),
        (
            "alpha", "beta", "trans_a", "trans_b", "activation", "casting", "dtype", "precision", "device", "queue", "wait_for",
            "max_device_bytes", "max_host_bytes", "progress",
        ),
    ),
    "prepare": (
        tilewright.prepare,
        (A, A),
        ("alpha", "beta", "trans_a", "trans_b", "activation", "casting", "dtype", "precision", "device", "queue"),
    ),
    "transpose": (
        tilewright.transpose,
        (A,),
        ("device", "queue", "wait_for", "max_device_bytes", "max_host_bytes", "progress"),
    ),
    "matrix_transpose": (tilewright.matrix_transpose, (A,), ("device", "progress")),
    "copy": (tilewright.copy, (A,), ("device", "queue", "wait_for")),
    "plan": (
        tilewright.plan,
        (64,),
        ("layout", "dtype", "batch", "precision", "device", "max_device_bytes", "max_host_bytes", "pinned"),
    ),
}  # fmt: skip
ARGUMENTS = [(call, name) for call, (_, _, names) in CALLS.items() for name in names]
IN_TILES = ("trans_a", "trans_b", "activation", "casting", "dtype", "precision", "alpha", "beta")


def check_refused(call: Callable[[], Any], argument: str) -> None:
    with pytest.raises(TilewrightError) as caught:
        call()
    text = str(caught.value)
    assert argument in text
    assert "\n" not in text
    assert len(text) < 300


@pytest.mark.parametrize(("call", "argument"), ARGUMENTS)
def test_a_wrong_argument_is_named(call: str, argument: str) -> None:
    function, arrays, _ = CALLS[call]
    for value in WRONG:
        check_refused(lambda value=value: function(*arrays, **{argument: value}), argument)  # type: ignore[misc]


@pytest.mark.parametrize("argument", IN_TILES)
def test_a_wrong_argument_is_named_in_tiles(argument: str) -> None:
    for value in WRONG:
        given = {argument: value, "max_device_bytes": "1MB"}
        check_refused(lambda given=given: tilewright.gemm(A, A, A, **given), argument)  # type: ignore[misc]


@pytest.mark.parametrize("argument", ["alpha", "beta", "device"])
def test_a_wrong_argument_beside_device_arrays_is_named(argument: str, one_device: Device) -> None:
    a = cl_array.to_device(one_device.queue, A)
    for value in (*WRONG, a):
        check_refused(lambda value=value: tilewright.gemm(a, a, a, **{argument: value}), argument)  # type: ignore[misc]


def test_a_size_is_no_array() -> None:
    check_refused(lambda: tilewright.plan(A), "is not a size")  # type: ignore[arg-type]


def test_switches_are_numpys_bools_too() -> None:
    assert np.array_equal(tilewright.matmul(A, A, progress=np.False_), A @ A)  # type: ignore[call-overload]


def test_values_stand_on_one_line() -> None:
    assert quoted("x y") == "'x y'"
    assert quoted(np.ones((2, 2))) == "array([[1., 1.], [1., 1.]])"
    assert quoted("x" * 100) == "'" + "x" * 56 + "..."
