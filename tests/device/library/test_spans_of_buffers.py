"""PyOpenCL arrays whose buffer does not have all of their elements: kernels would touch what lies beside it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
from pyopencl.array import Array, to_device

from tilewright import copy, gemm, matmul, prepare, transpose
from tilewright.errors import InvalidInput
from tilewright.runtime.opencl.device import Device

RNG = np.random.default_rng(3)


@pytest.fixture
def queue(device: Device) -> Any:
    return cl.CommandQueue(device.context, device.device)


def sent(queue: Any, *shape: int) -> Array:
    return to_device(queue, RNG.standard_normal(shape).astype(np.float32))


def short(queue: Any, shape: tuple[int, ...], lacking: int = 4, **given: Any) -> Array:
    """An array of a buffer that lacks some bytes."""
    buffer = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, int(np.prod(shape)) * 4 - lacking)
    return Array(queue, shape, np.float32, data=buffer, **given)


def refused(call: Callable[[], Any]) -> None:
    with pytest.raises(InvalidInput, match=r"an array .* spans the bytes .* of a buffer of"):
        call()


def test_results_and_operands(queue: Any) -> None:
    a, b = sent(queue, 40, 30), sent(queue, 30, 50)
    for _ in range(2):
        refused(lambda: matmul(a, b, short(queue, (40, 50))))
        refused(lambda: matmul(short(queue, (40, 30)), b))
        refused(lambda: gemm(a, short(queue, (30, 50))))
        refused(lambda: gemm(a, b, short(queue, (40, 50)), beta=1))
        refused(lambda: gemm(a, b, bias=short(queue, (50,))))
        refused(lambda: transpose(short(queue, (40, 30))))
        refused(lambda: copy(short(queue, (40, 30))))
        matmul(a, b)  # ready calls, the next time


@pytest.mark.parametrize(
    "given", [{"strides": (40 * 4, 4)}, {"strides": (4, 50 * 4)}, {"offset": 4}, {"strides": (-30 * 4, 4)}], ids=str
)
def test_strides_and_offsets(given: dict[str, Any], queue: Any) -> None:
    b = sent(queue, 30, 50)
    refused(lambda: matmul(short(queue, (40, 30), 0, **given), b))


def test_a_call_like_an_earlier_one(queue: Any) -> None:
    """Ready calls compare shapes and strides, and buffers are no part of them."""
    a, b = sent(queue, 16, 16), sent(queue, 16, 16)
    product = prepare(a, b)
    for _ in range(3):
        wanted = a.get() @ b.get()
        assert np.allclose(matmul(a, b).get(), wanted, 1e-4, 1e-4)
        assert np.allclose(product(a, b).get(), wanted, 1e-4, 1e-4)
        for call in (matmul, product):
            refused(lambda call=call: call(a, short(queue, (16, 16))))  # type: ignore[misc]
            refused(lambda call=call: call(short(queue, (16, 16)), b))  # type: ignore[misc]
            refused(lambda call=call: call(a, b, short(queue, (16, 16))))  # type: ignore[misc]


def test_c_in_a_call_like_an_earlier_one(queue: Any) -> None:
    a, b, c = sent(queue, 16, 16), sent(queue, 16, 16), sent(queue, 16, 16)
    product = prepare(a, b, c=c, beta=1)
    for out in (None, sent(queue, 16, 16)):
        for _ in range(2):
            wanted = a.get() @ b.get() + c.get()
            assert np.allclose(gemm(a, b, c, beta=1, out=out).get(), wanted, 1e-4, 1e-4)
            assert np.allclose(product(a, b, out, c=c).get(), wanted, 1e-4, 1e-4)
            refused(lambda out=out: gemm(a, b, short(queue, (16, 16)), beta=1, out=out))  # type: ignore[misc]
            refused(lambda out=out: product(a, b, out, c=short(queue, (16, 16))))  # type: ignore[misc]


def test_views_of_a_buffer_are_whole(queue: Any) -> None:
    whole = sent(queue, 60, 60)
    a, b = whole[10:50, 5:35], whole[::2, ::-1][:30]
    wanted = (
        a.get() @ b.get()
        if a.flags.forc
        else np.ascontiguousarray(whole.get()[10:50, 5:35]) @ whole.get()[::2, ::-1][:30]
    )
    assert np.allclose(matmul(a, b).get(), wanted, 1e-3, 1e-3)
