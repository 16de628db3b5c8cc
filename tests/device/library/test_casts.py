"""Nothing is cut off in silence: types, alpha and beta, biases, masks, and elements that are more than their bytes."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tilewright import copy, gemm, matmul, matrix_transpose, transpose
from tilewright.errors import InvalidInput, Unsupported, UnsupportedType
from tilewright.library.rules import Casting, castable
from tilewright.runtime.opencl.device import Device

FLOATS = np.ones((3, 3), np.float32)
INTEGERS = np.ones((3, 3), np.int32)


@pytest.mark.parametrize(
    ("values", "named"),
    [(np.array([[[1], [2]], [[3], [4]]], object), "object"),
     (np.array([["a" * 100, "b"]], np.dtypes.StringDType()), "StringDType"), (np.zeros((2, 2), [("a", "O")]), "'a', 'O'")],
    ids=["object", "string", "structured"],
)  # fmt: skip
def test_elements_that_point_to_objects_are_refused(values: np.ndarray, named: str, one_device: Device) -> None:
    """D2: pointers were copied and not counted."""
    for call in (transpose, matrix_transpose, copy):
        with pytest.raises(UnsupportedType, match=named):
            call(values, queue=one_device.queue)


@pytest.mark.parametrize(
    ("operand", "settings", "words"),
    [
        (INTEGERS, {"alpha": 0.5}, r"alpha=0\.5.*int32"), (INTEGERS, {"alpha": 2.5}, r"alpha=2\.5.*int32"),
        (INTEGERS, {"alpha": -1.5}, r"alpha=-1\.5.*int32"), (INTEGERS, {"beta": 0.5, "c": INTEGERS}, r"beta=0\.5.*int32"),
        (INTEGERS, {"alpha": 2**40}, "alpha=1099511627776.*int32"), (INTEGERS, {"alpha": float("nan")}, "alpha=nan.*int32"),
        (INTEGERS, {"alpha": float("inf")}, "alpha=inf.*int32"), (INTEGERS, {"bias": np.ones(3) * 1.5}, "bias is float64.*int32"),
        (FLOATS, {"alpha": 1j}, "alpha=1j.*float32"), (FLOATS, {"alpha": None}, "alpha=None"),
        (FLOATS, {"alpha": "2"}, "alpha='2'"), (FLOATS, {"alpha": [2.0]}, r"alpha=\[2\.0\]"),
        (FLOATS, {"alpha": np.ones(2)}, r"alpha.*\(2,\)"), (FLOATS, {"alpha": 10**400}, r"alpha=10.*\b401\b.*float32"),
        (FLOATS, {"alpha": 1e300}, r"alpha=1e\+300.*float32"), (FLOATS, {"bias": np.ones(3) * 1j}, "bias is complex128.*float32"),
        (FLOATS, {"beta": 1, "c": FLOATS * 1j}, "c is complex64.*float32"), (FLOATS, {"beta": 1}, r"beta=1.*\bc\b"),
    ],
    ids=str,
)  # fmt: skip
def test_numbers_that_do_not_fit_are_refused(
    operand: np.ndarray, settings: dict[str, Any], words: str, one_device: Device
) -> None:
    """D16 and D22: alpha=0.5 was 0, a complex bias lost its imaginary part."""
    with pytest.raises(InvalidInput, match=words):
        gemm(operand, operand, queue=one_device.queue, **settings)


def test_numbers_that_fit_are_taken_in_every_form(device: Device) -> None:
    numbers: tuple[Any, ...] = (2, 2.0, np.float32(2), np.int8(2), np.array(2.0), np.complex64(2).real)
    for alpha in numbers:
        assert (gemm(FLOATS, FLOATS, alpha=alpha, queue=device.queue) == 6).all()
        assert (gemm(INTEGERS, INTEGERS, alpha=alpha, queue=device.queue) == 6).all()
    assert (gemm(INTEGERS, INTEGERS, INTEGERS, alpha=-(2**31), beta=-1, queue=device.queue) == 2**31 - 1).all()
    assert np.isnan(gemm(FLOATS, FLOATS, alpha=float("nan"), queue=device.queue)).all()
    assert (gemm(FLOATS * 1j, FLOATS * 1j, alpha=1j, queue=device.queue) == -3j).all()


@pytest.mark.parametrize(
    ("values", "dtype", "words"),
    [([[1.9]], "int32", "a is float64.*int32"), (FLOATS * 1j, "float32", "a is complex64.*float32"),
     (INTEGERS, "uint64", "a is int32.*uint64"), (INTEGERS, "bool", "a is int32.*bool"),
     (FLOATS, "nonsense", "dtype='nonsense'")],
    ids=["float to int", "complex to float", "int32 to uint64", "int32 to bool", "no type"],
)  # fmt: skip
def test_operands_are_not_cut_to_the_dtype_asked_for(values: Any, dtype: str, words: str, one_device: Device) -> None:
    with pytest.raises(TypeError, match=words):
        matmul(values, values, dtype=dtype, queue=one_device.queue)


def test_a_dtype_of_a_foreign_byte_order_is_refused_as_by_numpy(device: Device) -> None:
    """The result had the machine's own, which is another dtype than was asked for."""
    foreign = np.dtype(np.float32).newbyteorder()
    for call in (matmul, gemm):
        with pytest.raises(InvalidInput, match=r"foreign byte order.*pass float32, and an out of [<>]f4"):
            call(FLOATS, FLOATS, dtype=foreign, queue=device.queue)
    with pytest.raises(TypeError):
        np.matmul(FLOATS, FLOATS, dtype=foreign)


def test_unsafe_casting_has_to_be_asked_for(device: Device) -> None:
    with pytest.raises(InvalidInput, match=r"int32.*'same_kind'.*float32"):
        matmul(FLOATS, FLOATS, np.zeros((3, 3), np.int32), queue=device.queue)
    out = np.zeros((3, 3), np.int32)
    assert (matmul(FLOATS, FLOATS, out, casting="unsafe", queue=device.queue) == 3).all()
    rules: tuple[tuple[Casting, bool], ...] = (("no", False), ("equiv", False), ("safe", True), ("same_kind", True))
    for casting, works in rules:
        if works:
            assert matmul(FLOATS, FLOATS * 1.0, dtype="float64", casting=casting, queue=device.queue).dtype == "float64"
        else:
            with pytest.raises(InvalidInput, match=f"a is float32.*'{casting}'.*float64"):
                matmul(FLOATS, FLOATS, dtype="float64", casting=casting, queue=device.queue)
    with pytest.raises(ValueError, match="casting"):
        matmul(FLOATS, FLOATS, casting="perhaps", queue=device.queue)  # type: ignore[call-overload]


def test_short_floats_are_cast_as_floats() -> None:
    bfloat16, e4m3 = np.dtype(ml_dtypes.bfloat16), np.dtype(ml_dtypes.float8_e4m3fn)
    assert castable(np.dtype("float32"), bfloat16, "same_kind")
    assert castable(bfloat16, np.dtype("float32"), "safe")
    assert castable(bfloat16, np.dtype("float16"), "same_kind")
    assert not castable(bfloat16, np.dtype("float16"), "safe")
    assert not castable(np.dtype("complex64"), bfloat16, "same_kind")
    assert not castable(bfloat16, np.dtype("int32"), "same_kind")
    assert not castable(np.dtype("int8"), e4m3, "safe")


@pytest.mark.parametrize("name", ["float8_e3m4", "float8_e4m3", "float6_e2m3fn", "float4_e2m1fn"])
def test_floats_that_no_kernel_has_are_cast_as_floats(name: str) -> None:
    short = np.dtype(getattr(ml_dtypes, name))
    assert castable(np.dtype("float32"), short, "same_kind")
    assert castable(short, np.dtype("complex64"), "safe")
    assert castable(np.dtype("int8"), short, "same_kind")
    assert not castable(np.dtype("int8"), short, "safe")
    assert not castable(np.dtype("complex64"), short, "same_kind")
    assert not castable(short, np.dtype("int32"), "same_kind")


def test_short_integers_are_cast_as_integers() -> None:
    int4, uint4 = np.dtype(ml_dtypes.int4), np.dtype(ml_dtypes.uint4)
    assert castable(np.dtype("int32"), int4, "same_kind")
    assert castable(uint4, int4, "same_kind")
    assert castable(int4, np.dtype("float32"), "safe")
    assert not castable(int4, uint4, "same_kind")
    assert not castable(np.dtype("float32"), int4, "same_kind")
    assert not castable(np.dtype("O"), int4, "same_kind")


@pytest.mark.parametrize("where", [{}, {"max_device_bytes": "10MB"}], ids=["in one piece", "in tiles"])
def test_results_lose_no_imaginary_parts_and_fractions(where: dict[str, str], device: Device) -> None:
    for operand, name in ((FLOATS * 1j, "float8_e3m4"), (FLOATS / 2, "int4")):
        out = np.zeros((3, 3), getattr(ml_dtypes, name))
        with pytest.raises(InvalidInput, match=f"out is {name}, to which casting='same_kind' does not convert"):
            matmul(operand, operand, out, device=device.info.label, **where)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("left", "right"),
    [("int8", "float8_e4m3fn"), ("bool", "float8_e5m2"), ("int32", "bfloat16"), ("float16", "bfloat16")],
)
def test_pairs_without_a_common_type_are_refused(left: str, right: str, one_device: Device) -> None:
    """D22: the sentence told which kernels had been tried."""
    other = np.ones((3, 3), getattr(ml_dtypes, right))
    with pytest.raises(UnsupportedType, match=f"{left} and {right}"):
        matmul(np.ones((3, 3), left), other, queue=one_device.queue)


def test_bytes_are_stored_as_int32_whatever_they_are_paired_with(device: Device) -> None:
    bytes_ = np.full((3, 3), 100, np.int8)
    assert matmul(bytes_, bytes_ > 0, queue=device.queue).dtype == np.int32
    asked = matmul(bytes_, bytes_, dtype="int8", queue=device.queue)
    assert (asked.dtype, asked[0, 0]) == (np.int8, 30000 % 256)
    with pytest.raises(Unsupported, match="float32"):
        matmul(FLOATS.astype(np.float16), FLOATS.astype(np.float16), dtype="float8_e5m2", queue=device.queue)
    with pytest.raises(Unsupported, match="int32"):
        gemm(INTEGERS, INTEGERS, activation="relu", queue=device.queue)
    for a, b in ((INTEGERS, INTEGERS[:, :1]), (INTEGERS[:1], INTEGERS)):  # relu was left out for a single row or column
        with pytest.raises(Unsupported, match="int32"):
            gemm(-a, b, activation="relu", queue=device.queue)


def test_masks_are_not_ignored(one_device: Device) -> None:
    masked = np.ma.masked_array(FLOATS, FLOATS > 0)
    calls: tuple[Callable[[], Any], ...] = (
        lambda: matmul(masked, FLOATS), lambda: transpose(masked), lambda: matmul(FLOATS, FLOATS, masked),
    )  # fmt: skip
    for call in calls:
        with pytest.raises(UnsupportedType, match="masked"):
            call()


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_other_subclasses_are_the_arrays_that_they_are(device: Device) -> None:
    matrix = FLOATS.view(np.matrix)
    result = matmul(matrix, matrix, queue=device.queue)
    assert type(result) is np.ndarray
    out = np.zeros((3, 3), np.float32).view(np.matrix)
    assert matmul(matrix, FLOATS, out, queue=device.queue) is out
    assert (out == 3).all()


def test_moves_keep_the_order_of_bytes(device: Device) -> None:
    """D27: big-endian elements came back little-endian, and their own out was refused."""
    big = np.arange(12, dtype=">f4").reshape(3, 4)
    moved = transpose(big, queue=device.queue)
    assert moved.dtype == big.dtype
    assert np.array_equal(moved, big.T)
    out = np.zeros((4, 3), ">f4")
    assert transpose(big, out, queue=device.queue) is out
    assert np.array_equal(out, big.T)
    with pytest.raises(InvalidInput, match=r"out is float32.*>f4"):
        transpose(big, np.zeros((4, 3), "<f4"), queue=device.queue)


@pytest.mark.parametrize("dtype", [None, "float16", "bfloat16", "float32", "float64", "complex64"])
def test_both_kinds_of_8_bit_floats_are_read_as_what_holds_them(dtype: str | None, device: Device) -> None:
    left = np.full((3, 4), 1.75, ml_dtypes.float8_e4m3fn)
    right = np.full((4, 5), 1.25, ml_dtypes.float8_e5m2)
    result = matmul(left, right, dtype=dtype, queue=device.queue)
    assert result.dtype.name == (dtype or "float32")
    assert (result.astype(complex) == 8.75).all()
    with pytest.raises(InvalidInput, match=r"a is float8_e4m3fn.*int32"):
        matmul(left, right, dtype="int32", queue=device.queue)


def test_complex_and_real_factors_that_are_equal_are_told_apart(device: Device) -> None:
    """Epilogues are kept by their numbers, and 2 == 2+0j."""
    halves, complex_ = FLOATS.astype(np.float64), FLOATS.astype(np.complex64)
    for alpha in (2 + 0j, 2, 2.0):
        assert (gemm(complex_, complex_, alpha=alpha, queue=device.queue) == 6).all()
    for alpha in (2, 2.0):
        assert (gemm(halves, halves, alpha=alpha, queue=device.queue) == 6).all()
        assert (gemm(INTEGERS, INTEGERS, alpha=alpha, queue=device.queue) == 6).all()
