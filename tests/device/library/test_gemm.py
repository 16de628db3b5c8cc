"""`gemm`: alpha and beta, transposes, bias and activations, on views and stacks, against float64."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pyopencl.array as cl_array
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tilewright import gemm
from tilewright.errors import InvalidInput, UnknownName, Unsupported, UnsupportedType
from tilewright.runtime.opencl.device import Device

RNG = np.random.default_rng(11)
ACTIVATIONS: dict[str | None, Callable[[np.ndarray], np.ndarray]] = {
    None: lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "gelu": lambda x: 0.5 * x * (1 + np.vectorize(math.erf, otypes=[float])(x / math.sqrt(2))),
    "gelu_tanh": lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
}


def random(shape: tuple[int, ...], dtype: str = "float32") -> np.ndarray:
    values = RNG.standard_normal(shape)
    return (values + 1j * RNG.standard_normal(shape) if dtype.startswith("complex") else values).astype(dtype)


def op(a: np.ndarray, how: str) -> np.ndarray:
    turned = np.swapaxes(a, -1, -2)
    return {"N": a, "T": turned, "C": turned.conj()}[how]


def check(result: np.ndarray, expected: np.ndarray, size: np.ndarray, k: int) -> None:
    """Within (4 k + 16) eps of the sizes that were added: activations bend, but do not stretch by more than 1.13."""
    epsilon = np.finfo(result.dtype).eps
    assert result.shape == expected.shape
    worst = np.max(
        np.abs(result - expected) / ((4 * k + 16) * epsilon * size + 32 * epsilon * np.abs(expected) + 1e-300)
    )
    assert worst <= 1.0, f"error {worst:.3g} times its bound"


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("trans_b", ["N", "T", "C"])
@pytest.mark.parametrize("trans_a", ["N", "T", "C"])
def test_transposes(trans_a: str, trans_b: str, dtype: str, device: Device) -> None:
    for m, n, k in ((1, 1, 1), (37, 29, 41), (64, 80, 300)):
        a = random((m, k) if trans_a == "N" else (k, m), dtype)
        b = random((k, n) if trans_b == "N" else (n, k), dtype)
        c = random((m, n), dtype)
        alpha, beta = (1.5 - 0.5j, 0.25 + 2j) if dtype.startswith("complex") else (1.5, -0.75)
        before = c.copy()
        result = gemm(a, b, c, alpha=alpha, beta=beta, trans_a=trans_a, trans_b=trans_b, queue=device.queue)  # type: ignore[call-overload]
        left, right = op(a, trans_a).astype(np.complex128), op(b, trans_b).astype(np.complex128)
        expected = alpha * (left @ right) + beta * c
        check(result, expected, abs(alpha) * (np.abs(left) @ np.abs(right)) + np.abs(beta * c), k)
        assert np.array_equal(c, before)


@pytest.mark.parametrize("activation", ACTIVATIONS, ids=str)
@pytest.mark.parametrize("bias", ["none", "row", "column"])
def test_epilogue(bias: str, activation: str | None, device: Device) -> None:
    for m, n, k in ((5, 7, 3), (45, 61, 33), (50, 70, 700)):
        a, b, c = random((m, k)), random((k, n)), random((m, n))
        vector = {"none": None, "row": random((n,)), "column": random((m, 1))}[bias]
        for out in (None, np.full((m, n), np.nan, np.float32, order="F")):
            result = gemm(a, b, c, beta=0.5, bias=vector, activation=activation, out=out, queue=device.queue)
            total = a.astype(np.float64) @ b + 0.5 * c + (0 if vector is None else vector)
            size = np.abs(a).astype(np.float64) @ np.abs(b) + np.abs(c) + (0 if vector is None else np.abs(vector))
            check(result, ACTIVATIONS[activation](total), size, k)


def test_a_bias_with_gaps_or_in_the_middle_of_a_buffer(device: Device) -> None:
    a, b, long = random((9, 5)), random((5, 7)), random((40,))
    for bias in (long[::2][:7], long[::-3][:7], long[20:27]):
        assert np.allclose(gemm(a, b, bias=bias, queue=device.queue), a @ b + bias, atol=1e-5)
    there = [cl_array.to_device(device.queue, each) for each in (a, b, long)]
    for piece in (slice(20, 27), slice(0, 14, 2)):
        assert np.allclose(gemm(*there[:2], bias=there[2][piece]).get(), a @ b + long[piece], atol=1e-5)


def test_beta_zero_never_reads_c(device: Device) -> None:
    for k in (0, 1, 40, 600):
        a, b = random((33, k)), random((k, 47))
        poisoned = np.full((33, 47), np.nan, np.float32)
        result = gemm(a, b, poisoned, beta=0, out=poisoned, bias=np.zeros(47, np.float32), queue=device.queue)
        check(result, a.astype(np.float64) @ b, np.abs(a).astype(np.float64) @ np.abs(b), k)


@pytest.mark.parametrize("dtype", ["float32", "complex128", "int8"])
@pytest.mark.parametrize("n", [1, 47])
def test_alpha_zero_never_reads_a_and_b(n: int, dtype: str, device: Device) -> None:
    poison = 127 if dtype == "int8" else np.nan
    a, b = np.full((33, 600), poison, dtype), np.full((600, n), poison, dtype)
    c = random((33, n), "int32" if dtype == "int8" else dtype)
    result = gemm(a, b, c, alpha=0, beta=2, queue=device.queue)
    assert np.array_equal(result, 2 * c)
    assert not gemm(a, b, alpha=0, queue=device.queue).any()


def test_k_zero_gives_beta_c(device: Device) -> None:
    c = random((9, 8))
    a, b = np.empty((9, 0), np.float32), np.empty((0, 8), np.float32)
    assert np.array_equal(gemm(a, b, c, beta=2, queue=device.queue), 2 * c)
    assert not gemm(a, b, queue=device.queue).any()


def test_nan_passes_through_every_activation(device: Device) -> None:
    a = random((8, 8))
    a[2, 3] = np.nan
    for activation in ACTIVATIONS:
        result = gemm(a, np.eye(8, dtype=np.float32), activation=activation, queue=device.queue)
        assert np.isnan(result[2]).all(), activation
        assert np.isfinite(np.delete(result, 2, axis=0)).all(), activation


def test_out_may_be_c(device: Device) -> None:
    a, b, c = random((40, 30)), random((30, 50)), random((40, 50))
    expected = 2 * (a.astype(np.float64) @ b) + 3 * c.astype(np.float64)
    assert gemm(a, b, c, alpha=2, beta=3, out=c, queue=device.queue) is c
    assert np.allclose(c, expected, atol=1e-4)


def test_stacks_and_device_arrays(device: Device) -> None:
    a, b, c = random((3, 20, 30)), random((30, 25)), random((3, 20, 25))
    expected = a.astype(np.float64) @ b + c
    assert np.allclose(gemm(a, b, c, beta=1, queue=device.queue), expected, atol=1e-4)
    arrays = [cl_array.to_device(device.queue, each) for each in (a, b, c)]
    assert np.allclose(gemm(*arrays, beta=1).get(), expected, atol=1e-4)


def test_half_storage_with_an_epilogue(device: Device) -> None:
    a, b, c = (random(shape, "float16") for shape in ((40, 600), (600, 50), (40, 50)))
    result = gemm(a, b, c, beta=1, bias=np.ones(50, np.float16), activation="relu", queue=device.queue)
    expected = np.maximum(a.astype(np.float64) @ b.astype(np.float64) + c + 1, 0)
    assert result.dtype == np.float16
    assert np.abs(result - expected).max() <= 2.0**-10 * np.abs(expected).max()


def test_refusals_are_sentences(device: Device) -> None:
    a = random((4, 4))
    with pytest.raises(InvalidInput, match="beta=2"):
        gemm(a, a, beta=2, queue=device.queue)
    with pytest.raises(UnknownName, match=r"\brelu\b"):
        gemm(a, a, activation="rellu", queue=device.queue)
    with pytest.raises(InvalidInput, match="trans_a='X'"):
        gemm(a, a, trans_a="X", queue=device.queue)  # type: ignore[call-overload]
    with pytest.raises(InvalidInput, match=r"bias.*\(3,\)"):
        gemm(a, a, bias=np.ones(3, np.float32), queue=device.queue)
    with pytest.raises(UnknownName, match="fp4"):
        gemm(a, a, precision="fp4", queue=device.queue)
    wrong: Any
    for wrong in (["relu"], 3, np.array("relu")):
        with pytest.raises(UnknownName, match="no activation is called"):
            gemm(a, a, activation=wrong, queue=device.queue)
        with pytest.raises(UnknownName, match="no precision is called"):
            gemm(a, a, precision=wrong, queue=device.queue)
    with pytest.raises(Unsupported, match="complex64"):
        gemm(a.astype(np.complex64), a.astype(np.complex64), activation="relu", queue=device.queue)


@pytest.mark.parametrize("limits", [{}, {"max_device_bytes": "1MB"}], ids=["whole", "in tiles"])
@pytest.mark.parametrize("dtype", ["U1", "O", "M8[s]", "V4", [("re", "f4"), ("im", "f4")]], ids=str)
@pytest.mark.parametrize("name", ["c", "bias"])
def test_what_is_added_has_numbers_whatever_casts_are_allowed(
    name: str, dtype: Any, limits: Any, device: Device
) -> None:
    """NumPy reads numbers from text and objects one by one, until one is none: `out` was half written then."""
    a, out = random((4, 4)), np.full((4, 4), 7, np.float32)
    where: Any = limits or {"queue": device.queue}
    wrong: Any = np.zeros((4, 4) if name == "c" else 4, dtype)
    with pytest.raises(UnsupportedType, match=f"^{name} has elements of .*, which are no numbers"):
        gemm(a, a, **{name: wrong}, beta=int(name == "c"), casting="unsafe", out=out, **where)
    assert (out == 7).all()


def test_long_doubles_are_numbers(device: Device) -> None:
    a = random((4, 4))
    expected = gemm(a, a, a, alpha=0.5, beta=2, queue=device.queue)
    found = gemm(a, a, a, alpha=np.longdouble(0.5), beta=np.array(2, np.longdouble), queue=device.queue)
    assert np.array_equal(found, expected)
    z = a.astype(np.complex64)
    assert np.array_equal(
        gemm(z, z, alpha=np.clongdouble(2j), queue=device.queue), gemm(z, z, alpha=2j, queue=device.queue)
    )


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    m=st.integers(1, 90), n=st.integers(1, 90), k=st.integers(0, 600), alpha=st.sampled_from((1, 0, -2.5)),
    beta=st.sampled_from((0, 1, 0.5)), trans=st.tuples(st.sampled_from("NT"), st.sampled_from("NT")),
)  # fmt: skip
def test_property(m: int, n: int, k: int, alpha: float, beta: float, trans: tuple[str, str], device: Device) -> None:
    a, b = random((m, k) if trans[0] == "N" else (k, m)), random((k, n) if trans[1] == "N" else (n, k))
    c = random((m, n))
    result = gemm(a, b, c, alpha=alpha, beta=beta, trans_a=trans[0], trans_b=trans[1], queue=device.queue)  # type: ignore[call-overload]
    left, right = op(a, trans[0]).astype(np.float64), op(b, trans[1]).astype(np.float64)
    size = abs(alpha) * (np.abs(left) @ np.abs(right)) + np.abs(beta * c)
    check(result, alpha * (left @ right) + beta * c, size, k)
